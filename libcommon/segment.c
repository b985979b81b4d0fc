#include "libcommon/segment.h"

struct segment_range segment_range_all(const struct segment_thread *threads, size_t n)
{
    struct segment_range r = {INT64_MIN, INT64_MAX};
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        if (!segment_thread_used(&threads[i]))
            continue;
        any = true;
        r.start_ns = int64_max(r.start_ns, threads[i].first_end_ns);
        r.end_ns = int64_min(r.end_ns, threads[i].last_start_ns);
    }
    return any ? r : (struct segment_range){INT64_MAX, INT64_MIN};
}

int64_t segment_count(const struct segment_range *range, int64_t length_ns)
{
    /* A segment that begins at this time or later is not whole. */
    int64_t limit_ns =
        range->end_ns < INT64_MIN + length_ns ? INT64_MIN : range->end_ns - length_ns;
    if (limit_ns <= range->start_ns)
        return 0;
    return (limit_ns - range->start_ns - 1) / length_ns + 1;
}
