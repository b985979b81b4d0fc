#ifndef S3_ANALYZE_AGGREGATED_AGGREGATE_INTERNAL_H
#define S3_ANALYZE_AGGREGATED_AGGREGATE_INTERNAL_H

#include "analyze/aggregated/aggregate.h"

/* Fills part->latency. False: out of memory. */
bool aggregate_latency(struct aggregate_part *part, struct err *e);

/* Fills a->warnings. False: out of memory. */
bool aggregate_warn(struct aggregate *a, struct err *e);

#endif
