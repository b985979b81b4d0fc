/* A comparison as text for people, as Markdown (tables to paste into a pull request), and as
 * comma-separated values. Write errors stay in `f` for whoever closes it. */
#ifndef S3_ANALYZE_RENDER_REPORT_COMPARE_H
#define S3_ANALYZE_RENDER_REPORT_COMPARE_H

#include "analyze/tools/compare/compare.h"
#include "analyze/write/sheet.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

/* Writes text or Markdown; verbose text has all that the other formats have. False: out of
 * memory. */
bool compare_text(const struct compare *c, const struct sheet_form *form, FILE *f, struct err *e);

/* Writes figures of metrics; then those of the runs' own reports and means, which have no verdict;
 * last notes, as rows whose metric is "note". `safe` is as in struct csv_out_style. False: out of
 * memory. */
bool compare_csv(const struct compare *c, bool safe, FILE *f, struct err *e);

#endif
