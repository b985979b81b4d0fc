/* Figures in the formats of other tools (docs/other-tools.md). Each function writes to
 * a FILE, which keeps write errors for its owner. */
#ifndef S3_ANALYZE_TOOLS_EXPORT_EXPORT_H
#define S3_ANALYZE_TOOLS_EXPORT_EXPORT_H

#include "analyze/summary/model/model.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

/* Write the Go benchmark format, which benchstat reads: once what the units mean, then a line for
 * each operation of a run. */
void benchfmt_begin(FILE *f);
void benchfmt_write(const struct analysis *a, FILE *f);

/* Writes the name of an operation for formats with few characters: letters, digits, '_', '.' and
 * '-' stay; others become %XX, as in URLs, so that names stay different. */
void benchfmt_put_name(FILE *f, const char *op);

/* Writes OpenMetrics text, with the end of the run as its time; the last line is "# EOF". False:
 * out of memory. */
bool openmetrics_write(const struct analysis *a, FILE *f, struct err *e);

/* Writes a text without unsafe characters (libcommon/visible.h), with a backslash before each
 * character of `special`. False: out of memory. */
bool openmetrics_put_text(FILE *f, const char *text, const char *special, struct err *e);

/* Writes the line protocol of InfluxDB with the measurements and fields of warp: the
 * totals of each operation and host up to the end of each second, and their sums. Nothing may have
 * been dropped from the dataset; `id` identifies the run. False: out of memory, or a run of more
 * than ANALYSIS_MAX_SEGMENTS seconds. */
bool influx_write(const struct dataset *d, const char *id, FILE *f, struct err *e);

/* Writes a histogram log of HdrHistogram: durations of the requests in the active range, by
 * operation and segment, in ns. False: out of memory. */
bool hdr_write(const struct analysis *a, FILE *f, struct err *e);

#endif
