/* A stable counting sort: groups items by key. The caller goes over the items twice:
 *
 *   size_t first[n_keys + 2]       all zero
 *   csort_count for each item      counts the items of key k in first[k + 2]
 *   csort_sum                      makes first[k + 1] the start of key k; returns the item count
 *   csort_place for each item      returns the item's place, and moves first[k + 1] past it
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
