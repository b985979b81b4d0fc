#ifndef S3_ANALYZE_REPORT_AGGREGATE_SERIES_H
#define S3_ANALYZE_REPORT_AGGREGATE_SERIES_H

#include "analyze/analysis/aggregate.h"
#include "analyze/report/series.h"

#include <stdio.h>

/* Writes the series by second of each operation, host and client, in the format of the requests'
 * series and with its names of columns where the figure is the same; `safe` as struct csv_out_style
 * has it. False: out of memory. */
bool aggregate_series(const struct aggregate *a, enum report_csv_format format, bool safe, FILE *f,
                      struct err *e);

#endif
