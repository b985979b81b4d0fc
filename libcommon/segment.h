/* Active ranges and the grid of segments cut from one (docs/how-the-numbers-are-made.md,
 * sections 2 and 3). Times are ns since the Unix epoch, intervals half-open. */
#ifndef S3_LIBCOMMON_SEGMENT_H
#define S3_LIBCOMMON_SEGMENT_H

#include "libcommon/int64.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Empty if start > end. */
struct segment_range {
    int64_t start_ns, end_ns;
};

/* Whether figures can be calculated over the range: it must be longer than 1 ns. */
static inline bool segment_range_usable(const struct segment_range *r)
{
    return r->end_ns > r->start_ns && r->end_ns - r->start_ns > 1;
}

/* A thread's contribution to the all-threads range. */
struct segment_thread {
    int64_t first_end_ns, last_start_ns;
};

#define SEGMENT_THREAD_NONE ((struct segment_thread){INT64_MAX, INT64_MIN})

static inline bool segment_thread_used(const struct segment_thread *t)
{
    return t->first_end_ns != INT64_MAX || t->last_start_ns != INT64_MIN;
}

static inline void segment_thread_add(struct segment_thread *t, int64_t start_ns, int64_t end_ns)
{
    t->first_end_ns = int64_min(t->first_end_ns, end_ns);
    t->last_start_ns = int64_max(t->last_start_ns, start_ns);
}

/* Returns the range from the latest first end to the earliest last start of all threads that ran a
 * request; empty if none did. */
struct segment_range segment_range_all(const struct segment_thread *threads, size_t n);

/* Returns how many whole segments of length_ns > 0 a range gives: segments begin at t = start,
 * start + length, ... while t < end - length. */
int64_t segment_count(const struct segment_range *range, int64_t length_ns);

#endif
