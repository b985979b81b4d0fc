/* Describes a table block by block: when the requests of each block ran, and what they
 * moved. Recorded rows are roughly in order of time, so most blocks lie within one segment and few
 * cross the edge of a range: sums over rows become sums over blocks. */
#ifndef S3_ANALYZE_SUMMARY_SETS_BLOCKS_H
#define S3_ANALYZE_SUMMARY_SETS_BLOCKS_H

#include "analyze/data/dataset.h"
#include "analyze/data/slices.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCKS_ROWS       256
#define BLOCKS_MAX_PLACES 16 /* with more places a block has one sum for all */

struct block {
    int64_t min_start_ns, max_end_ns;
    bool failed; /* some request of the block failed */
    bool wide;   /* some value is wide (struct packed): the sums may have wrapped around */
};

/* The successful requests of a block: those of one place, or all. */
struct block_sum {
    int64_t n, ns, bytes, n_objects; /* ns: their durations */
};

/* Block b holds BLOCKS_ROWS rows, from row b * BLOCKS_ROWS on. */
struct blocks {
    const struct table *t;
    struct block *v;
    size_t n;
    struct block_sum *sums; /* block x place; or by block, all places together */
    size_t n_sums;          /* per block: the number of places, or 1 */
};

/* Packs the count and the sum of up to BLOCKS_ROWS packed values, none of them wide, in one
 * integer: a value costs one addition, of BLOCKS_ONE + value. */
#define BLOCKS_ONE (UINT64_C(1) << 40)

static inline int64_t blocks_number(uint64_t number_and_sum)
{
    return (int64_t)(number_and_sum / BLOCKS_ONE);
}

static inline int64_t blocks_sum(uint64_t number_and_sum)
{
    return (int64_t)(number_and_sum % BLOCKS_ONE);
}

/* Makes room for the blocks of `t`, whose requests have n_places places; blocks_look fills each.
 * Returns false if out of memory. blocks_fini may be called in any case. */
bool blocks_init(struct blocks *x, const struct table *t, size_t n_places, struct err *e);
void blocks_fini(struct blocks *x);

/* Fills block `block` and its sums from the rows. */
void blocks_look(struct blocks *x, size_t block);

static inline size_t blocks_end(const struct blocks *x, size_t block)
{
    size_t end = (block + 1) * BLOCKS_ROWS;
    return end < x->t->n ? end : x->t->n;
}

/* Returns the n_sums sums of a block. */
static inline const struct block_sum *blocks_sums(const struct blocks *x, size_t block)
{
    return &x->sums[block * x->n_sums];
}

/* Finds the segment in which all requests of a block began and ended. Returns false if there is
 * none. */
static inline bool blocks_within(const struct block *b, const struct slice_grid *g, size_t *segment)
{
    return slice_grid_within(g, b->min_start_ns, b->max_end_ns, segment);
}

#endif
