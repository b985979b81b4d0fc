#include "analyze/stats/ranks.h"

#include "analyze/base/csort.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>

int ranks_compare_placed(const void *a, const void *b)
{
    double x = ((const struct ranks_placed *)a)->v, y = ((const struct ranks_placed *)b)->v;
    return (x > y) - (x < y);
}

#define FEW 16 /* sorted by insertion */

/* Fills s with the values in ascending order, by a bucket sort with n buckets of equal width:
 * nearly linear for thousands of hosts. `first` has n + 2 zeros. */
static void sort_values(struct ranks_placed *s, size_t *first, const double *v, size_t n)
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
            (struct ranks_placed){v[i], i};
    for (size_t k = 0; k < n; k++)
        if (first[k + 1] - first[k] > FEW)
            qsort(s + first[k], first[k + 1] - first[k], sizeof *s, ranks_compare_placed);
    for (size_t i = 1; i < n; i++) {
        struct ranks_placed x = s[i];
        size_t k = i;

        for (; k > 0 && s[k - 1].v > x.v; k--)
            s[k] = s[k - 1];
        s[k] = x;
    }
}

bool ranks_of(const double *v, size_t n, uint64_t *ranks2, double *ties, struct err *e)
{
    struct ranks_placed *s = NULL;
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
