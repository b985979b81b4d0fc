#include "stats.h"

#include "hist.h"

#include <math.h>
#include <stdlib.h>

double stats_residual_frac(const int64_t *d, size_t n, int64_t x)
{
    __int128 part = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        part += d[i] < x ? d[i] : x;
        all += d[i];
    }
    return all > 0 ? (double)part / (double)all : NAN;
}

/* Count and sum of the durations of one histogram bucket. */
struct residual_bucket {
    uint64_t n;
    __int128 sum;
};

/* Solves n_above * x = p * all - below within v[0..n-1], the durations of the bucket [lo, hi],
 * where n_above of all durations are longer than the bucket and `below` is the sum of the shorter
 * ones. */
static double residual_in_bucket(const int64_t *v, size_t n, int64_t lo, int64_t hi,
                                 uint64_t n_above, __int128 below, __int128 all,
                                 struct stats_ratio p)
{
    /* Everything is scaled by p.den, so that nothing is rounded before the last division. */
    const __int128 target = all * (__int128)p.num;
    __int128 at_lo = 0;
    uint64_t longer_at_lo = 0;
    int64_t left = lo, right = hi + 1; /* sum min(d, left) <= target */
    for (bool first = true; first || right - left > 1; first = false) {
        int64_t x = first ? left : left + (right - left) / 2;
        __int128 sum = below + (__int128)n_above * x;
        uint64_t longer = n_above;
        for (size_t i = 0; i < n; i++) {
            sum += v[i] < x ? v[i] : x;
            longer += v[i] > x;
        }
        if (first || sum * (__int128)p.den <= target) {
            left = x;
            at_lo = sum;
            longer_at_lo = longer;
        } else {
            right = x;
        }
    }
    double rest = (double)(target - at_lo * (__int128)p.den) / (double)p.den;
    return (double)left + (longer_at_lo > 0 ? rest / (double)longer_at_lo : 0);
}

bool stats_residual_life(const int64_t *d, size_t n, struct stats_ratio p, double *out,
                         struct err *e)
{
    *out = NAN;
    struct residual_bucket *bucket = calloc(HIST_N_INDEXES, sizeof *bucket);
    if (bucket == NULL)
        return err_set(e, "out of memory");
    __int128 all = 0;
    for (size_t i = 0; i < n; i++) {
        struct residual_bucket *b = &bucket[hist_index(d[i])];
        b->n++;
        b->sum += d[i];
        all += d[i];
    }
    if (all == 0) {
        free(bucket);
        return true;
    }
    /* The last bucket at whose lower end the sum of min(d, x) has not passed the target. */
    const __int128 target = all * (__int128)p.num;
    uint64_t n_below = 0, best_n_below = 0;
    __int128 below = 0, best_below = 0;
    size_t best = 0;
    for (size_t i = 0; i < HIST_N_INDEXES; i++) {
        if (bucket[i].n == 0)
            continue;
        /* Between two buckets with durations the sum grows in a straight line, and the formula of
         * the bucket before holds on: it is left only where the next one's lower end is reached. */
        __int128 sum = below + (__int128)(n - n_below) * hist_lower(i);
        if (sum * (__int128)p.den > target)
            break;
        best = i;
        best_below = below;
        best_n_below = n_below;
        below += bucket[i].sum;
        n_below += bucket[i].n;
    }
    size_t n_in = bucket[best].n, n_kept = 0;
    free(bucket);
    int64_t *kept = malloc((n_in > 0 ? n_in : 1) * sizeof *kept);
    if (kept == NULL)
        return err_set(e, "out of memory");
    for (size_t i = 0; i < n; i++)
        if (hist_index(d[i]) == best)
            kept[n_kept++] = d[i];
    *out = residual_in_bucket(kept, n_kept, hist_lower(best), hist_upper(best),
                              n - best_n_below - n_in, best_below, all, p);
    free(kept);
    return true;
}

/* Number of values a latency stands for. */
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

int64_t stats_co_quantile(const int64_t *v, size_t n, int64_t interval, struct stats_ratio p)
{
    unsigned __int128 all = co_count_to(v, n, interval, INT64_MAX);
    unsigned __int128 rank = (all * p.num + p.den - 1) / p.den;
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
