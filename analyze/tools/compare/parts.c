/* The parts of an operation of a run: its hosts and sizes, and where the time went. */
#include "analyze/tools/compare/run_internal.h"

#include "analyze/data/group.h"
#include "analyze/summary/requests/sample.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- Parts ---- */

void run_fill_values(struct run_part *p, const struct statistics *s,
                     const struct statistics_latency *duration)
{
    p->too_thin = s->objects.mean.ok ? NULL : s->objects.mean.why;
    p->is_short = p->too_thin != NULL && s->n_requests >= STATS_MIN_REQUESTS;
    metric_values(p->value, s, duration);
}

/* The requests of an operation, for group_rows_by. */
struct source {
    const struct dataset *d;
    const struct table *t;
};

static size_t host_of(const void *source, size_t row)
{
    const struct source *x = source;

    return dataset_place(x->d, x->t, table_place(x->t, row))->host;
}

static size_t size_class_of(const void *source, size_t row)
{
    const struct source *x = source;

    return analysis_size_class(packed_get(&x->t->bytes, row));
}

/* Orders parts by kind, then by name or size. */
static int compare_parts(const void *a, const void *b)
{
    const struct run_part *x = a, *y = b;
    if (x->kind != y->kind)
        return (int)x->kind - (int)y->kind;
    if (x->kind == RUN_HOST)
        return strcmp(x->host, y->host);
    return (x->min_bytes > y->min_bytes) - (x->min_bytes < y->min_bytes);
}

const struct run_part *run_part_like(const struct run_op *op, const struct run_part *like)
{
    return bsearch(like, op->parts, op->n_parts, sizeof *op->parts, compare_parts);
}

bool run_add_parts(struct run_op *op, const struct dataset *d, const struct table *t,
                   const struct statistics *all, enum run_part_kind kind, struct err *e)
{
    size_t n_keys = kind == RUN_HOST ? d->hosts.n : ANALYSIS_N_SIZES, n_used = 0;
    size_t n_before = op->n_parts;
    struct group_rows rows;
    bool ok = group_rows_by(&rows, t->n, NULL, n_keys, kind == RUN_HOST ? host_of : size_class_of,
                            &(struct source){d, t}, e);
    const size_t *first = rows.first;

    for (size_t k = 0; ok && k < n_keys; k++)
        n_used += first[k + 1] > first[k];
    ok = ok && (n_used <= 1 || mem_room(&op->parts, op->n_parts + n_used, e));
    for (size_t k = 0; ok && n_used > 1 && k < n_keys; k++) {
        if (first[k + 1] == first[k])
            continue;
        const struct statistics_input in = {
            .dataset = d,
            .table = t,
            .row = rows.row + first[k],
            .n = first[k + 1] - first[k],
            .start_ns = all->start_ns,
            .end_ns = all->start_ns + all->duration_ns,
            .ok = all->ok,
            .concurrency = all->concurrency,
        };
        struct run_part *p = &op->parts[op->n_parts];
        *p = (struct run_part){.kind = kind};
        if (kind == RUN_HOST) {
            ok = mem_text(&p->host, d->hosts.v[k], e);
        } else {
            p->min_bytes = analysis_size_edges[k];
            p->max_bytes = k + 1 < ANALYSIS_N_SIZES ? analysis_size_edges[k + 1] : -1;
        }
        struct statistics *s = ok ? statistics_new(&in, e) : NULL;
        ok = s != NULL;
        op->n_parts += ok;
        if (ok)
            run_fill_values(p, s, &s->duration);
        else
            free(p->host);
        statistics_free(s);
    }
    if (op->n_parts > n_before)
        qsort(op->parts + n_before, op->n_parts - n_before, sizeof *op->parts, compare_parts);
    group_rows_fini(&rows);
    return ok;
}

/* ---- Where the time went ---- */

/* names: NULL if the parts have none. */
static bool init_tallies(struct run_tallies *t, char *const *names, size_t n, size_t n_blocks,
                         struct err *e)
{
    t->n = n;
    t->n_blocks = n_blocks;
    if (!mem_cleared(&t->sum, n * n_blocks + 1, e) ||
        (names != NULL && !mem_cleared(&t->names, n + 1, e)))
        return false;
    for (size_t k = 0; names != NULL && k < n; k++)
        if (!mem_text(&t->names[k], names[k], e))
            return false;
    return true;
}

void run_free_tallies(struct run_tallies *t)
{
    for (size_t k = 0; t->names != NULL && k < t->n; k++)
        free(t->names[k]);
    free(t->names);
    free(t->sum);
}

bool run_fill_tallies(struct run_op *op, const struct dataset *d, const struct table *t,
                      const struct statistics *s, struct err *e)
{
    size_t n_times = (size_t)int64_min(s->duration_ns / RUN_TALLY_NS + 1, RUN_MAX_TIMES);
    int64_t block_ns = s->duration_ns / RUN_TALLY_BLOCKS + 1;
    struct run_tallies *by = op->tally;

    if (!init_tallies(&by[RUN_BY_HOST], d->hosts.v, d->hosts.n, RUN_TALLY_BLOCKS, e) ||
        !init_tallies(&by[RUN_BY_CLIENT], d->clients.v, d->clients.n, RUN_TALLY_BLOCKS, e) ||
        !init_tallies(&by[RUN_BY_SIZE], NULL, ANALYSIS_N_SIZES, RUN_TALLY_BLOCKS, e) ||
        !init_tallies(&by[RUN_BY_TIME], NULL, n_times, 1, e))
        return false;
    for (size_t i = 0; i < t->n; i++) {
        int64_t since_ns = t->start[i] - s->start_ns;
        if (table_failed(t, i) || since_ns < 0 || since_ns >= s->duration_ns)
            continue;
        const struct place *at = dataset_place(d, t, table_place(t, i));
        size_t time = (size_t)(since_ns / RUN_TALLY_NS), block = (size_t)(since_ns / block_ns);
        const size_t key[RUN_N_TALLIES] = {
            [RUN_BY_HOST] = at->host,
            [RUN_BY_CLIENT] = at->client,
            [RUN_BY_SIZE] = analysis_size_class(packed_get(&t->bytes, i)),
            [RUN_BY_TIME] = time < n_times ? time : n_times - 1,
        };
        double ns = (double)(table_end(t, i) - t->start[i]);
        for (size_t kind = 0; kind < RUN_N_TALLIES; kind++) {
            size_t at_block = kind == RUN_BY_TIME ? 0 : block;
            struct run_sum *to = &by[kind].sum[key[kind] * by[kind].n_blocks + at_block];

            to->n++;
            to->ns += ns;
        }
    }
    return true;
}
