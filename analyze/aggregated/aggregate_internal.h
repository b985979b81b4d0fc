#ifndef S3_ANALYZE_AGGREGATED_AGGREGATE_INTERNAL_H
#define S3_ANALYZE_AGGREGATED_AGGREGATE_INTERNAL_H

#include "analyze/aggregated/aggregate.h"
#include "analyze/findings/course.h"

/* Fills part->latency. Returns false if out of memory. */
bool aggregate_latency(struct aggregate_part *part, struct err *e);

/* Finds the slowest, the median and the fastest of n seconds, by bytes if w->by_bytes, else by
 * objects. Returns false if out of memory. */
bool aggregate_pick(struct aggregate_window *w, const struct aggfile_second *v, size_t n,
                    struct err *e);

/* Replaces range, throughput and segments of an operation by those of its whole seconds, and fills
 * its statistics. Returns false if out of memory. */
bool aggregate_by_second(struct operation *op, const struct aggregate *a,
                         const struct aggregate_part *part, struct err *e);

/* Copies the seconds that all clients of a merged file have and that start in [from_ns, to_ns]; the
 * labels become their starts. Returns how many these are, at most a->n_sum. */
size_t aggregate_common(const struct aggregate *a, int64_t from_ns, int64_t to_ns,
                        struct aggfile_second *out);

/* Copies the seconds of a part in the same way. */
size_t aggregate_own(const struct aggregate_part *part, struct aggfile_second *out);

/* Fills the course of operations `first` to `end` - 1; a conclude_source whose argument is a struct
 * aggregate. */
bool aggregate_course(struct course *c, const void *aggregate, size_t first, size_t end,
                      struct err *e);

/* Fills a->warnings. Returns false if out of memory. */
bool aggregate_warn(struct aggregate *a, struct err *e);

#endif
