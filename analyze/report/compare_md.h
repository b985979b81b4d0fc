/* A comparison as Markdown: tables to paste into a pull request. */
#ifndef S3_ANALYZE_REPORT_COMPARE_MD_H
#define S3_ANALYZE_REPORT_COMPARE_MD_H

#include "analyze/compare/compare.h"

#include <stdio.h>

/* Write errors stay in `f` for whoever closes it. */
void compare_md(const struct compare *c, FILE *f);

#endif
