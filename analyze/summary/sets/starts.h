/* The active range of a set of requests if threads are not distinguished
 * (docs/how-the-numbers-are-made.md, section 2). */
#ifndef S3_ANALYZE_SUMMARY_SETS_STARTS_H
#define S3_ANALYZE_SUMMARY_SETS_STARTS_H

#include "libcommon/segment.h"

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

#endif
