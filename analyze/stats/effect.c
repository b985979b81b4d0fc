#include "analyze/stats/stats.h"

#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void stats_effect_counts(const uint64_t *a, const uint64_t *b, size_t n_buckets,
                         struct stats_effect *out)
{
    uint64_t n_a = 0, n_b = 0, passed_a = 0, passed_b = 0;
    unsigned __int128 b_less2 = 0; /* twice the pairs with b < a, ties counted once */
    double ks_d = 0;

    for (size_t i = 0; i < n_buckets; i++) {
        n_a += a[i];
        n_b += b[i];
    }
    for (size_t i = 0; i < n_buckets; i++) {
        if (a[i] == 0 && b[i] == 0)
            continue;
        b_less2 += (unsigned __int128)a[i] * (2 * passed_b + b[i]);
        passed_a += a[i];
        passed_b += b[i];
        ks_d = fmax(ks_d, fabs((double)passed_a / (double)n_a - (double)passed_b / (double)n_b));
    }
    *out = (struct stats_effect){ks_d, (double)b_less2 / 2 / ((double)n_a * (double)n_b)};
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
