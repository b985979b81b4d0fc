/* The contents of objects: random bytes that depend on the object's seed, can be made at any
 * offset, and cost no more than a copy. No 64 KiB occur twice, in one object or in two, so that a
 * server gains nothing from compression or deduplication. */
#ifndef S3_LOADGEN_LOAD_PAYLOAD_H
#define S3_LOADGEN_LOAD_PAYLOAD_H

#include "libcommon/err.h"

#include <stddef.h>
#include <stdint.h>

struct payload {
    uint64_t *words; /* one block of random numbers */
};

/* Makes the block. Returns false if out of memory. */
bool payload_init(struct payload *p, struct err *e);
void payload_fini(struct payload *p);

/* Writes bytes offset .. offset + n - 1 of the object with this seed to buf. */
void payload_fill(const struct payload *p, uint64_t seed, uint64_t offset, void *buf, size_t n);

/* True if the n bytes at data are bytes offset .. offset + n - 1 of the object with this seed. */
bool payload_matches(const struct payload *p, uint64_t seed, uint64_t offset, const void *data,
                     size_t n);

/* Returns the seed of object `id` of a run. */
uint64_t payload_seed(uint64_t run_seed, uint64_t id);

#endif
