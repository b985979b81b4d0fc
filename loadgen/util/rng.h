/* Seeded random numbers with many independent streams: PCG XSL RR 128/64 (M. O'Neill, "PCG: A
 * Family of Simple Fast Space-Efficient Statistically Good Algorithms", HMC-CS-2014-0905). Do not
 * use them for secrets. */
#ifndef S3_LOADGEN_UTIL_RNG_H
#define S3_LOADGEN_UTIL_RNG_H

#include <stdint.h>

struct rng {
    unsigned __int128 state;
    unsigned __int128 step; /* odd */
};

/* Starts stream `stream` of `seed`. Equal arguments give equal numbers on any machine. Streams of
 * one seed differ in state and in step. */
void rng_init(struct rng *r, uint64_t seed, uint64_t stream);

/* Returns a number uniform on 0..2^64-1. */
uint64_t rng_next(struct rng *r);

/* Returns a number uniform on 0..n-1, without bias; 0 if n is 0. */
uint64_t rng_below(struct rng *r, uint64_t n);

/* Returns a number uniform on [0, 1), a multiple of 2^-53. */
double rng_unit(struct rng *r);

#endif
