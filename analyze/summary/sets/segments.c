/* Finds the segments (docs/how-the-numbers-are-made.md, sections 3 and 4) of a set of requests, of
 * its hosts and of its clients. Only bytes and objects matter here; time series compute the other
 * figures of a segment. */
#include "analyze/summary/sets/set.h"

#include "libcommon/mem.h"
#include "libcommon/quantile.h"

#include <stdlib.h>
#include <string.h>

/* A matrix of keys x segments up to this size is filled in one pass over the rows. If it would be
 * larger, the rows are sorted by key instead. */
#define DENSE_BYTES (4u << 20)

/* ---- Fastest, median, slowest ---- */

/* How cells are ranked: by bytes or objects, ties by time. */
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

/* Returns the cell of rank k < n among those listed in `order`, which is reordered. */
static uint32_t nth(const struct ranking *r, uint32_t *order, size_t n, size_t k)
{
    size_t lo = 0, hi = n;

    /* After too many bad pivots the rest is sorted: never quadratic. */
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

/* Returns the zero cell of rank k. Zero cells rank by time; they are all cells but those in
 * `positive`, which is in order of time. */
static uint32_t nth_zero(const uint32_t *positive, size_t n_positive, size_t k)
{
    for (size_t i = 0; i < n_positive && positive[i] <= k; i++)
        k++;
    return (uint32_t)k;
}

static struct segment_pick pick(const struct slice_grid *g, const struct slice_amounts *cells,
                                size_t k)
{
    double seconds = (double)g->length_ns / 1e9;
    return (struct segment_pick){
        .start_ns = g->start_ns + (int64_t)k * g->length_ns,
        .bytes_per_s = (double)cells[k].bytes / seconds,
        .objects_per_s = slice_n_objects(&cells[k]) / seconds,
    };
}

/* Finds the fastest, median and slowest segments (section 4). `order` lists, in order of time, at
 * least all cells that are not zero; it is overwritten. */
static struct segments segments_of(const struct slice_grid *g, const struct slice_amounts *cells,
                                   const struct throughput *total, uint32_t *order, size_t n_order)
{
    const struct ranking r = {cells, !total->present || total->n_bytes == 0};
    const unsigned permille[] = {0, 500, 1000};
    struct segment_pick picks[3];
    size_t n_positive = 0;

    for (size_t i = 0; i < n_order; i++) {
        uint32_t k = order[i];
        order[n_positive] = k;
        n_positive += ranks_above_zero(&r, k);
    }
    size_t n_zero = g->n - n_positive;
    for (size_t i = 0; i < 3; i++) {
        size_t rank = quantile_index(g->n, permille[i]);
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

/* Where amounts go: one cell per segment, or per segment and key. The cells of a segment are
 * adjacent: rows are roughly in order of time, so even with a thousand keys they stay in the cache.
 */
struct sink {
    struct slice_amounts *cells;
    size_t n_keys;
    const struct group_keys *keys; /* NULL: one key */
    const uint32_t *key_of_place;  /* of the table being added; NULL: one key */
};

struct sinks {
    struct slice_grid grid;
    struct sink v[2];
    size_t n;
    struct slice_amounts *parts; /* by segment: scratch space for one request; all zero before it */
};

static inline struct slice_amounts *sink_cell(const struct sink *x, size_t segment, uint32_t place)
{
    return &x->cells[segment * x->n_keys + (x->key_of_place != NULL ? x->key_of_place[place] : 0)];
}

/* Adds a request that crosses the edge of a segment. */
static void add_spread(const struct sinks *x, struct attribution_request r, uint32_t place)
{
    size_t first, last;
    if (!slices_touched(&x->grid, &r, &first, &last))
        return;
    slices_add_amounts(&x->grid, x->parts, &r);
    for (size_t segment = first; segment <= last; segment++) {
        for (size_t k = 0; k < x->n; k++)
            slice_merge(sink_cell(&x->v[k], segment, place), &x->parts[segment]);
        x->parts[segment] = (struct slice_amounts){0};
    }
}

static void add_rows(const struct sinks *x, const struct scan *scan, size_t block)
{
    const struct slice_grid *g = &x->grid;
    const struct table *t = scan->t;

    for (size_t i = block * BLOCKS_ROWS, end = blocks_end(&scan->blocks, block); i < end; i++) {
        if (table_failed(t, i))
            continue;
        const struct attribution_request r = analysis_request(t, i);
        size_t segment;
        if (!slice_grid_within(g, r.start_ns, r.end_ns, &segment)) {
            add_spread(x, r, table_place(t, i));
            continue;
        }
        for (size_t k = 0; k < x->n; k++) {
            struct slice_amounts *cell = sink_cell(&x->v[k], segment, table_place(t, i));
            cell->bytes += r.bytes;
            cell->n_objects += r.n_objects;
        }
    }
}

/* Adds a block that lies within `segment`. */
static void add_block(const struct sinks *x, const struct scan *scan, size_t block, size_t segment)
{
    const struct block_sum *sums = blocks_sums(&scan->blocks, block);
    for (size_t p = 0; p < scan->blocks.n_sums; p++) {
        for (size_t k = 0; k < x->n; k++) {
            if (sums[p].bytes == 0 && sums[p].n_objects == 0)
                continue;
            struct slice_amounts *cell = sink_cell(&x->v[k], segment, (uint32_t)p);
            cell->bytes += sums[p].bytes;
            cell->n_objects += sums[p].n_objects;
        }
    }
}

static void add_all(const struct set *s, struct sinks *x)
{
    const struct slice_grid *g = &x->grid;
    bool by_place = false;

    for (size_t k = 0; k < x->n; k++)
        by_place = by_place || x->v[k].keys != NULL;
    for (size_t k = 0; k < s->n_scans; k++) {
        const struct scan *scan = s->scans[k];
        bool has_sums = !by_place || scan->blocks.n_sums == scan->n_places;

        for (size_t i = 0; i < x->n; i++)
            x->v[i].key_of_place = x->v[i].keys != NULL ? group_keys_of(x->v[i].keys, k) : NULL;
        for (size_t b = 0; b < scan->blocks.n; b++) {
            const struct block *block = &scan->blocks.v[b];
            if (block->max_end_ns < g->start_ns || block->min_start_ns >= g->end_ns)
                continue;
            size_t segment;
            if (has_sums && blocks_within(block, g, &segment))
                add_block(x, scan, b, segment);
            else
                add_rows(x, scan, b);
        }
    }
}

/* Allocates keys x segments if that is small enough; else *matrix stays NULL. */
static bool matrix_new(struct slice_amounts **matrix, const struct set *s,
                       const struct set_group *g, struct err *e)
{
    return g->results == NULL || g->keys.n > DENSE_BYTES / sizeof **matrix / s->grid.n ||
           mem_cleared(matrix, g->keys.n * s->grid.n, e);
}

struct segments segments_of_cells(const struct slice_grid *g, const struct slice_amounts *cells,
                                  const struct throughput *total, uint32_t *order)
{
    for (size_t k = 0; k < g->n; k++)
        order[k] = (uint32_t)k;
    return segments_of(g, cells, total, order, g->n);
}

/* ---- Key by key ---- */

/* One row of cells, all zero between one key and the next. For a key with few requests it remembers
 * the cells that were touched, so that the key does not cost a pass over all segments. */
struct sparse {
    struct slice_amounts *cells;
    bool *is_touched;
    uint32_t *touched; /* sorted before use: in order of time */
    size_t n_touched;
};

#define FEW_REQUESTS 8 /* a key has few if n * this < number of segments */

static void sparse_touch(struct sparse *x, const struct slice_grid *g,
                         const struct attribution_request *r)
{
    size_t first, last;
    if (!slices_touched(g, r, &first, &last))
        return;
    for (size_t k = first; k <= last; k++)
        if (!x->is_touched[k]) {
            x->is_touched[k] = true;
            x->touched[x->n_touched++] = (uint32_t)k;
        }
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

/* Sorts cell indexes. Rows are roughly in order of time, so these usually are too. */
static void sort_indexes(uint32_t *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (v[i] < v[i - 1]) {
            qsort(v, n, sizeof *v, compare_indexes);
            return;
        }
    }
}

/* Finds the segments of a key. `rows`: by scan. */
static struct segments segments_of_key(struct sparse *x, const struct set *s,
                                       const struct group_rows *rows, size_t key,
                                       const struct host_result *result, uint32_t *order)
{
    const struct throughput *total = &result->throughput;
    bool few = (size_t)result->n_requests * FEW_REQUESTS < s->grid.n;
    struct segments segments;

    for (size_t k = 0; k < s->n_scans; k++)
        for (size_t i = rows[k].first[key]; i < rows[k].first[key + 1]; i++) {
            const struct attribution_request r = analysis_request(s->scans[k]->t, rows[k].row[i]);
            if (few)
                sparse_touch(x, &s->grid, &r);
            slices_add_amounts(&s->grid, x->cells, &r);
        }
    if (few) {
        sort_indexes(x->touched, x->n_touched);
        memcpy(order, x->touched, x->n_touched * sizeof *order);
        segments = segments_of(&s->grid, x->cells, total, order, x->n_touched);
        sparse_clear(x);
    } else {
        segments = segments_of_cells(&s->grid, x->cells, total, order);
        memset(x->cells, 0, s->grid.n * sizeof *x->cells);
    }
    return segments;
}

/* Finds the segments of each key of a group too large for a matrix. Time and memory grow with the
 * number of rows. */
static bool key_by_key(const struct set *s, struct set_group *g, uint32_t *order, struct err *e)
{
    struct group_rows *rows = NULL;
    struct sparse row = {0};
    bool ok = mem_cleared(&rows, s->n_scans, e) && sparse_init(&row, s->grid.n, e);

    for (size_t k = 0; ok && k < s->n_scans; k++)
        ok = group_rows_init(&rows[k], s->scans[k]->t, k, &g->keys, e);
    for (size_t k = 0; ok && k < g->keys.n; k++) {
        struct host_result *r = set_group_result(g, k);
        r->segments = segments_of_key(&row, s, rows, k, r, order);
    }
    for (size_t k = 0; rows != NULL && k < s->n_scans; k++)
        group_rows_fini(&rows[k]);
    free(rows);
    sparse_fini(&row);
    return ok;
}

static bool group_segments(const struct set *s, struct set_group *g,
                           const struct slice_amounts *matrix, struct slice_amounts *row,
                           uint32_t *order, struct err *e)
{
    if (g->results == NULL)
        return true;
    if (matrix == NULL)
        return key_by_key(s, g, order, e);
    for (size_t k = 0; k < g->keys.n; k++) {
        for (size_t i = 0; i < s->grid.n; i++)
            row[i] = matrix[i * g->keys.n + k];
        struct host_result *r = set_group_result(g, k);
        r->segments = segments_of_cells(&s->grid, row, &r->throughput, order);
    }
    return true;
}

bool set_segments(struct set *s, struct err *e)
{
    size_t n = s->grid.n;
    if (n < 2)
        return true;
    struct slice_amounts *all = NULL, *row = NULL, *hosts = NULL, *clients = NULL;
    uint32_t *order = NULL;
    bool ok = mem_cleared(&all, n, e) && mem_cleared(&row, n, e) && mem_new(&order, n, e) &&
              matrix_new(&hosts, s, &s->hosts, e) && matrix_new(&clients, s, &s->clients, e);
    if (ok) {
        struct sinks x = {
            .grid = s->grid, .v = {{.cells = all, .n_keys = 1}}, .n = 1, .parts = row};
        size_t n_hosts = s->hosts.keys.n;

        if (hosts != NULL)
            x.v[0] = (struct sink){.cells = hosts, .n_keys = n_hosts, .keys = &s->hosts.keys};
        if (clients != NULL)
            x.v[x.n++] = (struct sink){
                .cells = clients, .n_keys = s->clients.keys.n, .keys = &s->clients.keys};
        add_all(s, &x);
        /* Sum up the hosts' segments: these are the segments of all. */
        for (size_t i = 0; hosts != NULL && i < n * n_hosts; i++)
            slice_merge(&all[i / n_hosts], &hosts[i]);
        if (s->total.present)
            s->segments = segments_of_cells(&s->grid, all, &s->total, order);
        ok = group_segments(s, &s->hosts, hosts, row, order, e) &&
             group_segments(s, &s->clients, clients, row, order, e);
    }
    free(all);
    free(row);
    free(hosts);
    free(clients);
    free(order);
    return ok;
}
