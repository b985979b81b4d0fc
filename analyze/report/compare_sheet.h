/* A comparison as a sheet, in parts, so that a page can put its charts between them. Each function
 * appends to *s. */
#ifndef S3_ANALYZE_REPORT_COMPARE_SHEET_H
#define S3_ANALYZE_REPORT_COMPARE_SHEET_H

#include "analyze/compare/compare.h"
#include "analyze/write/sheet.h"

/* Problems of the runs. */
void compare_sheet_faults(struct sheet *s, const struct compare *c);
/* What was compared, and what limits the comparison: runs, settings, warnings, notices. */
void compare_sheet_runs(struct sheet *s, const struct compare *c);
/* Operation k: settings, metrics with verdicts, figures. */
void compare_sheet_op(struct sheet *s, const struct compare *c, size_t k);
/* Means over the operations. */
void compare_sheet_means(struct sheet *s, const struct compare *c);
/* How to read the columns. */
void compare_sheet_notes(struct sheet *s, const struct compare *c);
/* What the gate says; nothing without one. */
void compare_sheet_gate(struct sheet *s, const struct compare *c);

#endif
