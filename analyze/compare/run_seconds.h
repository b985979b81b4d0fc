/* Runs reduced to seconds, so that what has no requests can be compared with others of its kind, or
 * with a capture: whole clock seconds without the first two and the last two, each request's bytes
 * and objects spread evenly over its time. Aggregated captures have those of failed requests among
 * them, and no quantiles. Captures are reduced to sums, which have quantiles without intervals. */
#ifndef S3_ANALYZE_COMPARE_RUN_SECONDS_H
#define S3_ANALYZE_COMPARE_RUN_SECONDS_H

#include "analyze/compare/run.h"

/* Reads an aggregated capture, of which only filter->ops may be asked for. r->path is there
 * already; run_free frees what is filled, on failure too. */
bool run_seconds_aggregate(struct run *r, const struct load_filter *filter, struct err *e);

/* The same of a file of sums. */
bool run_seconds_sums(struct run *r, const struct load_filter *filter, struct err *e);

/* The same figures as from sums from the requests of a dataset, on up to `threads` threads. */
bool run_seconds_capture(struct run *r, const struct dataset *d, unsigned threads, struct err *e);

#endif
