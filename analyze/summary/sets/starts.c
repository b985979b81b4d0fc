#include "analyze/summary/sets/starts.h"

void segment_starts_merge(struct segment_starts *s, const struct segment_starts *other)
{
    if (other->last_ns == INT64_MIN)
        return;
    segment_starts_add(s, other->first_ns);
    if (other->second_ns != INT64_MAX)
        segment_starts_add(s, other->second_ns);
    segment_starts_add(s, other->last_ns);
}

struct segment_range segment_range_single(const struct segment_starts *s, int64_t latest_end_ns)
{
    if (s->last_ns == INT64_MIN)
        return (struct segment_range){INT64_MAX, INT64_MIN};
    return (struct segment_range){
        .start_ns = s->second_ns != INT64_MAX ? s->second_ns : s->last_ns,
        .end_ns = latest_end_ns != INT64_MIN ? latest_end_ns : s->first_ns,
    };
}
