#ifndef S3_ANALYZE_AGGREGATED_AGGREGATE_INTERNAL_H
#define S3_ANALYZE_AGGREGATED_AGGREGATE_INTERNAL_H

#include "analyze/aggregated/aggregate.h"
#include "analyze/findings/course.h"

/* Fills part->latency. Returns false if out of memory. */
bool aggregate_latency(struct aggregate_part *part, struct err *e);

/* Fills the course of operations `first` to `end` - 1; a conclude_source whose argument is a struct
 * aggregate. */
bool aggregate_course(struct course *c, const void *aggregate, size_t first, size_t end,
                      struct err *e);

/* Fills a->warnings. Returns false if out of memory. */
bool aggregate_warn(struct aggregate *a, struct err *e);

#endif
