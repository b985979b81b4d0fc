#include "libcommon/segment.h"
#include "libcommon/units.h"

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

int64_t segment_choose_ns(int64_t full_ns)
{
    static const int16_t lengths_s[] = {1, 5, 15, 60, 5 * 60, 15 * 60, 60 * 60, 3 * 60 * 60};
    const size_t n = sizeof lengths_s / sizeof lengths_s[0];
    size_t i = 0;

    while (i + 1 < n && full_ns / (lengths_s[i] * NS_PER_S) > 400)
        i++;
    return lengths_s[i] * NS_PER_S;
}

int64_t segment_count(const struct segment_range *range, int64_t length_ns)
{
    /* The first start that has no whole segment after it. */
    int64_t limit_ns =
        range->end_ns < INT64_MIN + length_ns ? INT64_MIN : range->end_ns - length_ns;
    if (limit_ns <= range->start_ns)
        return 0;
    return (limit_ns - range->start_ns - 1) / length_ns + 1;
}

void segment_grid_init(struct segment_grid *g, int64_t start_ns, int64_t length_ns, size_t n)
{
    *g = (struct segment_grid){
        .start_ns = start_ns,
        .end_ns = start_ns + (int64_t)n * length_ns,
        .length_ns = length_ns,
        .n = n,
        .per_ns = 1.0 / (double)length_ns,
    };
}
