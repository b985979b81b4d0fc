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

/* What one thread adds to the all-threads range. */
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

/* From the last thread's first end to the first thread's last start, over the threads that ran a
 * request; empty without one. */
struct segment_range segment_range_all(const struct segment_thread *threads, size_t n);

/* The starts of a set of requests that segment_range_single needs. */
struct segment_starts {
    int64_t first_ns, second_ns; /* second: the earliest start after the first; INT64_MAX: none */
    int64_t last_ns;
};

#define SEGMENT_STARTS_NONE ((struct segment_starts){INT64_MAX, INT64_MAX, INT64_MIN})

static inline void segment_starts_add(struct segment_starts *s, int64_t start_ns)
{
    if (start_ns < s->second_ns) {
        if (start_ns < s->first_ns) {
            s->second_ns = s->first_ns;
            s->first_ns = start_ns;
        } else if (start_ns > s->first_ns) {
            s->second_ns = start_ns;
        }
    }
    s->last_ns = int64_max(s->last_ns, start_ns);
}

/* Adds the starts of another set. */
void segment_starts_merge(struct segment_starts *s, const struct segment_starts *other);

/* Returns the single range of a set of requests with these starts. `latest_end_ns` is the latest
 * end before s->last_ns; INT64_MIN: there is none. The range of an empty set is empty. */
struct segment_range segment_range_single(const struct segment_starts *s, int64_t latest_end_ns);

/* The segment length for a set of this full duration: the smallest of 1s ... 3h that gives at most
 * 400 segments, else 3h. */
int64_t segment_choose_ns(int64_t full_ns);

/* How many whole segments of length_ns > 0 a range gives: those from t = start while t < end -
 * length. */
int64_t segment_count(const struct segment_range *range, int64_t length_ns);

/* n segments of length_ns from start_ns on; end_ns = start_ns + n * length_ns. */
struct segment_grid {
    int64_t start_ns, end_ns;
    int64_t length_ns;
    size_t n;
    double per_ns; /* 1 / length_ns */
};

/* start_ns + n * length_ns must not pass INT64_MAX. */
void segment_grid_init(struct segment_grid *g, int64_t start_ns, int64_t length_ns, size_t n);

/* The segment that holds t, for start_ns <= t < end_ns. A product with the reciprocal instead of a
 * division is off by at most one, as a grid has fewer than 2^32 segments. */
static inline size_t segment_grid_index(const struct segment_grid *g, int64_t t_ns)
{
    int64_t offset_ns = t_ns - g->start_ns;
    int64_t k = (int64_t)((double)offset_ns * g->per_ns);
    int64_t rest_ns = offset_ns - k * g->length_ns;

    k += (rest_ns >= g->length_ns) - (rest_ns < 0);
    return (size_t)k;
}

#endif
