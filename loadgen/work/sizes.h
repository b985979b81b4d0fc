/* Sizes of objects and of ranges. */
#ifndef S3_LOADGEN_WORK_SIZES_H
#define S3_LOADGEN_WORK_SIZES_H

#include "loadgen/util/rng.h"

#include <stdint.h>

/* Returns a random size in 1..max_bytes (0 if max_bytes is 0), with the distribution of
 * --obj.randsize: as many objects in each of the eight largest doublings, and uniform below them;
 * uniform throughout up to a maximum of 256. The mean tends to 0.1794 max_bytes. */
uint64_t sizes_random(struct rng *r, uint64_t max_bytes);

/* A part of an object: `length` bytes from `offset` on. */
struct sizes_range {
    uint64_t offset;
    uint64_t length;
};

/* Returns a random part of an object. Its length is length_bytes (--range-size) or, if that is 0, a
 * length by sizes_random up to size_bytes - 2 (--range); its offset is uniform over what is
 * possible. Returns the whole object if that is not longer than length_bytes, or has at most 2
 * bytes. */
struct sizes_range sizes_range(struct rng *r, uint64_t size_bytes, uint64_t length_bytes);

#endif
