#include "analyze/stats/stats.h"

#include "libcommon/hist.h"

#include <math.h>

/* Number of values that a latency counts as. */
static uint64_t co_values(int64_t v, int64_t interval)
{
    return v >= interval ? (uint64_t)(v / interval) : 1;
}

uint64_t stats_co_count(const int64_t *v, size_t n, int64_t interval)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        if (__builtin_add_overflow(sum, co_values(v[i], interval), &sum))
            return UINT64_MAX;
    return sum;
}

/* Number of values <= x after the correction. */
static unsigned __int128 co_count_to(const int64_t *v, size_t n, int64_t interval, int64_t x)
{
    unsigned __int128 sum = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t values = co_values(v[i], interval);
        uint64_t above = v[i] > x ? (uint64_t)((v[i] - x - 1) / interval) + 1 : 0;

        sum += above < values ? values - above : 0;
    }
    return sum;
}

int64_t stats_co_value(const int64_t *v, size_t n, int64_t interval, uint64_t rank)
{
    int64_t lo = 0, hi = v[0];

    for (size_t i = 1; i < n; i++)
        if (v[i] > hi)
            hi = v[i];
    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2;
        if (co_count_to(v, n, interval, middle) >= rank)
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}
