#include "stats.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Walks both samples in ascending order, one distinct value (or bucket) at a time. */
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

static struct stats_effect effect_of(const struct effect_walk *w)
{
    double pairs = (double)w->n_a * (double)w->n_b;
    return (struct stats_effect){w->ks_d, (double)w->b_less2 / 2 / pairs};
}

void stats_effect(const double *a, size_t n_a, const double *b, size_t n_b,
                  struct stats_effect *out)
{
    struct effect_walk w = {.n_a = n_a, .n_b = n_b};
    for (size_t i = 0, j = 0; i < n_a || j < n_b;) {
        double v = j >= n_b || (i < n_a && a[i] <= b[j]) ? a[i] : b[j];
        size_t i0 = i, j0 = j;
        while (i < n_a && a[i] == v)
            i++;
        while (j < n_b && b[j] == v)
            j++;
        effect_step(&w, i - i0, j - j0);
    }
    *out = effect_of(&w);
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
    *out = effect_of(&w);
}

bool stats_center(const double *values, size_t n, struct stats_center *out, struct err *e)
{
    double *sorted = malloc(n * sizeof *sorted);
    if (sorted == NULL)
        return err_set(e, "out of memory");
    memcpy(sorted, values, n * sizeof *sorted);
    gsl_sort(sorted, 1, n);
    double c = gsl_stats_median_from_sorted_data(sorted, 1, n);
    uint64_t l, u;
    stats_binomial_ranks(n, .5, .95, &l, &u);
    *out = (struct stats_center){c, INFINITY};
    if (l >= 1 && u <= n && c > 0)
        out->spread_frac = fmax(sorted[u - 1] / c - 1, 1 - sorted[l - 1] / c);
    free(sorted);
    return true;
}

double stats_geomean(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(values[i] > 0))
            return NAN;
        sum += log(values[i]);
    }
    return n > 0 ? exp(sum / (double)n) : NAN;
}
