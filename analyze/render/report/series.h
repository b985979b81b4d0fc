/* The time series of an analysis as a table, one row a segment (docs/how-the-numbers-are-made.md,
 * section 3).
 */
#ifndef S3_ANALYZE_RENDER_REPORT_SERIES_H
#define S3_ANALYZE_RENDER_REPORT_SERIES_H

#include "analyze/summary/model/model.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

enum report_csv_format { REPORT_CSV_TABS, REPORT_CSV_COMMAS, REPORT_CSV_JSON_LINES };

/* Returns the format by the extension of the name: .csv has commas, .json and .jsonl JSON lines,
 * all else tabs. */
enum report_csv_format report_csv_format(const char *path);

/* Writes the series of every operation: all hosts together, then, if there are several, host by
 * host. `with_total` adds those of the cluster total of a mixed capture, with an empty op. Columns
 * `in_range` and `t_s` (seconds since the run's first start) come with options.full_series. `safe`
 * is as in struct csv_out_style. Rows of which nothing is known are left out. An aggregated capture
 * has the series of hosts and clients only for all operations together, and a column client_id.
 * False: *e says why; write errors stay in `f` for whoever closes it. */
bool report_csv(const struct analysis *a, enum report_csv_format format, bool with_total, bool safe,
                FILE *f, struct err *e);

/* False: report_csv would write more than 10,000,000 rows, or their number is not known; *e says
 * so. */
bool report_csv_fits(const struct analysis *a, bool with_total, struct err *e);

#endif
