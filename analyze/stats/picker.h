/* Exact values by rank, without sorting (docs/how-the-numbers-are-made.md, section 5): a histogram
 * finds the values near each rank, and one of them is selected. */
#ifndef S3_ANALYZE_STATS_PICKER_H
#define S3_ANALYZE_STATS_PICKER_H

#include <stddef.h>
#include <stdint.h>

#define PICKER_MAX_RANKS 64

/* out[i] = the value of 0-based rank ranks[i] < n in ascending order of v[0..n-1], which
 * are lost. Ranks are in any order, and at most PICKER_MAX_RANKS. Linear in n. */
void picker_select(int64_t *v, size_t n, const size_t *ranks, size_t n_ranks, int64_t *out);

/* The same for quantiles (quantile.h). n > 0. */
void picker_quantiles(int64_t *v, size_t n, const unsigned *permille, size_t n_wanted,
                      int64_t *out);

#endif
