#include "analyze/stats/stats.h"

#include "libcommon/hist.h"

#include <math.h>

void stats_residual_find(const uint64_t *count, const uint64_t *excess, size_t n_buckets,
                         struct stats_ratio p, struct stats_residual *out)
{
    *out = (struct stats_residual){.bucket = SIZE_MAX, .p = p};
    uint64_t n = 0, n_below = 0;
    for (size_t i = 0; i < n_buckets; i++) {
        n += count[i];
        out->all += (__int128)count[i] * hist_lower(i) + excess[i];
    }
    if (out->all == 0)
        return;
    /* Find the last bucket at whose lower end the sum of min(d, x) has not passed the target. If
     * the answer is below all durations, take bucket 0, even if it is empty. */
    const __int128 target = out->all * (__int128)p.num;
    __int128 below = 0;
    out->bucket = 0;
    out->n_above = n;
    for (size_t i = 0; i < n_buckets; i++) {
        if (count[i] == 0)
            continue;
        /* Between two buckets with durations the sum is linear in x, so the formula of the lower
         * bucket stays valid up to the lower end of the next. */
        __int128 sum = below + (__int128)(n - n_below) * hist_lower(i);
        if (sum * (__int128)p.den > target)
            break;
        out->bucket = i;
        out->below = below;
        out->n_above = n - n_below - count[i];
        below += (__int128)count[i] * hist_lower(i) + excess[i];
        n_below += count[i];
    }
}

double stats_residual_solve(const struct stats_residual *r, const int64_t *v, size_t n)
{
    if (r->bucket == SIZE_MAX)
        return NAN;
    /* Everything is scaled by p.den, so that nothing is rounded before the last division. */
    const __int128 target = r->all * (__int128)r->p.num;
    __int128 at_left = 0;
    uint64_t longer_at_left = 0;
    int64_t left = hist_lower(r->bucket); /* sum min(d, left) <= target */
    int64_t right = hist_upper(r->bucket);
    right += right < INT64_MAX;
    for (bool first = true; first || right - left > 1; first = false) {
        int64_t x = first ? left : left + (right - left) / 2;
        __int128 sum = r->below + (__int128)r->n_above * x;
        uint64_t longer = r->n_above;

        for (size_t i = 0; i < n; i++) {
            sum += v[i] < x ? v[i] : x;
            longer += v[i] > x;
        }
        if (first || sum * (__int128)r->p.den <= target) {
            left = x;
            at_left = sum;
            longer_at_left = longer;
        } else {
            right = x;
        }
    }
    double rest = (double)(target - at_left * (__int128)r->p.den) / (double)r->p.den;
    return (double)left + (longer_at_left > 0 ? rest / (double)longer_at_left : 0);
}

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
