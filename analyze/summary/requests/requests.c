/* Request statistics (docs/how-the-numbers-are-made.md, section 5) of one operation, in pieces that
 * may run at the same time: each fills fields that no other one touches. */
#include "analyze/summary/requests/requests.h"

#include "analyze/summary/requests/access.h"

#include "libcommon/mem.h"

#include <stdlib.h>

static struct parts one_part(const int64_t *room)
{
    return (struct parts){.n = 1, .room = room};
}

static struct parts parts_of(const struct set_group *g)
{
    return (struct parts){.n = g->keys.n, .of_place = g->keys.of_place, .room = g->n_inside};
}

bool requests_work_init(struct requests_work *w, struct operation *op, const struct set *s,
                        enum analysis_depth depth, struct err *e)
{
    struct requests *r = &op->requests;
    const struct table *t = s->scans[0]->t;

    *w = (struct requests_work){
        .brief = depth >= ANALYSIS_BRIEF,
        .op = op,
        .s = s,
        .rows = {.t = t, .scan = s->scans[0], .range = s->ok, .n = t->n},
        .hosts = parts_of(&s->hosts),
        .clients = parts_of(&s->clients),
    };
    if (!w->brief && op->clients != NULL &&
        !mem_cleared(&op->client_requests, s->clients.keys.n, e))
        return false;
    if (depth == ANALYSIS_TOTALS || !segment_range_usable(&s->ok) || s->n_inside == 0)
        return true;
    r->present = true;
    r->n = s->n_inside;
    r->single_size = s->scans[0]->min_bytes == s->scans[0]->max_bytes;
    if (r->single_size)
        r->object_size_bytes = s->scans[0]->min_bytes;
    if (!w->brief && w->hosts.n > 1 && !mem_cleared(&r->hosts, w->hosts.n, e))
        return false;
    w->by_host = r->hosts;
    return true;
}

/* Fills the times of a column, which are `at` bytes from the beginning of struct durations: of each
 * host where there is one size, and of each client. */
static bool fill_column(const struct requests_work *w, const struct packed *column, size_t at,
                        struct err *e)
{
    struct durations *clients = w->op->client_requests;

    return (w->by_host == NULL || !w->op->requests.single_size ||
            sample_times(&w->rows, &w->hosts, column,
                         (struct times *)((char *)&w->by_host->single + at), sizeof *w->by_host,
                         e)) &&
           (clients == NULL ||
            sample_times(&w->rows, &w->clients, column, (struct times *)((char *)clients + at),
                         sizeof *clients, e));
}

bool requests_times(void *work, struct err *e)
{
    const struct requests_work *w = work;

    return fill_column(w, &w->rows.t->dur, offsetof(struct durations, dur), e) &&
           fill_column(w, &w->rows.t->ttfb, offsetof(struct durations, ttfb), e);
}

bool requests_access(void *work, struct err *e)
{
    static const int64_t all_sizes[] = {0, INT64_MAX};
    struct requests_work *w = work;
    struct requests *r = &w->op->requests;
    struct access a;
    bool ok = access_init(&a, w->s->d, w->rows.t, all_sizes, 1, e);

    if (ok && a.repeated[0]) {
        const int64_t room = (int64_t)a.n[0];
        const struct parts all = one_part(&room);
        struct rows rows = {.t = w->rows.t, .pair = a.pair, .n = a.n[0]};

        ok = sample_times(&rows, &all, &rows.t->dur, &r->first_access.dur, 0, e) &&
             sample_times(&rows, &all, &rows.t->ttfb, &r->first_access.ttfb, 0, e);
        rows.shift = 32;
        ok = ok && sample_times(&rows, &all, &rows.t->dur, &r->last_access.dur, 0, e) &&
             sample_times(&rows, &all, &rows.t->ttfb, &r->last_access.ttfb, 0, e);
    }
    access_fini(&a);
    return ok;
}

/* ---- Several sizes ---- */

size_t requests_join_classes(const int64_t *n_by_class, int64_t n, uint8_t *of_class,
                             int64_t *edges)
{
    size_t first = 0, last = ANALYSIS_N_SIZES - 1;
    while (n_by_class[first] == 0)
        first++;
    while (n_by_class[last] == 0)
        last--;
    int64_t least = n / 20 > 1 ? n / 20 : 1, in_bucket = 0;
    size_t n_buckets = 0;
    edges[0] = analysis_size_edges[first];
    for (size_t c = first; c <= last; c++) {
        in_bucket += n_by_class[c];
        of_class[c] = (uint8_t)n_buckets;
        if (in_bucket >= least) {
            edges[++n_buckets] = analysis_size_edges[c + 1];
            in_bucket = 0;
        }
    }
    /* Classes left over at the top join the last bucket. */
    for (size_t c = first; c <= last; c++)
        if (of_class[c] == n_buckets)
            of_class[c]--;
    edges[n_buckets] = analysis_size_edges[last + 1];
    return n_buckets;
}

static bool first_access_by_size(struct requests *r, const struct requests_work *w,
                                 const int64_t *edges, struct err *e)
{
    struct access a;
    bool ok = access_init(&a, w->s->d, w->rows.t, edges, r->n_sizes, e);

    for (size_t b = 0; ok && b < r->n_sizes; b++) {
        if (!a.repeated[b])
            continue;
        const int64_t room = (int64_t)a.n[b];
        const struct parts all = one_part(&room);
        struct rows rows = {.t = w->rows.t, .pair = a.pair + a.first[b], .n = a.n[b]};
        ok = sample_sized(&rows, &all, &r->sizes[b].first_access, sizeof *r->sizes, e);
    }
    access_fini(&a);
    return ok;
}

bool requests_sizes(void *work, struct err *e)
{
    struct requests_work *w = work;
    struct requests *r = &w->op->requests;
    int64_t n_by_class[ANALYSIS_N_SIZES] = {0}, n = 0;
    __int128 bytes = 0;
    size_t row;

    for (size_t b = 0; b < rows_n_blocks(&w->rows); b++) {
        const struct rows_block block = rows_block(&w->rows, b);
        for (size_t k = block.from; k < block.to; k++) {
            if (!rows_get(&w->rows, &block, k, &row))
                continue;
            int64_t size = packed_get(&w->rows.t->bytes, row);
            n_by_class[analysis_size_class(size)]++;
            bytes += size;
            n++;
        }
    }
    uint8_t of_class[ANALYSIS_N_SIZES] = {0};
    int64_t edges[ANALYSIS_N_SIZES + 1], room[ANALYSIS_N_SIZES] = {0};
    r->mean_bytes = (double)bytes / (double)n;
    r->n_sizes = requests_join_classes(n_by_class, n, of_class, edges);
    if (!mem_cleared(&r->sizes, r->n_sizes, e))
        return false;
    for (size_t c = 0; c < ANALYSIS_N_SIZES; c++)
        room[of_class[c]] += n_by_class[c];
    for (size_t b = 0; b < r->n_sizes; b++) {
        r->sizes[b].min_bytes = edges[b];
        r->sizes[b].max_bytes = edges[b + 1] == INT64_MAX ? -1 : edges[b + 1];
    }
    const struct parts by_size = {.n = r->n_sizes, .of_class = of_class, .room = room};
    return sample_sized(&w->rows, &by_size, &r->sizes[0].all, sizeof *r->sizes, e) &&
           sample_times(&w->rows, &by_size, &w->rows.t->dur, &r->sizes[0].dur, sizeof *r->sizes,
                        e) &&
           (w->by_host == NULL ||
            sample_sized(&w->rows, &w->hosts, &w->by_host->sized, sizeof *w->by_host, e)) &&
           (w->brief || first_access_by_size(r, w, edges, e));
}

/* ---- Together ---- */

void requests_work_finish(struct requests_work *w)
{
    if (w->by_host == NULL)
        return;
    struct requests *r = &w->op->requests;
    const struct set_group *g = &w->s->hosts;
    for (size_t k = 0; k < g->keys.n; k++) {
        if (g->n_inside[k] == 0)
            continue;
        r->hosts[r->n_hosts] = r->hosts[k];
        r->hosts[r->n_hosts++].host = w->s->d->hosts.v[g->keys.id[k]];
    }
    if (r->n_hosts < 2) /* one host: its figures are those of all */
        r->n_hosts = 0;
}

void requests_free(struct requests *r)
{
    free(r->sizes);
    free(r->hosts);
}
