#include "loadgen/util/util.h"

#include "libcommon/splitmix.h"

/* The multiplier for 128-bit states from the paper named in util.h. */
static const unsigned __int128 MULTIPLIER =
    (unsigned __int128)0x2360ed051fc65da4u << 64 | 0x4385df649fccf645u;

void rng_init(struct rng *r, uint64_t seed, uint64_t stream)
{
    /* Spread both, so that neighbouring seeds and streams do not start near each other. */
    uint64_t b = splitmix_spread(seed + SPLITMIX_STEP) ^ stream;
    uint64_t w[4];

    for (int i = 0; i < 4; i++)
        w[i] = splitmix_spread(b += SPLITMIX_STEP);
    r->step = ((unsigned __int128)w[0] << 64 | w[1]) | 1;
    r->state = (unsigned __int128)w[2] << 64 | w[3];
    rng_next(r);
}

uint64_t rng_next(struct rng *r)
{
    r->state = r->state * MULTIPLIER + r->step;

    uint64_t x = (uint64_t)(r->state >> 64) ^ (uint64_t)r->state;
    unsigned turn = (unsigned)(r->state >> 122);
    return x >> turn | x << (-turn & 63);
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
