/* Segments (sections 4 and 6) of a set of requests and of its hosts and clients. */
#include "analysis_internal.h"

#include <stdlib.h>
#include <string.h>

/* A matrix of slices, hosts x segments, of up to this size is filled in one pass over the rows. A
 * larger one is never held: its hosts come one after another. */
#define DENSE_BYTES (4u << 20)

struct order {
    const struct slice_totals *slices;
    bool by_objects;
};

static int compare_slices(const void *a, const void *b, void *arg)
{
    const struct order *o = arg;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct slice_totals *x = &o->slices[i], *y = &o->slices[j];
    int c =
        o->by_objects ? slice_compare_objects(x, y) : (x->bytes > y->bytes) - (x->bytes < y->bytes);
    return c != 0 ? c : (i > j) - (i < j);
}

static struct segment_pick pick(const struct segment_grid *g, const struct slice_totals *slices,
                                size_t k)
{
    double seconds = (double)g->length_ns / 1e9;
    return (struct segment_pick){
        .start_ns = g->start_ns + (int64_t)k * g->length_ns,
        .bytes_per_s = (double)slices[k].bytes / seconds,
        .objects_per_s = slice_n_objects(&slices[k]) / seconds,
    };
}

/* Section 6, sorted by objects if the total has no bytes. `order` has room for g->n > 1 numbers. */
static struct segments segments_of(const struct segment_grid *g, const struct slice_totals *slices,
                                   const struct throughput *total, uint32_t *order)
{
    struct order o = {slices, !total->present || total->n_bytes == 0};
    for (size_t k = 0; k < g->n; k++)
        order[k] = (uint32_t)k;
    qsort_r(order, g->n, sizeof *order, compare_slices, &o);
    return (struct segments){
        .present = true,
        .duration_ns = g->length_ns,
        .n = (int64_t)g->n,
        .by_objects = o.by_objects,
        .slowest = pick(g, slices, order[analysis_quantile_index(g->n, 0)]),
        .median = pick(g, slices, order[analysis_quantile_index(g->n, 50)]),
        .fastest = pick(g, slices, order[analysis_quantile_index(g->n, 100)]),
    };
}

/* Keys x segments, if small enough to hold; else NULL. */
static bool matrix_new(struct slice_totals **matrix, const struct set *s, const struct set_group *g)
{
    *matrix = NULL;
    if (!set_is_grouped(s, g) || g->keys.n > DENSE_BYTES / sizeof **matrix / s->grid.n)
        return true;
    *matrix = calloc(g->keys.n * s->grid.n, sizeof **matrix);
    return *matrix != NULL;
}

/* One pass over all rows: into the hosts' matrix, else into `slices`; and into the clients' matrix.
 */
static void add_rows(const struct set *s, struct slice_totals *slices, struct slice_totals *hosts,
                     struct slice_totals *clients)
{
    const struct segment_grid grid = s->grid;
    for (size_t k = 0; k < s->n_scans; k++) {
        const struct table *t = s->scans[k]->t;
        for (size_t i = 0; i < t->n; i++) {
            struct attribution_request r = analysis_request(t, i);
            struct slice_totals *to =
                hosts == NULL ? slices : hosts + s->hosts.keys.of_place[t->place[i]] * grid.n;
            attribution_add(&grid, to, &r);
            if (clients != NULL)
                attribution_add(&grid, clients + s->clients.keys.of_place[t->place[i]] * grid.n,
                                &r);
        }
    }
}

/* Segments of each key of a group too large for a matrix: groups the rows, then one key after
 * another. */
static bool key_by_key(const struct set *s, struct set_group *g, uint32_t *order, struct err *e)
{
    struct group_rows *rows = calloc(s->n_scans, sizeof *rows);
    struct slice_totals *slices = malloc(s->grid.n * sizeof *slices);
    bool ok = (rows != NULL && slices != NULL) || err_set(e, "out of memory");
    for (size_t i = 0; ok && i < s->n_scans; i++)
        ok = group_rows_init(&rows[i], s->scans[i]->t, &g->keys, e);
    for (size_t k = 0; ok && k < g->keys.n; k++) {
        memset(slices, 0, s->grid.n * sizeof *slices);
        for (size_t i = 0; i < s->n_scans; i++) {
            for (size_t j = rows[i].first[k]; j < rows[i].first[k + 1]; j++) {
                struct attribution_request r = analysis_request(s->scans[i]->t, rows[i].row[j]);
                attribution_add(&s->grid, slices, &r);
            }
        }
        g->segments[k] = segments_of(&s->grid, slices, &g->totals[k], order);
    }
    for (size_t i = 0; rows != NULL && i < s->n_scans; i++)
        group_rows_fini(&rows[i]);
    free(rows);
    free(slices);
    return ok;
}

static bool group_segments(const struct set *s, struct set_group *g,
                           const struct slice_totals *matrix, uint32_t *order, struct err *e)
{
    if (!set_is_grouped(s, g))
        return true;
    if (matrix == NULL)
        return key_by_key(s, g, order, e);
    for (size_t k = 0; k < g->keys.n; k++)
        g->segments[k] = segments_of(&s->grid, matrix + k * s->grid.n, &g->totals[k], order);
    return true;
}

bool set_segments(struct set *s, struct err *e)
{
    size_t n = s->grid.n;
    if (n < 2)
        return true;
    struct slice_totals *slices = calloc(n, sizeof *slices), *hosts = NULL, *clients = NULL;
    uint32_t *order = malloc(n * sizeof *order);
    bool ok = slices != NULL && order != NULL && matrix_new(&hosts, s, &s->hosts) &&
              matrix_new(&clients, s, &s->clients);
    if (!ok)
        err_set(e, "out of memory");
    if (ok) {
        add_rows(s, slices, hosts, clients);
        /* The segments of all are the sum of the hosts' segments. */
        for (size_t k = 0; hosts != NULL && k < s->hosts.keys.n; k++)
            for (size_t i = 0; i < n; i++)
                slice_merge(&slices[i], &hosts[k * n + i]);
        if (s->total.present)
            s->segments = segments_of(&s->grid, slices, &s->total, order);
        ok = group_segments(s, &s->hosts, hosts, order, e) &&
             group_segments(s, &s->clients, clients, order, e);
    }
    free(slices);
    free(hosts);
    free(clients);
    free(order);
    return ok;
}
