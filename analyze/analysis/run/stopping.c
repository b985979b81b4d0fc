#include "analyze/analysis/run/stopping.h"

#include "analyze/analysis/run/analysis.h"
#include "analyze/data/slices.h"
#include "analyze/summary/model/role.h"
#include "analyze/summary/sets/scan.h"
#include "libcommon/attribution.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* At a stop there are 24 or 25 segments. */
#define N_SEGMENTS 24

/* Iterates over the requests of some tables in order of their end, 16 bytes each. */
struct ordered {
    const struct table *const *tables; /* borrowed */
    size_t n_tables;
    struct ordered_request {
        int64_t end_ns;
        uint32_t table, row;
    } * v;
    size_t n, next;
    int64_t first_start_ns;
};

static int compare_ends(const void *a, const void *b)
{
    const struct ordered_request *x = a, *y = b;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static bool ordered_init(struct ordered *o, const struct table *const *tables, size_t n_tables,
                         struct err *e)
{
    size_t n = 0;
    for (size_t k = 0; k < n_tables; k++)
        n += tables[k]->n;
    *o = (struct ordered){.tables = tables, .n_tables = n_tables, .first_start_ns = INT64_MAX};
    if (!mem_new(&o->v, n, e))
        return false;
    for (size_t k = 0; k < n_tables; k++) {
        const struct table *t = tables[k];
        for (size_t i = 0; i < t->n; i++) {
            o->v[o->n++] = (struct ordered_request){table_end(t, i), (uint32_t)k, (uint32_t)i};
            o->first_start_ns = int64_min(t->start[i], o->first_start_ns);
        }
    }
    qsort(o->v, o->n, sizeof *o->v, compare_ends);
    return true;
}

static bool next_request(void *ordered, uint32_t *thread, struct attribution_request *out)
{
    struct ordered *o = ordered;
    if (o->next == o->n)
        return false;
    const struct ordered_request *x = &o->v[o->next++];
    const struct table *t = o->tables[x->table];
    uint32_t id = table_thread(t, x->row);
    *thread = o->n_tables == 1 ? id : (uint32_t)table_thread_index(t, id);
    *out = analysis_request(t, x->row);
    return true;
}

static bool replay_op(struct stopping_op *op, const struct table *const *tables, size_t n_tables,
                      int64_t dur_ns, double pct, struct err *e)
{
    struct ordered o;

    op->dur_ns = dur_ns;
    op->pct = pct;
    bool ok = ordered_init(&o, tables, n_tables, e) &&
              autoterm_replay(o.first_start_ns, dur_ns, pct, next_request, &o, &op->stop, e);
    op->n_requests = ok ? o.next : 0;
    for (size_t i = 0; i < op->n_requests; i++)
        op->n_errors += table_failed(tables[o.v[i].table], o.v[i].row);
    free(o.v);
    return ok;
}

/* Replays each operation, or a mixed run as a whole. `a` must not have dropped any requests. */
static bool replay_all(struct stopping *s, const struct analysis *a, struct dataset *d,
                       int64_t dur_ns, double pct, struct err *e)
{
    const struct table **tables = NULL;
    bool ok = mem_new(&tables, d->n_tables, e) && mem_cleared(&s->ops, a->n_operations, e);

    if (ok && a->mixed) {
        for (size_t i = 0; i < d->n_tables; i++)
            tables[i] = &d->tables[i];
        s->n_ops = 1;
        s->ops[0].op = "";
        ok = replay_op(&s->ops[0], tables, d->n_tables, dur_ns, pct, e);
    }
    for (size_t k = 0; ok && !a->mixed && k < a->n_operations; k++) {
        struct stopping_op *op = &s->ops[s->n_ops++];
        op->op = a->operations[k].op;
        op->is_beside = !role_is_benchmark(a->operations[k].role);
        tables[0] = dataset_table(d, op->op);
        ok = tables[0] == NULL || replay_op(op, tables, 1, dur_ns, pct, e);
    }
    free(tables);
    return ok;
}

/* Tests the last 24 segments that the rule saw for a drift. */
static bool fill_drift(struct stopping_op *op, const struct analysis *a, int index, struct err *e)
{
    const struct autoterm_window *w = &op->stop.window;
    struct slice_grid grid;
    struct series_row *rows = NULL;
    double rate[N_SEGMENTS];
    size_t n = 0;

    slice_grid_init(&grid, w->end_ns - N_SEGMENTS * w->segment_ns, w->segment_ns, N_SEGMENTS);
    bool ok = analysis_series_on(a, index, -1, &grid, &rows, &n, e);
    for (size_t i = 0; i < n; i++)
        rate[i] = op->by_objects ? rows[i].objects : (double)rows[i].bytes;
    free(rows);
    return ok && (n != N_SEGMENTS || stats_drift(rate, n, &op->drift, e));
}

static bool rate_op(struct stopping_op *op, const struct analysis *a, int index, struct err *e)
{
    op->whole = index < 0 ? *throughput_shown(&a->total.judged, &a->total.throughput)
                          : *throughput_shown(&a->operations[index].judged,
                                              &a->operations[index].throughput);
    op->by_objects = op->whole.n_bytes == 0;
    const struct autoterm_window *w = &op->stop.window;
    double whole = op->by_objects ? op->whole.objects_per_s : op->whole.bytes_per_s;
    double then = op->by_objects ? w->objects_per_s : w->bytes_per_s;
    op->off_frac = op->stop.stopped && op->whole.present && whole > 0 ? then / whole - 1 : NAN;
    return !op->stop.stopped || fill_drift(op, a, index, e);
}

static bool rate_all(struct stopping *s, const struct analysis *a, struct err *e)
{
    if (s->n_ops == 1 && s->ops[0].op[0] == '\0' && a->mixed)
        return rate_op(&s->ops[0], a, -1, e);
    for (size_t k = 0; k < a->n_operations; k++)
        for (size_t i = 0; i < s->n_ops; i++)
            if (strcmp(s->ops[i].op, a->operations[k].op) == 0 &&
                !rate_op(&s->ops[i], a, (int)k, e))
                return false;
    return true;
}

bool stopping_replay(struct stopping *s, struct dataset *d, const struct analysis_options *options,
                     int64_t dur_ns, double pct, struct err *e)
{
    struct analysis a = {0};
    struct analysis_options how = *options;

    how.depth = ANALYSIS_TOTALS;
    how.range = RANGE_FULL; /* drops nothing: the replay must see every request */
    *s = (struct stopping){0};
    bool ok = analysis_run(&a, d, &how, e) && replay_all(s, &a, d, dur_ns, pct, e);
    analysis_free(&a);
    return ok;
}

bool stopping_run(struct stopping *s, struct dataset *d, const struct analysis_options *options,
                  int64_t dur_ns, double pct, struct err *e)
{
    struct analysis a = {0};
    struct analysis_options how = *options;

    if (!stopping_replay(s, d, options, dur_ns, pct, e))
        return false;
    how.depth = ANALYSIS_TOTALS;
    how.range = RANGE_AUTO;
    how.from.given = how.to.given = false; /* the first analysis has applied them */
    bool ok = analysis_run(&a, d, &how, e) && rate_all(s, &a, e);
    analysis_free(&a);
    return ok;
}

const struct stopping_op *stopping_of(const struct stopping *s, const char *op)
{
    for (size_t i = 0; i < s->n_ops; i++)
        if (strcmp(s->ops[i].op, op) == 0)
            return &s->ops[i];
    return NULL;
}

void stopping_free(struct stopping *s)
{
    free(s->ops);
    *s = (struct stopping){0};
}
