/* XXH64, seed 0: the content checksum of a zstd frame is its low 32 bits (RFC 8878, 3.1.1; the
 * algorithm: xxHash specification, "XXH64"). Ours, so that the checksum of a frame can be computed
 * by the thread that parses it, and so that the rows of a frame that fails it are not lost. */
#ifndef S3_ANALYZE_READ_XXH64_H
#define S3_ANALYZE_READ_XXH64_H

#include <stddef.h>
#include <stdint.h>

struct xxh64 {
    uint64_t lane[4];
    uint64_t n_bytes;
    unsigned char tail[32];
    size_t n_tail;
};

void xxh64_init(struct xxh64 *h);
void xxh64_add(struct xxh64 *h, const void *data, size_t n);
/* The hash of all that was added so far. */
uint64_t xxh64_value(const struct xxh64 *h);

#endif
