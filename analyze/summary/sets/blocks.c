#include "analyze/summary/sets/blocks.h"

#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

bool blocks_init(struct blocks *x, const struct table *t, size_t n_places, struct err *e)
{
    size_t n = (t->n + BLOCKS_ROWS - 1) / BLOCKS_ROWS;

    *x = (struct blocks){
        .t = t,
        .n = n,
        .n_sums = n_places <= BLOCKS_MAX_PLACES && n_places > 0 ? n_places : 1,
    };
    return mem_new(&x->v, n, e) && mem_new(&x->sums, n * x->n_sums, e);
}

void blocks_fini(struct blocks *x)
{
    free(x->v);
    free(x->sums);
    *x = (struct blocks){0};
}

/* A range of rows within one block. */
struct span_of_rows {
    size_t from, to;
};

/* True if some value is wide. */
static bool any_wide(const struct packed *column, struct span_of_rows r)
{
    const uint32_t *v = column->v;
    bool any = false;

    for (size_t i = r.from; column->n_wide > 0 && i < r.to; i++)
        any |= v[i] - PACKED_WIDE_BASE < PACKED_NONE - PACKED_WIDE_BASE;
    return any;
}

static bool any_failed(const struct table *t, struct span_of_rows r)
{
    uint16_t failed = 0;
    for (size_t i = r.from; t->error != NULL && i < r.to; i++)
        failed |= t->error[i];
    return failed != 0;
}

/* Copies the columns to local variables, which no store below can alias: the compiler keeps their
 * pointers in registers. */
static void look_at_times(struct block *b, const struct table *table, struct span_of_rows r)
{
    const struct table t = *table;
    int64_t min_start_ns = INT64_MAX, max_end_ns = INT64_MIN;

    for (size_t i = r.from; i < r.to; i++) {
        int64_t start_ns = t.start[i], end_ns = table_end(&t, i);
        min_start_ns = int64_min(start_ns, min_start_ns);
        max_end_ns = int64_max(end_ns, max_end_ns);
    }
    b->min_start_ns = min_start_ns;
    b->max_end_ns = max_end_ns;
}

/* Sums values; none may be wide or missing. */
static int64_t sum_of(const struct packed *column, struct span_of_rows r)
{
    int64_t sum = 0;
    if (column->v == NULL)
        return (int64_t)column->same * (int64_t)(r.to - r.from);
    for (size_t i = r.from; i < r.to; i++)
        sum += column->v[i];
    return sum;
}

/* Sums values by place; none may be wide or missing. An addition to a place waits for the one
 * before it, so every second value goes to another array. */
static void sum_by_place(const struct table *t, const struct packed *column, struct span_of_rows r,
                         uint64_t sum[BLOCKS_MAX_PLACES])
{
    const struct ids place = t->place;
    const struct packed c = *column;
    uint64_t other[BLOCKS_MAX_PLACES] = {0};
    size_t i = r.from;

    memset(sum, 0, BLOCKS_MAX_PLACES * sizeof *sum);
    for (; i + 1 < r.to; i += 2) {
        sum[ids_get(&place, i)] += BLOCKS_ONE + packed_raw(&c, i);
        other[ids_get(&place, i + 1)] += BLOCKS_ONE + packed_raw(&c, i + 1);
    }
    if (i < r.to)
        sum[ids_get(&place, i)] += BLOCKS_ONE + packed_raw(&c, i);
    for (size_t p = 0; p < BLOCKS_MAX_PLACES; p++)
        sum[p] += other[p];
}

/* Sums a block in which all requests succeeded and no value is wide. */
static void sum_plain(const struct blocks *x, struct span_of_rows r, struct block_sum *to)
{
    const struct table *t = x->t;
    uint64_t ns[BLOCKS_MAX_PLACES], bytes[BLOCKS_MAX_PLACES], n_objects[BLOCKS_MAX_PLACES];

    sum_by_place(t, &t->dur, r, ns);
    if (t->bytes.v != NULL)
        sum_by_place(t, &t->bytes, r, bytes);
    if (t->objects.v != NULL)
        sum_by_place(t, &t->objects, r, n_objects);
    for (size_t p = 0; p < x->n_sums; p++) {
        int64_t n = blocks_number(ns[p]);
        to[p] = (struct block_sum){
            .n = n,
            .ns = blocks_sum(ns[p]),
            .bytes = t->bytes.v != NULL ? blocks_sum(bytes[p]) : n * t->bytes.same,
            .n_objects = t->objects.v != NULL ? blocks_sum(n_objects[p]) : n * t->objects.same,
        };
    }
}

static void sum_rows(const struct blocks *x, struct span_of_rows r, struct block_sum *to)
{
    const struct table *t = x->t;
    memset(to, 0, x->n_sums * sizeof *to);
    for (size_t i = r.from; i < r.to; i++) {
        if (table_failed(t, i))
            continue;
        struct block_sum *s = &to[x->n_sums > 1 ? table_place(t, i) : 0];
        s->n++;
        s->ns = (int64_t)((uint64_t)s->ns + (uint64_t)packed_get(&t->dur, i));
        s->bytes = (int64_t)((uint64_t)s->bytes + (uint64_t)packed_get(&t->bytes, i));
        s->n_objects = (int64_t)((uint64_t)s->n_objects + (uint64_t)packed_get(&t->objects, i));
    }
}

void blocks_look(struct blocks *x, size_t block)
{
    const struct table *t = x->t;
    const struct span_of_rows r = {block * BLOCKS_ROWS, blocks_end(x, block)};
    struct block *b = &x->v[block];
    struct block_sum *to = &x->sums[block * x->n_sums];

    look_at_times(b, t, r);
    b->failed = any_failed(t, r);
    b->wide = any_wide(&t->dur, r) || any_wide(&t->bytes, r) || any_wide(&t->objects, r) ||
              any_wide(&t->ttfb, r);
    if (b->failed || b->wide)
        sum_rows(x, r, to);
    else if (x->n_sums > 1)
        sum_plain(x, r, to);
    else
        *to = (struct block_sum){(int64_t)(r.to - r.from), sum_of(&t->dur, r), sum_of(&t->bytes, r),
                                 sum_of(&t->objects, r)};
}
