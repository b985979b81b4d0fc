/* Many runs in a table, and their changes. Write errors stay in `f` for whoever closes it. */
#ifndef S3_ANALYZE_RENDER_REPORT_ARCHIVE_H
#define S3_ANALYZE_RENDER_REPORT_ARCHIVE_H

#include "analyze/render/report/figures.h"
#include "analyze/tools/archive/columns.h"
#include "analyze/tools/archive/trend.h"
#include "analyze/write/sheet.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

/* These get a struct columns_table. One line for each row, or its cells; in the sheet, files that
 * could not be read follow. */
void archive_sheet_table(struct sheet *s, const void *table);
bool archive_table_csv(const void *table, FILE *f, struct err *e);
void archive_sheet_unread(struct sheet *s, const struct archive *a);

/* ---- Trends ---- */

/* Returns "Since 14 March (run 41) GETs are 12 % slower (p = 0.001)." */
struct phrase trend_says(const struct trend_group *g, const struct trend_change *c);
/* Returns "60 runs of GET, 8 threads, 1MiB, 2026-01-01 to 2026-03-20". */
struct phrase trend_names(const struct trend_group *g);
/* Return the answer of --check-last, and that of a group. */
struct phrase trend_answers(const struct trend *t);
struct phrase trend_sums_up(const struct trend_group *g);

/* A group's changes: a sentence for each, and a table of the levels. */
void trend_sheet_changes(struct sheet *s, const struct trend_group *g);
/* A table of its runs. */
void trend_sheet_runs(struct sheet *s, const struct trend_group *g);

/* All groups of a struct trend, with their runs as a detail. */
void trend_sheet(struct sheet *s, const void *trend);

#endif
