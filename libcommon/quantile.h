/* The one rule for all quantiles (docs/how-the-numbers-are-made.md, section 5). A quantile is given
 * in tenths of a percent: 500 is the median, 999 is 99.9 %. */
#ifndef S3_LIBCOMMON_QUANTILE_H
#define S3_LIBCOMMON_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

/* Returns the index of quantile p = num/den among n > 0 sorted values: round(n p), half up, and at
 * most n - 1. */
static inline size_t quantile_index_of(size_t n, uint64_t num, uint64_t den)
{
    size_t i = (size_t)(((unsigned __int128)2 * n * num + den) / (2 * den));
    return i < n ? i : n - 1;
}

/* Returns the index of a quantile in tenths of a percent: 0 is the least value, 1000 the
 * greatest. */
static inline size_t quantile_index(size_t n, unsigned permille)
{
    return quantile_index_of(n, permille, 1000);
}

#endif
