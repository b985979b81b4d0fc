#include "loadgen/work/workload.h"

#include <math.h>

/* Up to this maximum the distribution is uniform. */
#define UNIFORM_MAX 256

/* The distribution is logarithmic over this many doublings below the maximum... */
#define DOUBLINGS 8

/* ...but never below 2^7. */
#define MIN_LOG2 7.0

uint64_t sizes_random(struct rng *r, uint64_t max_bytes)
{
    if (max_bytes <= UNIFORM_MAX)
        return max_bytes == 0 ? 0 : 1 + rng_below(r, max_bytes);

    double top = log2((double)(max_bytes - 1));
    double bottom = fmax(MIN_LOG2, top - DOUBLINGS);
    double x = rng_unit(r) * (top - bottom);
    double less_one = x > 1 ? exp2(bottom + x) : x * exp2(bottom + 1);
    uint64_t size = 1 + (uint64_t)less_one;

    /* exp2(log2()) may round up to the next integer. */
    return size < max_bytes ? size : max_bytes;
}

struct sizes_range sizes_range(struct rng *r, uint64_t size_bytes, uint64_t length_bytes)
{
    if (length_bytes == 0 && size_bytes > 2)
        length_bytes = sizes_random(r, size_bytes - 2);
    if (length_bytes == 0 || length_bytes >= size_bytes)
        return (struct sizes_range){0, size_bytes};
    return (struct sizes_range){rng_below(r, size_bytes - length_bytes + 1), length_bytes};
}
