/* Runs of which nothing is known but their seconds, so that what has no requests can be compared.
 * Aggregated captures have the whole clock seconds without the first two and the last two, with
 * failed requests among them, and no quantiles. Sums have quantiles, without intervals. */
#ifndef S3_ANALYZE_COMPARE_RUN_SECONDS_H
#define S3_ANALYZE_COMPARE_RUN_SECONDS_H

#include "analyze/aggregated/aggregate.h"
#include "analyze/compare/run.h"

/* Fills *r, which is {0}, from an aggregated capture that was read already, but for its path,
 * findings and size. Only filter->ops is looked at. The caller calls run_free in any case. */
bool run_seconds_take(struct run *r, const struct aggregate *a, const struct load_filter *filter,
                      struct err *e);

/* Reads an aggregated capture, of which only filter->ops may be asked for. r->path is there
 * already; run_free frees what is filled, on failure too. */
bool run_seconds_aggregate(struct run *r, const struct load_filter *filter, struct err *e);

/* Fills the statistics and the values of an operation that has the report of operation k of `a`, an
 * analysis of sums: intervals are those of the seconds of the report's range. */
bool run_seconds_sums(struct run_op *op, const struct analysis *a, size_t k, struct err *e);

#endif
