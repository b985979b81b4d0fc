/* Minimum, maximum, order and sum of two numbers, such as times. */
#ifndef S3_LIBCOMMON_INT64_H
#define S3_LIBCOMMON_INT64_H

#include <stdint.h>

static inline int64_t int64_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t int64_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Returns a + b, or the limit of the type that it would pass. */
static inline int64_t int64_add_clamped(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/* Returns a number below 0, 0 or above 0, as qsort expects. */
static inline int int64_order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

#endif
