/* Sizes of objects and of ranges. */
#ifndef S3_LOADGEN_WORK_SIZES_H
#define S3_LOADGEN_WORK_SIZES_H

#include "loadgen/util/rng.h"

#include <stdint.h>

/* A random size in 1..max_bytes (0 if max_bytes is 0), by the law of --obj.randsize: equal numbers
 * of objects per doubling over the eight largest doublings, uniform below them; uniform altogether
 * up to 256. The mean tends to 0.1794 max_bytes. */
uint64_t sizes_random(struct rng *r, uint64_t max_bytes);

/* A part of an object: `length` bytes from `offset` on. */
struct sizes_range {
    uint64_t offset;
    uint64_t length;
};

/* A random part of an object: of length_bytes (--range-size), or if that is 0 of a length by
 * sizes_random up to size_bytes - 2 (--range); its offset is uniform on what is left. It is the
 * whole object if that is not longer, or has at most 2 bytes. */
struct sizes_range sizes_range(struct rng *r, uint64_t size_bytes, uint64_t length_bytes);

#endif
