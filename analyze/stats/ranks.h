/* Ranks. Plain C, no library. */
#ifndef S3_ANALYZE_STATS_RANKS_H
#define S3_ANALYZE_STATS_RANKS_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value and its index before sorting. The function is for qsort; values must not be NaN. */
struct ranks_placed {
    double v;
    size_t place;
};
int ranks_compare_placed(const void *a, const void *b);

/* ranks2[i] = twice the mid-rank of v[i] (1-based, so 2..2n), an integer; *ties = the sum of t^3 -
 * t over groups of t equal values. Values must not be NaN. False: out of memory. */
bool ranks_of(const double *v, size_t n, uint64_t *ranks2, double *ties, struct err *e);

#endif
