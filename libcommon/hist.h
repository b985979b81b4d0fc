/* Log-linear histogram of durations (docs/how-the-numbers-are-made.md, section 5).
 *
 * A value below 2048 has a bucket of its own; above, each power of two is cut into 1024 buckets, so
 * a bucket is at most 1/1024 of its values wide (0.0977 %). */
#ifndef S3_LIBCOMMON_HIST_H
#define S3_LIBCOMMON_HIST_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HIST_N_COUNTERS 31744                    /* for values below 2^40 (18 minutes in ns) */
#define HIST_MAX_VALUE  ((INT64_C(1) << 40) - 1) /* the largest value with a bucket */
#define HIST_N_INDEXES  (52 * 1024 + 2048)       /* buckets of all non-negative int64 */

/* Returns the bucket of a value, below HIST_N_INDEXES; a negative value goes to the bucket of 0.
 * Takes the exponent and the first 10 bits of the value as a double, which is faster than shifts;
 * a value from 2^53 on loses 10 bits first, so that no double is rounded up. */
static inline size_t hist_index(int64_t v)
{
    double d = (double)(v < INT64_C(1) << 53 ? v : v & ~INT64_C(1023));
    uint64_t bits;

    memcpy(&bits, &d, sizeof bits);
    if (v < 1024)
        return v < 0 ? 0 : (size_t)v;
    return (size_t)(bits >> 42) - (size_t)((1023 + 9) << 10);
}

/* Return the smallest and the largest value of bucket `index` (below HIST_N_INDEXES). */
static inline int64_t hist_lower(size_t index)
{
    if (index < 2048)
        return (int64_t)index;
    size_t e = index / 1024 - 1;
    return (int64_t)(index - e * 1024) << e;
}

static inline int64_t hist_upper(size_t index)
{
    return index < 2048 ? (int64_t)index
                        : hist_lower(index) + ((INT64_C(1) << (index / 1024 - 1)) - 1);
}

#endif
