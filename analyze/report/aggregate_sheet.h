/* What an aggregated capture tells as a sheet, in parts, so that a page can put its charts between
 * them. Each function appends to *s. */
#ifndef S3_ANALYZE_REPORT_AGGREGATE_SHEET_H
#define S3_ANALYZE_REPORT_AGGREGATE_SHEET_H

#include "analyze/aggregated/aggregate.h"
#include "analyze/report/run_sheet.h"
#include "analyze/write/sheet.h"

#include <stddef.h>

/* What was read, and how it was recorded. */
void aggregate_sheet_file(struct sheet *s, const struct aggregate *a);
/* Where the recorder's figures of an operation (NULL: of the file) were put right, or cannot be. */
void aggregate_sheet_warnings(struct sheet *s, const struct aggregate *a, const char *op);
/* A line for each operation, `main` (plot_aggregate_main) first, and one for all together. `page`
 * as in run_sheet_summary. */
void aggregate_sheet_summary(struct sheet *s, const struct aggregate *a, int main,
                             const struct run_sheet_page *page);
/* What the clients of a merged file reached together. */
void aggregate_sheet_common(struct sheet *s, const struct aggregate *a);
/* All that is known of operation k. */
void aggregate_sheet_operation(struct sheet *s, const struct aggregate *a, size_t k);

#endif
