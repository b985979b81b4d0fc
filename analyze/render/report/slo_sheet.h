/* The answers to assertions, which come first in text, Markdown and pages. */
#ifndef S3_ANALYZE_RENDER_REPORT_SLO_SHEET_H
#define S3_ANALYZE_RENDER_REPORT_SLO_SHEET_H

#include "analyze/tools/slo/slo.h"
#include "analyze/write/sheet.h"

/* Adds a sentence that sums up all answers, and a table of them. NULL: nothing. */
void slo_sheet(struct sheet *s, const struct slo_report *r);

#endif
