/* The rule for quantiles, one for all figures that are called so (docs/how-the-numbers-are-made.md,
 * section 5). A quantile is named in tenths of a percent: 500 is the median, 999 is 99.9 %. */
#ifndef S3_LIBCOMMON_QUANTILE_H
#define S3_LIBCOMMON_QUANTILE_H

#include "libcommon/err.h"
#include "libcommon/hist.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Index of the quantile among n > 0 sorted values: round(n p), half up, and at most n - 1. So 0 is
 * the least value, 1000 the greatest. */
static inline size_t quantile_index(size_t n, unsigned permille)
{
    size_t i = (size_t)(((unsigned __int128)2 * n * permille + 1000) / 2000);
    return i < n ? i : n - 1;
}

/* out[i] = the quantile permille[i] of v[0..n-1], which stays as it is. n > 0, n_wanted <=
 * QUANTILE_MAX. False: out of memory. */
#define QUANTILE_MAX 8
bool quantile_of_values(const int64_t *v, size_t n, const unsigned *permille, size_t n_wanted,
                        int64_t *out, struct err *e);

/* The same of what a histogram counted, to within its buckets; 0 where it is empty. */
int64_t quantile_of_hist(const struct hist *h, unsigned permille);

#endif
