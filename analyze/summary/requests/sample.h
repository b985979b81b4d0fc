/* Moments and quantiles of the values of requests, over all and by part (section 5 of
 * docs/how-the-numbers-are-made.md). */
#ifndef S3_ANALYZE_SUMMARY_REQUESTS_SAMPLE_H
#define S3_ANALYZE_SUMMARY_REQUESTS_SAMPLE_H

#include "analyze/summary/model/model.h"
#include "analyze/summary/sets/scan.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size classes (section 5, "Several sizes"): class c holds the sizes in [edge[c], edge[c + 1]).
 * They are fixed, so that different runs have the same classes. */
#define ANALYSIS_N_SIZES 14
extern const int64_t analysis_size_edges[ANALYSIS_N_SIZES + 1];
size_t analysis_size_class(int64_t bytes);

/* The successful requests of a table inside a range, or the rows that a list of pairs names. */
struct rows {
    const struct table *t;
    const struct scan *scan;    /* of t; unused if pair != NULL */
    struct segment_range range; /* unused if pair != NULL */
    const uint64_t *pair;
    unsigned shift; /* the row is in each pair's low half (0) or high half (32) */
    size_t n;       /* rows or pairs to look at */
};

/* A range of candidates to check. */
struct rows_block {
    size_t from, to;
    bool all; /* all candidates count */
};

static inline size_t rows_n_blocks(const struct rows *r)
{
    return r->pair != NULL ? 1 : r->scan->blocks.n;
}

static inline struct rows_block rows_block(const struct rows *r, size_t block)
{
    if (r->pair != NULL)
        return (struct rows_block){0, r->n, true};
    const struct block *b = &r->scan->blocks.v[block];
    return (struct rows_block){
        .from = block * BLOCKS_ROWS,
        .to = blocks_end(&r->scan->blocks, block),
        .all =
            !b->failed && b->min_start_ns >= r->range.start_ns && b->max_end_ns <= r->range.end_ns,
    };
}

/* Gets the row of candidate k in a block. Returns false if it does not count. */
static inline bool rows_get(const struct rows *r, const struct rows_block *block, size_t k,
                            size_t *row)
{
    *row = r->pair != NULL ? (uint32_t)(r->pair[k] >> r->shift) : k;
    return block->all || table_done_within(r->t, k, r->range.start_ns, r->range.end_ns);
}

/* How rows are divided into parts: not at all (both NULL), by key of group_keys, or by size class.
 */
struct parts {
    size_t n;
    const uint32_t *of_place;
    const uint8_t *of_class;
    const int64_t *room; /* by part: upper limit of its number of rows */
};

static inline size_t part_of(const struct parts *p, const struct table *t, size_t row)
{
    if (p->of_place != NULL)
        return p->of_place[table_place(t, row)];
    return p->of_class != NULL ? p->of_class[analysis_size_class(packed_get(&t->bytes, row))] : 0;
}

/* The functions below fill the figures of each part. The parts' structs lie in larger structs,
 * `stride` bytes apart. Parts without rows are left as they are. Both return false if out of
 * memory. sample_times: times of a column, without the rows that lack it. */
bool sample_times(const struct rows *rows, const struct parts *parts, const struct packed *column,
                  struct times *by_part, size_t stride, struct err *e);
/* sample_sized: throughputs of single requests, with their TTFBs. */
bool sample_sized(const struct rows *rows, const struct parts *parts, struct sized *by_part,
                  size_t stride, struct err *e);

#endif
