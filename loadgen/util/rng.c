#include "loadgen/util/util.h"

#include "libcommon/splitmix.h"

void rng_init(struct rng *r, uint64_t seed, uint64_t stream)
{
    /* Spread both, so that neighbouring seeds and streams do not start near each other. */
    r->at = splitmix_spread(splitmix_spread(seed + SPLITMIX_STEP) ^ stream);
}

uint64_t rng_next(struct rng *r)
{
    return splitmix_spread(r->at += SPLITMIX_STEP);
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
    /* The high word of a 64 x 64 product is uniform if products with low words below 2^64 mod n are
     * rejected (D. Lemire, "Fast Random Integer Generation in an Interval", 2019). */
    unsigned __int128 p = (unsigned __int128)rng_next(r) * n;
    if ((uint64_t)p < n) {
        uint64_t refuse = -n % n;
        while ((uint64_t)p < refuse)
            p = (unsigned __int128)rng_next(r) * n;
    }
    return (uint64_t)(p >> 64);
}

double rng_unit(struct rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}
