#include "loadgen/load/load.h"

#include "libcommon/mem.h"
#include "libcommon/splitmix.h"

#include <string.h>

/* An object is the block of random numbers, read cyclically from a place that depends on the seed.
 * Each chunk is xored with its own number. */
#define BLOCK_WORDS (UINT64_C(1) << 17)
#define CHUNK_WORDS (UINT64_C(1) << 13)

/* The block is the same in every run; only the seeds of objects differ. */
#define BLOCK_SEED 20191128

bool payload_init(struct payload *p, struct err *e)
{
    struct rng rng;

    if (!mem_new(&p->words, BLOCK_WORDS, e))
        return false;
    rng_init(&rng, BLOCK_SEED, 0);
    for (size_t i = 0; i < BLOCK_WORDS; i++)
        p->words[i] = rng_next(&rng);
    return true;
}

uint64_t payload_seed(uint64_t run_seed, uint64_t id)
{
    return splitmix_spread(splitmix_spread(run_seed) + id * SPLITMIX_STEP);
}

/* A run of words that are adjacent in the block and in one chunk of the object. */
struct run {
    const uint64_t *words;
    uint64_t key;
    uint64_t n;
};

static struct run run_at(const struct payload *p, uint64_t seed, uint64_t word)
{
    uint64_t chunk = word / CHUNK_WORDS;
    uint64_t at = (word + seed) % BLOCK_WORDS;
    uint64_t in_chunk = CHUNK_WORDS - word % CHUNK_WORDS;
    uint64_t in_block = BLOCK_WORDS - at;

    return (struct run){p->words + at, splitmix_spread(seed + (chunk + 1) * SPLITMIX_STEP),
                        in_chunk < in_block ? in_chunk : in_block};
}

void payload_fill(const struct payload *p, uint64_t seed, uint64_t offset, void *buf, size_t n)
{
    unsigned char *out = buf;

    while (n > 0) {
        struct run run = run_at(p, seed, offset / 8);
        uint64_t value = *run.words ^ run.key;
        size_t from = offset % 8;
        size_t done = 8 - from < n ? 8 - from : n;

        if (done < 8) {
            memcpy(out, (unsigned char *)&value + from, done);
        } else {
            size_t n_words = n / 8 < run.n ? n / 8 : (size_t)run.n;
            for (size_t i = 0; i < n_words; i++) {
                value = run.words[i] ^ run.key;
                memcpy(out + 8 * i, &value, 8);
            }
            done = 8 * n_words;
        }
        out += done;
        offset += done;
        n -= done;
    }
}

bool payload_matches(const struct payload *p, uint64_t seed, uint64_t offset, const void *data,
                     size_t n)
{
    const unsigned char *in = data;
    unsigned char expected[4096];

    while (n > 0) {
        size_t part = n < sizeof expected ? n : sizeof expected;
        payload_fill(p, seed, offset, expected, part);
        if (memcmp(expected, in, part) != 0)
            return false;
        in += part;
        offset += part;
        n -= part;
    }
    return true;
}
