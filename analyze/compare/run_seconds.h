/* Runs reduced to what an aggregated capture tells, so that one can be compared with another, or
 * with a capture: whole clock seconds without the first two and the last two, failed requests
 * included, each request's bytes and objects spread evenly over its time. There are no quantiles.
 */
#ifndef S3_ANALYZE_COMPARE_RUN_SECONDS_H
#define S3_ANALYZE_COMPARE_RUN_SECONDS_H

#include "analyze/compare/run.h"

/* Reads an aggregated capture, of which only filter->ops may be asked for. r->path is there
 * already; run_free frees what is filled, on failure too. */
bool run_seconds_aggregate(struct run *r, const struct load_filter *filter, struct err *e);

/* The same figures from the requests of a dataset. */
bool run_seconds_capture(struct run *r, const struct dataset *d, struct err *e);

#endif
