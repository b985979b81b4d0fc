#ifndef S3_ANALYZE_AGGREGATED_AGGREGATE_INTERNAL_H
#define S3_ANALYZE_AGGREGATED_AGGREGATE_INTERNAL_H

#include "analyze/aggregated/aggregate.h"
#include "analyze/findings/course.h"

/* Fills part->latency. False: out of memory. */
bool aggregate_latency(struct aggregate_part *part, struct err *e);

/* Fills the course of some operations: a conclude_source of struct aggregate. */
bool aggregate_course(struct course *c, const void *aggregate, size_t first, size_t end,
                      struct err *e);

/* Fills a->warnings. False: out of memory. */
bool aggregate_warn(struct aggregate *a, struct err *e);

#endif
