/* Segments (docs/how-the-numbers-are-made.md, sections 3 and 4) of a set of requests and of its
 * hosts and clients. Only bytes and objects matter here; all else that a segment has is for time
 * series. */
#include "analyze/analysis/analysis_internal.h"

#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

/* A matrix of cells, keys x segments, of up to this size is filled in one pass over the rows.
 * Instead of a larger one, the rows are put in order of their keys. */
#define DENSE_BYTES (4u << 20)

/* ---- Fastest, median, slowest ---- */

/* Cells to sort, by bytes or objects, ties by time. */
struct ranking {
    const struct slice_amounts *cells;
    bool by_objects;
};

static inline bool ranks_above_zero(const struct ranking *r, size_t k)
{
    return r->by_objects ? slice_objects_key(&r->cells[k]) != 0 : r->cells[k].bytes != 0;
}

static inline bool ranks_before(const struct ranking *r, uint32_t i, uint32_t j)
{
    __int128 x, y;
    if (r->by_objects) {
        x = slice_objects_key(&r->cells[i]);
        y = slice_objects_key(&r->cells[j]);
    } else {
        x = r->cells[i].bytes;
        y = r->cells[j].bytes;
    }
    return x != y ? x < y : i < j;
}

static int compare_ranks(const void *a, const void *b, void *ranking)
{
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    return ranks_before(ranking, j, i) - ranks_before(ranking, i, j);
}

/* The cell of rank k < n among those that `order` names, which is reordered. */
static uint32_t nth(const struct ranking *r, uint32_t *order, size_t n, size_t k)
{
    size_t lo = 0, hi = n;
    /* A series of bad pivots ends in a sort: never quadratic. */
    for (int rounds = 64; rounds > 0 && hi - lo > 8; rounds--) {
        uint32_t pivot = order[lo + (hi - lo) / 2];
        size_t i = lo, j = hi - 1;

        for (;;) {
            while (ranks_before(r, order[i], pivot))
                i++;
            while (ranks_before(r, pivot, order[j]))
                j--;
            if (i >= j)
                break;
            uint32_t t = order[i];
            order[i++] = order[j];
            order[j--] = t;
        }
        if (k < i)
            hi = i;
        else
            lo = i;
    }
    qsort_r(order + lo, hi - lo, sizeof *order, compare_ranks, (void *)r);
    return order[k];
}

/* The zero cell of rank k among the zero cells, which sort by time: all but the `positive`, in
 * order of time. */
static uint32_t nth_zero(const uint32_t *positive, size_t n_positive, size_t k)
{
    for (size_t i = 0; i < n_positive && positive[i] <= k; i++)
        k++;
    return (uint32_t)k;
}

static struct segment_pick pick(const struct segment_grid *g, const struct slice_amounts *cells,
                                size_t k)
{
    double seconds = (double)g->length_ns / 1e9;
    return (struct segment_pick){
        .start_ns = g->start_ns + (int64_t)k * g->length_ns,
        .bytes_per_s = (double)cells[k].bytes / seconds,
        .objects_per_s = slice_n_objects(&cells[k]) / seconds,
    };
}

/* Section 4. `order` names, in order of time, all cells that are other than zero (and may name
 * others); it is overwritten. */
static struct segments segments_of(const struct segment_grid *g, const struct slice_amounts *cells,
                                   const struct throughput *total, uint32_t *order, size_t n_order)
{
    const struct ranking r = {cells, !total->present || total->n_bytes == 0};
    const unsigned percents[] = {0, 50, 100};
    struct segment_pick picks[3];
    size_t n_positive = 0;

    for (size_t i = 0; i < n_order; i++)
        if (ranks_above_zero(&r, order[i]))
            order[n_positive++] = order[i];
    size_t n_zero = g->n - n_positive;
    for (size_t i = 0; i < 3; i++) {
        size_t rank = analysis_quantile_index(g->n, percents[i]);
        picks[i] = pick(g, cells,
                        rank < n_zero ? nth_zero(order, n_positive, rank)
                                      : nth(&r, order, n_positive, rank - n_zero));
    }
    return (struct segments){
        .present = true,
        .duration_ns = g->length_ns,
        .n = (int64_t)g->n,
        .by_objects = r.by_objects,
        .slowest = picks[0],
        .median = picks[1],
        .fastest = picks[2],
    };
}

/* ---- All in one pass ---- */

/* Where amounts go: to one row of cells, or to one for each key. */
struct sink {
    struct slice_amounts *cells;
    const struct group_keys *keys; /* NULL: one row */
    const uint32_t *key_of_place;  /* of the table that is being added; NULL: one row */
};

static inline struct slice_amounts *sink_row(const struct sink *x, size_t n, uint32_t place)
{
    return x->key_of_place != NULL ? x->cells + (size_t)x->key_of_place[place] * n : x->cells;
}

static void add_rows(const struct segment_grid *g, const struct sink *sinks, size_t n_sinks,
                     const struct scan *scan, size_t block)
{
    const struct table *t = scan->t;
    for (size_t i = block * BLOCKS_ROWS, end = blocks_end(&scan->blocks, block); i < end; i++) {
        if (table_failed(t, i))
            continue;
        const struct attribution_request r = analysis_request(t, i);
        for (size_t k = 0; k < n_sinks; k++)
            attribution_add_amounts(g, sink_row(&sinks[k], g->n, table_place(t, i)), &r);
    }
}

/* A block that lies within segment `segment`. */
static void add_block(const struct segment_grid *g, const struct sink *sinks, size_t n_sinks,
                      const struct scan *scan, size_t block, size_t segment)
{
    const struct block_sum *sums = blocks_sums(&scan->blocks, block);
    for (size_t p = 0; p < scan->blocks.n_sums; p++) {
        for (size_t k = 0; k < n_sinks; k++) {
            if (sums[p].bytes == 0 && sums[p].n_objects == 0)
                continue;
            struct slice_amounts *cell = sink_row(&sinks[k], g->n, (uint32_t)p) + segment;
            cell->bytes += sums[p].bytes;
            cell->n_objects += sums[p].n_objects;
        }
    }
}

static void add_all(const struct set *s, struct sink *sinks, size_t n_sinks)
{
    const struct segment_grid g = s->grid;
    bool by_place = false;

    for (size_t k = 0; k < n_sinks; k++)
        by_place = by_place || sinks[k].keys != NULL;
    for (size_t k = 0; k < s->n_scans; k++) {
        const struct scan *scan = s->scans[k];
        bool has_sums = !by_place || scan->blocks.n_sums == scan->n_places;

        for (size_t i = 0; i < n_sinks; i++)
            sinks[i].key_of_place = sinks[i].keys ? group_keys_of(sinks[i].keys, k) : NULL;
        for (size_t b = 0; b < scan->blocks.n; b++) {
            const struct block *block = &scan->blocks.v[b];
            if (block->max_end_ns < g.start_ns || block->min_start_ns >= g.end_ns)
                continue;
            size_t segment;
            if (has_sums && blocks_within(block, &g, &segment))
                add_block(&g, sinks, n_sinks, scan, b, segment);
            else
                add_rows(&g, sinks, n_sinks, scan, b);
        }
    }
}

/* Keys x segments, if small enough to hold; else *matrix stays NULL. */
static bool matrix_new(struct slice_amounts **matrix, const struct set *s,
                       const struct set_group *g, struct err *e)
{
    return !set_is_grouped(s, g) || g->keys.n > DENSE_BYTES / sizeof **matrix / s->grid.n ||
           mem_cleared(matrix, g->keys.n * s->grid.n, e);
}

struct segments segments_of_cells(const struct segment_grid *g, const struct slice_amounts *cells,
                                  const struct throughput *total, uint32_t *order)
{
    for (size_t k = 0; k < g->n; k++)
        order[k] = (uint32_t)k;
    return segments_of(g, cells, total, order, g->n);
}

/* ---- Key by key ---- */

/* What a successful request adds to a segment, or, where it does not lie within one, the request
 * itself: segment = ENTRY_ROW + the number of its scan, bytes = its row. */
struct entry {
    uint32_t segment, bytes, n_objects;
};

#define ENTRY_ROW 0xFFFF0000u /* segments are fewer */

/* Entries by key, of as many keys at a time as there is room for: those of key k are v[first[k]] ..
 * v[next[k] - 1]. */
struct entries {
    struct entry *v;
    size_t room;
    size_t *first, *next;
};

/* In up to about ENTRIES_PASSES passes over the rows, to hold that part of them at a time. */
#define ENTRIES_PASSES 4
#define ENTRIES_LEAST  ((size_t)1 << 18)

static size_t n_successful(const struct set_group *g, size_t k)
{
    return (size_t)(g->parts[k].n - g->parts[k].n_errors);
}

static void entries_fini(struct entries *x)
{
    free(x->v);
    free(x->first);
    free(x->next);
}

static bool entries_init(struct entries *x, const struct set_group *g, struct err *e)
{
    size_t n = 0, most = 0;
    for (size_t k = 0; k < g->keys.n; k++) {
        n += n_successful(g, k);
        most = n_successful(g, k) > most ? n_successful(g, k) : most;
    }
    size_t room = n / ENTRIES_PASSES > ENTRIES_LEAST ? n / ENTRIES_PASSES : ENTRIES_LEAST;
    x->room = room > most ? room : most;
    return mem_new(&x->v, x->room, e) && mem_new(&x->first, g->keys.n, e) &&
           mem_new(&x->next, g->keys.n, e);
}

/* The entries of key `from` and following; returns the key after the last for which there is room.
 */
static size_t entries_fill(struct entries *x, const struct set *s, const struct set_group *g,
                           size_t from)
{
    const struct segment_grid grid = s->grid;
    size_t n = 0, to = from;

    for (; to < g->keys.n && n + n_successful(g, to) <= x->room; to++) {
        x->first[to] = x->next[to] = n;
        n += n_successful(g, to);
    }
    for (size_t k = 0; k < s->n_scans; k++) {
        const struct table *t = s->scans[k]->t;
        const uint32_t *of_place = group_keys_of(&g->keys, k);

        for (size_t i = 0; i < t->n; i++) {
            size_t key = of_place[table_place(t, i)];
            if (key < from || key >= to || table_failed(t, i))
                continue;
            int64_t start_ns = t->start[i], end_ns = table_end(t, i);
            if (end_ns < grid.start_ns || start_ns >= grid.end_ns)
                continue;
            struct entry entry = {ENTRY_ROW + (uint32_t)k, (uint32_t)i, 0};
            if (start_ns >= grid.start_ns && end_ns < grid.end_ns &&
                packed_raw(&t->bytes, i) < PACKED_WIDE_BASE &&
                packed_raw(&t->objects, i) < PACKED_WIDE_BASE) {
                size_t segment = segment_grid_index(&grid, end_ns);
                if (start_ns >= grid.start_ns + (int64_t)segment * grid.length_ns)
                    entry = (struct entry){(uint32_t)segment, packed_raw(&t->bytes, i),
                                           packed_raw(&t->objects, i)};
            }
            x->v[x->next[key]++] = entry;
        }
    }
    return to;
}

/* One row of cells, of which few are other than zero. */
struct sparse {
    struct slice_amounts *cells;
    bool *is_touched;
    uint32_t *touched; /* in order of time once sorted */
    size_t n_touched;
};

static inline struct slice_amounts *sparse_cell(struct sparse *x, size_t k)
{
    if (!x->is_touched[k]) {
        x->is_touched[k] = true;
        x->touched[x->n_touched++] = (uint32_t)k;
    }
    return &x->cells[k];
}

static void sparse_add(struct sparse *x, const struct set *s, const struct entry *entry)
{
    size_t first, last;
    if (entry->segment < ENTRY_ROW) {
        struct slice_amounts *cell = sparse_cell(x, entry->segment);
        cell->bytes += entry->bytes;
        cell->n_objects += entry->n_objects;
        return;
    }
    const struct table *t = s->scans[entry->segment - ENTRY_ROW]->t;
    const struct attribution_request r = analysis_request(t, entry->bytes);
    if (!attribution_slices(&s->grid, &r, &first, &last))
        return;
    for (size_t k = first; k <= last; k++)
        sparse_cell(x, k);
    attribution_add_amounts(&s->grid, x->cells, &r);
}

static void sparse_clear(struct sparse *x)
{
    for (size_t i = 0; i < x->n_touched; i++) {
        x->cells[x->touched[i]] = (struct slice_amounts){0};
        x->is_touched[x->touched[i]] = false;
    }
    x->n_touched = 0;
}

static bool sparse_init(struct sparse *x, size_t n, struct err *e)
{
    return mem_cleared(&x->cells, n, e) && mem_cleared(&x->is_touched, n, e) &&
           mem_new(&x->touched, n, e);
}

static void sparse_fini(struct sparse *x)
{
    free(x->cells);
    free(x->is_touched);
    free(x->touched);
}

static int compare_indexes(const void *a, const void *b)
{
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    return (i > j) - (i < j);
}

/* Rows are about in order of time, and so are the cells they touch. */
static void sort_indexes(uint32_t *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (v[i] < v[i - 1]) {
            qsort(v, n, sizeof *v, compare_indexes);
            return;
        }
    }
}

/* Segments of each key of a group too large for a matrix, in time and memory of the number of rows.
 */
static bool key_by_key(const struct set *s, struct set_group *g, uint32_t *order, struct err *e)
{
    struct entries entries = {0};
    struct sparse row = {0};
    size_t filled = 0;
    bool ok = entries_init(&entries, g, e) && sparse_init(&row, s->grid.n, e);

    for (size_t k = 0; ok && k < g->keys.n; k++) {
        if (k == filled)
            filled = entries_fill(&entries, s, g, k);
        for (size_t i = entries.first[k]; i < entries.next[k]; i++)
            sparse_add(&row, s, &entries.v[i]);
        sort_indexes(row.touched, row.n_touched);
        memcpy(order, row.touched, row.n_touched * sizeof *order);
        g->segments[k] = segments_of(&s->grid, row.cells, &g->totals[k], order, row.n_touched);
        sparse_clear(&row);
    }
    entries_fini(&entries);
    sparse_fini(&row);
    return ok;
}

static bool group_segments(const struct set *s, struct set_group *g,
                           const struct slice_amounts *matrix, uint32_t *order, struct err *e)
{
    if (!set_is_grouped(s, g))
        return true;
    if (matrix == NULL)
        return key_by_key(s, g, order, e);
    for (size_t k = 0; k < g->keys.n; k++)
        g->segments[k] = segments_of_cells(&s->grid, matrix + k * s->grid.n, &g->totals[k], order);
    return true;
}

bool set_segments(struct set *s, struct err *e)
{
    size_t n = s->grid.n;
    if (n < 2)
        return true;
    struct slice_amounts *all = NULL, *hosts = NULL, *clients = NULL;
    uint32_t *order = NULL;
    bool ok = mem_cleared(&all, n, e) && mem_new(&order, n, e) &&
              matrix_new(&hosts, s, &s->hosts, e) && matrix_new(&clients, s, &s->clients, e);
    if (ok) {
        struct sink sinks[2] = {{.cells = all}};
        size_t n_sinks = 1;

        if (hosts != NULL)
            sinks[0] = (struct sink){.cells = hosts, .keys = &s->hosts.keys};
        if (clients != NULL)
            sinks[n_sinks++] = (struct sink){.cells = clients, .keys = &s->clients.keys};
        add_all(s, sinks, n_sinks);
        /* The segments of all are the sum of the hosts' segments. */
        for (size_t k = 0; hosts != NULL && k < s->hosts.keys.n; k++)
            for (size_t i = 0; i < n; i++)
                slice_merge(&all[i], &hosts[k * n + i]);
        if (s->total.present)
            s->segments = segments_of_cells(&s->grid, all, &s->total, order);
        ok = group_segments(s, &s->hosts, hosts, order, e) &&
             group_segments(s, &s->clients, clients, order, e);
    }
    free(all);
    free(hosts);
    free(clients);
    free(order);
    return ok;
}
