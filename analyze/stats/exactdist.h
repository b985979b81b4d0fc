/* Ranks and the exact null distributions built on them. Plain C, no library. */
#ifndef S3_ANALYZE_STATS_EXACTDIST_H
#define S3_ANALYZE_STATS_EXACTDIST_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value and its index before sorting. The function is for qsort; values must not be NaN. */
struct exactdist_placed {
    double v;
    size_t place;
};
int exactdist_compare_placed(const void *a, const void *b);

#define EXACTDIST_MAX 50 /* largest side for which the distributions below are computed */

/* ranks2[i] = twice the mid-rank of v[i] (1-based, so 2..2n), an integer; *ties = the sum of t^3 -
 * t over groups of t equal values. Values must not be NaN. False: out of memory. */
bool exactdist_ranks(const double *v, size_t n, uint64_t *ranks2, double *ties, struct err *e);

/* Permutation distribution of Mann-Whitney's U given the observed ties: ranks2 are the doubled
 * mid-ranks of both samples, the n_a of sample A first. *p_le = P(U <= u), *p_ge = P(U >= u) for
 * the observed u. By counting the subsets of n_a ranks with each sum (dynamic programming). Both
 * sides at most EXACTDIST_MAX. False: out of memory. */
bool exactdist_mann_whitney(const uint64_t *ranks2, size_t n_a, size_t n_b, double *p_le,
                            double *p_ge, struct err *e);

/* cdf[k] = P(U <= k), k = 0 .. n_a * n_b, for samples without ties. Both sides at least 1 and at
 * most EXACTDIST_MAX. False: out of memory. */
bool exactdist_wilcoxon_cdf(size_t n_a, size_t n_b, double *cdf, struct err *e);

#endif
