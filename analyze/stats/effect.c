#include "analyze/stats/stats.h"

#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Walks both histograms in ascending order, a bucket at a time. */
struct effect_walk {
    uint64_t n_a, n_b;         /* totals */
    uint64_t a, b;             /* values passed */
    unsigned __int128 b_less2; /* twice the pairs with b < a, ties counted once */
    double ks_d;
};

static void effect_step(struct effect_walk *w, uint64_t a, uint64_t b)
{
    w->b_less2 += (unsigned __int128)a * (2 * w->b + b);
    w->a += a;
    w->b += b;
    double d = fabs((double)w->a / (double)w->n_a - (double)w->b / (double)w->n_b);
    w->ks_d = fmax(w->ks_d, d);
}

void stats_effect_counts(const uint64_t *a, const uint64_t *b, size_t n_buckets,
                         struct stats_effect *out)
{
    struct effect_walk w = {0};
    for (size_t i = 0; i < n_buckets; i++) {
        w.n_a += a[i];
        w.n_b += b[i];
    }
    for (size_t i = 0; i < n_buckets; i++)
        if (a[i] > 0 || b[i] > 0)
            effect_step(&w, a[i], b[i]);
    double pairs = (double)w.n_a * (double)w.n_b;
    *out = (struct stats_effect){w.ks_d, (double)w.b_less2 / 2 / pairs};
}

bool stats_center(const double *values, size_t n, struct stats_center *out, struct err *e)
{
    double *sorted;
    if (!mem_new(&sorted, n, e))
        return false;
    memcpy(sorted, values, n * sizeof *sorted);
    double c = stats_sort_median(sorted, n);
    uint64_t l, u;
    stats_binomial_ranks(n, .5, .95, &l, &u);
    *out = (struct stats_center){c, INFINITY};
    if (l >= 1 && u <= n && c > 0)
        out->spread_frac = fmax(sorted[u - 1] / c - 1, 1 - sorted[l - 1] / c);
    free(sorted);
    return true;
}
