/* A comparison as text for people, as Markdown, and as comma-separated values. */
#ifndef S3_ANALYZE_REPORT_COMPARE_TEXT_H
#define S3_ANALYZE_REPORT_COMPARE_TEXT_H

#include "analyze/compare/compare.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

/* False: out of memory. Write errors stay in `f` for whoever closes it. */
bool compare_text(const struct compare *c, bool colour, FILE *f, struct err *e);

#endif
