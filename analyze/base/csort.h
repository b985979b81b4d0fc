/* The counting sort that brings items of each key together, in the caller's two passes over them:
 *
 *   first                          n_keys + 2 zeros
 *   csort_count for each item      its key's number of items, two places up
 *   csort_sum                      sums make it the key's start, one place up; all items are n
 *   csort_place for each item      where it goes; the start moves on to the start of the next key
 *
 * Then the items of key k are at first[k] .. first[k + 1] - 1, in the order of the passes. */
#ifndef S3_ANALYZE_BASE_CSORT_H
#define S3_ANALYZE_BASE_CSORT_H

#include <stddef.h>

static inline void csort_count(size_t *first, size_t key)
{
    first[key + 2]++;
}

static inline size_t csort_sum(size_t *first, size_t n_keys)
{
    for (size_t k = 0; k < n_keys; k++)
        first[k + 2] += first[k + 1];
    return first[n_keys + 1];
}

static inline size_t csort_place(size_t *first, size_t key)
{
    return first[key + 1]++;
}

#endif
