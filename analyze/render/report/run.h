/* The analysis of a run as text for people. Write errors stay in `f` for whoever closes it. */
#ifndef S3_ANALYZE_RENDER_REPORT_RUN_H
#define S3_ANALYZE_RENDER_REPORT_RUN_H

#include "analyze/summary/model/model.h"
#include "analyze/write/sheet.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

/* Writes the answers to assertions, then the analysis. Verbose text and Markdown have all hosts,
 * clients and errors, first and last accesses, and segments by host. False: out of memory. */
bool report_text(const struct analysis *a, const struct sheet_form *form, FILE *f, struct err *e);

#endif
