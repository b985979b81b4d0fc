/* SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", 2014):
 * word i of a seed is splitmix_spread(seed + (i + 1) * SPLITMIX_STEP). Do not use it for
 * secrets. */
#ifndef S3_LIBCOMMON_SPLITMIX_H
#define S3_LIBCOMMON_SPLITMIX_H

#include <stdint.h>

#define SPLITMIX_STEP UINT64_C(0x9e3779b97f4a7c15)

/* A bijection of 64-bit words that spreads every bit. */
static inline uint64_t splitmix_spread(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

#endif
