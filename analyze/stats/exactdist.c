#include "analyze/stats/exactdist.h"

#include "analyze/base/csort.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>

int exactdist_compare_placed(const void *a, const void *b)
{
    double x = ((const struct exactdist_placed *)a)->v, y = ((const struct exactdist_placed *)b)->v;
    return (x > y) - (x < y);
}

#define FEW 16 /* sorted by insertion */

/* Fills s with the values in ascending order, by a bucket sort with n buckets of equal width:
 * nearly linear for thousands of hosts. `first` has n + 2 zeros. */
static void sort_values(struct exactdist_placed *s, size_t *first, const double *v, size_t n)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        least = fmin(least, v[i]);
        most = fmax(most, v[i]);
    }
    double per = most > least ? (double)(n - 1) / (most - least) : 0;
    if (!isnormal(per))
        least = per = 0;
    for (size_t i = 0; i < n; i++)
        csort_count(first, per > 0 ? (size_t)((v[i] - least) * per) : 0);
    csort_sum(first, n);
    for (size_t i = 0; i < n; i++)
        s[csort_place(first, per > 0 ? (size_t)((v[i] - least) * per) : 0)] =
            (struct exactdist_placed){v[i], i};
    for (size_t k = 0; k < n; k++)
        if (first[k + 1] - first[k] > FEW)
            qsort(s + first[k], first[k + 1] - first[k], sizeof *s, exactdist_compare_placed);
    for (size_t i = 1; i < n; i++) {
        struct exactdist_placed x = s[i];
        size_t k = i;

        for (; k > 0 && s[k - 1].v > x.v; k--)
            s[k] = s[k - 1];
        s[k] = x;
    }
}

bool exactdist_ranks(const double *v, size_t n, uint64_t *ranks2, double *ties, struct err *e)
{
    struct exactdist_placed *s = NULL;
    size_t *first = NULL;
    bool ok = mem_new(&s, n, e) && mem_cleared(&first, n + 2, e);

    if (ok)
        sort_values(s, first, v, n);
    *ties = 0;
    for (size_t i = 0, next; ok && i < n; i = next) {
        for (next = i + 1; next < n && s[next].v == s[i].v; next++)
            ;
        for (size_t j = i; j < next; j++)
            ranks2[s[j].place] = i + 1 + next; /* twice the mean of ranks i+1 .. next */
        double t = (double)(next - i);
        *ties += t * t * t - t;
    }
    free(s);
    free(first);
    return ok;
}

/* Returns f[0..max_sum], f[s] = the number of subsets of k of the n values that sum to s; NULL: out
 * of memory. Doubles: all terms are positive, so the relative error stays near 1e-14. */
static double *count_subsets(const uint64_t *values, size_t n, size_t k, size_t max_sum,
                             struct err *e)
{
    size_t width = max_sum + 1;
    double *f;

    if (!mem_cleared(&f, (k + 1) * width, e))
        return NULL;
    f[0] = 1;
    for (size_t i = 0; i < n; i++) {
        size_t value = (size_t)values[i];
        for (size_t size = i + 1 < k ? i + 1 : k; size > 0; size--) {
            const double *from = f + (size - 1) * width;
            double *to = f + size * width;

            for (size_t s = value; s <= max_sum; s++)
                to[s] += from[s - value];
        }
    }
    for (size_t s = 0; s <= max_sum; s++)
        f[s] = f[k * width + s];
    return f;
}

bool exactdist_mann_whitney(const uint64_t *ranks2, size_t n_a, size_t n_b, double *p_le,
                            double *p_ge, struct err *e)
{
    size_t n = n_a + n_b, sum = 0, max_sum = 0;
    for (size_t i = 0; i < n; i++) {
        max_sum += (size_t)ranks2[i];
        if (i < n_a)
            sum += (size_t)ranks2[i];
    }
    double *f = count_subsets(ranks2, n, n_a, max_sum, e);
    if (f == NULL)
        return false;
    double le = 0, ge = 0, all = 0;
    for (size_t s = 0; s <= max_sum; s++) {
        all += f[s];
        if (s <= sum)
            le += f[s];
        if (s >= sum)
            ge += f[s];
    }
    *p_le = le / all;
    *p_ge = ge / all;
    free(f);
    return true;
}

bool exactdist_wilcoxon_cdf(size_t n_a, size_t n_b, double *cdf, struct err *e)
{
    uint64_t ranks[2 * EXACTDIST_MAX];
    size_t n = n_a + n_b, least = n_a * (n_a + 1) / 2, most = least + n_a * n_b;

    for (size_t i = 0; i < n; i++)
        ranks[i] = i + 1;
    double *f = count_subsets(ranks, n, n_a, most, e);
    if (f == NULL)
        return false;
    double all = 0;
    for (size_t s = least; s <= most; s++) {
        all += f[s];
        cdf[s - least] = all;
    }
    for (size_t k = 0; k <= n_a * n_b; k++)
        cdf[k] /= all;
    free(f);
    return true;
}
