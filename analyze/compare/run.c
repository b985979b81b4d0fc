#include "analyze/compare/run.h"
#include "analyze/compare/run_seconds.h"
#include "analyze/read/aggfile.h"

#include "analyze/analysis/confidence.h"
#include "analyze/analysis/flow.h"
#include "analyze/base/csort.h"
#include "analyze/base/tasks.h"
#include "libcommon/hist.h"
#include "libcommon/mem.h"
#include "libcommon/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Figures of the report ---- */

static void fill_rates(struct run_figures *f, const struct throughput *t, const struct segments *s)
{
    if (!t->present)
        return;
    bool has_bytes = t->n_bytes > 0;
    f->objects_per_s[RUN_AVERAGE] = t->objects_per_s;
    if (has_bytes)
        f->bytes_per_s[RUN_AVERAGE] = t->bytes_per_s;
    f->n_segments = s->present ? (double)s->n : NAN;
    const struct segment_pick *picks[RUN_N_RATES] = {
        [RUN_FASTEST] = &s->fastest, [RUN_MEDIAN] = &s->median, [RUN_SLOWEST] = &s->slowest};
    for (int i = RUN_FASTEST; s->present && i < RUN_N_RATES; i++) {
        f->objects_per_s[i] = picks[i]->objects_per_s;
        if (has_bytes)
            f->bytes_per_s[i] = picks[i]->bytes_per_s;
    }
}

/* Fills the figures of n > 0 times, quantiles by the report's rule. */
static bool fill_times(double *out, const int64_t *v, size_t n, struct err *e)
{
    const size_t ranks[5] = {quantile_index(n, 500), quantile_index(n, 900), quantile_index(n, 990),
                             0, n - 1};
    int64_t q[5];
    __int128 sum = 0;

    if (!hist_select(v, n, ranks, 5, q))
        return mem_none(e);
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    out[RUN_MEAN] = (double)sum / (double)n;
    out[RUN_Q50] = (double)q[0];
    out[RUN_Q90] = (double)q[1];
    out[RUN_Q99] = (double)q[2];
    out[RUN_BEST] = (double)q[3];
    out[RUN_WORST] = (double)q[4];
    return true;
}

/* The successful requests in the active range. */
static inline bool is_inside(const struct statistics *s, const struct table *t, size_t i)
{
    return table_done_within(t, i, s->start_ns, s->start_ns + s->duration_ns);
}

/* Counts durations by histogram bucket, and keeps what is not empty. */
static bool fill_counts(struct run_op *op, const struct table *t, const struct statistics *s,
                        struct err *e)
{
    size_t first = 0, end = HIST_N_INDEXES;
    uint64_t *count;
    bool ok = mem_cleared(&count, HIST_N_INDEXES, e);

    if (!ok)
        return false;
    for (size_t i = 0; i < t->n; i++)
        if (is_inside(s, t, i))
            count[hist_index(packed_get(&t->dur, i))]++;
    while (first < end && count[first] == 0)
        first++;
    while (first < end && count[end - 1] == 0)
        end--;
    if (first < end) {
        ok = mem_new(&op->count, end - first, e);
        if (ok)
            memcpy(op->count, count + first, (end - first) * sizeof *op->count);
        op->first_bucket = first;
        op->n_buckets = end - first;
    }
    free(count);
    return ok;
}

/* Durations and TTFBs of the successful requests in the active range, of whatever sizes. */
static bool fill_latencies(struct run_op *op, const struct table *t, const struct statistics *s,
                           struct err *e)
{
    int64_t *v = NULL;
    bool ok = mem_new(&v, t->n + 1, e);

    for (int ttfb = 0; ok && ttfb < 2; ttfb++) {
        size_t n = 0;
        for (size_t i = 0; i < t->n; i++)
            if (is_inside(s, t, i) && (!ttfb || packed_has(&t->ttfb, i)))
                v[n++] = packed_get(ttfb ? &t->ttfb : &t->dur, i);
        if (n > 0)
            ok = fill_times(ttfb ? op->figures.ttfb_ns : op->figures.duration_ns, v, n, e);
    }
    free(v);
    return ok;
}

/* The same of requests of one size: the report has them. */
static void take_times(double *to, const struct times *t)
{
    if (!t->present)
        return;
    to[RUN_MEAN] = t->mean_ns;
    to[RUN_Q50] = (double)t->p50_ns;
    to[RUN_Q90] = (double)t->p90_ns;
    to[RUN_Q99] = (double)t->p99_ns;
    to[RUN_BEST] = (double)t->fastest_ns;
    to[RUN_WORST] = (double)t->slowest_ns;
}

/* ---- Faults ---- */

bool run_is_fault(const struct finding *f)
{
    return f->severity == FINDING_PROBLEM;
}

#define MAX_FAULTS 16

/* Spans of time, one after another. */
struct spans {
    struct span v[MAX_FAULTS];
    size_t n;
};

/* Faults that begin or end within the range; pauses, which return, span nearly all of a run. */
static void find_faults(struct spans *out, const struct findings *all, const char *op,
                        const struct span *range)
{
    out->n = 0;
    for (size_t i = 0; i < all->n && out->n < MAX_FAULTS; i++) {
        const struct finding *f = &all->v[i];
        struct span s = *range;

        if (!run_is_fault(f) || f->period_ns > 0 || (f->op != NULL && strcmp(f->op, op) != 0))
            continue;
        if (f->has_start && f->start_ns > s.start_ns)
            s.start_ns = f->start_ns;
        if (f->has_end && f->end_ns < s.end_ns)
            s.end_ns = f->end_ns;
        if (s.start_ns >= s.end_ns || s.end_ns - s.start_ns == range->end_ns - range->start_ns)
            continue;
        /* What it shares with others becomes one span. */
        for (size_t k = 0; k < out->n;) {
            const struct span *other = &out->v[k];
            if (other->end_ns < s.start_ns || s.end_ns < other->start_ns) {
                k++;
                continue;
            }
            s.start_ns = int64_min(s.start_ns, other->start_ns);
            s.end_ns = int64_max(s.end_ns, other->end_ns);
            out->v[k] = out->v[--out->n];
        }
        out->v[out->n++] = s;
    }
}

static int64_t shared_ns(const struct span *a, int64_t start_ns, int64_t end_ns)
{
    int64_t from = a->start_ns > start_ns ? a->start_ns : start_ns;
    int64_t to = a->end_ns < end_ns ? a->end_ns : end_ns;

    return to > from ? to - from : 0;
}

/* Leaves out the segments that a fault touches; returns how many are left. */
static size_t leave_out(double *rate, const struct segment_grid *g, const struct spans *faults)
{
    size_t n = 0;
    for (size_t j = 0; j < g->n; j++) {
        int64_t start_ns = g->start_ns + (int64_t)j * g->length_ns, ns = 0;
        for (size_t k = 0; k < faults->n; k++)
            ns += shared_ns(&faults->v[k], start_ns, start_ns + g->length_ns);
        rate[n] = rate[j];
        n += ns == 0;
    }
    return n;
}

/* The rate of a column without the faults; a request counts by the share of its time there. The
 * interval is that of the segments left, put one behind the other. */
static bool fill_clear_rate(struct run_value *out, const struct spans *faults, int64_t left_ns,
                            const struct table *t, const struct packed *column,
                            const struct window *w, struct err *e)
{
    struct flow flow = {0};
    double sum = 0, *rate = NULL;
    int64_t n_requests = 0;
    const struct span range = {true, w->start_ns, w->end_ns};
    bool ok = flow_init(&flow, w->grid.n, e) && mem_new(&rate, w->grid.n, e);

    for (size_t i = 0; ok && i < t->n; i++) {
        int64_t start_ns = t->start[i], end_ns = table_end(t, i);
        int64_t ns = shared_ns(&range, start_ns, end_ns);

        for (size_t k = 0; k < faults->n; k++)
            ns -= shared_ns(&faults->v[k], start_ns, end_ns);
        if (table_failed(t, i) || end_ns <= start_ns)
            continue;
        const struct way way = way_over(w, start_ns, end_ns);
        flow_add_parts(&flow, &way, packed_get(column, i));
        sum += (double)ns / (double)(end_ns - start_ns) * (double)packed_get(column, i);
        n_requests += ns > 0;
    }
    if (ok)
        flow_rates(&flow, w->grid.n, w->grid.length_ns, rate);
    out->present = sum > 0;
    ok = ok && stats_mean(sum / ((double)left_ns / 1e9), rate, leave_out(rate, &w->grid, faults),
                          n_requests, &out->ci, e);
    flow_fini(&flow);
    free(rate);
    return ok;
}

static bool fill_clear(struct run_op *op, const struct findings *all, const struct table *t,
                       const struct statistics *s, struct err *e)
{
    struct window w = {.start_ns = s->start_ns, .end_ns = s->start_ns + s->duration_ns};
    struct spans faults;
    int64_t left_ns = s->duration_ns;

    find_faults(&faults, all, op->op, &(struct span){true, w.start_ns, w.end_ns});
    for (size_t k = 0; k < faults.n; k++)
        left_ns -= faults.v[k].end_ns - faults.v[k].start_ns;
    if (faults.n == 0 || left_ns < s->duration_ns / 4)
        return true;
    segment_grid_init(&w.grid, s->start_ns, s->segment_ns, s->n_segments);
    return fill_clear_rate(&op->clear[RUN_THROUGHPUT], &faults, left_ns, t, &t->bytes, &w, e) &&
           fill_clear_rate(&op->clear[RUN_OBJECTS], &faults, left_ns, t, &t->objects, &w, e);
}

/* ---- Parts ---- */

static void fill_values(struct run_part *p, const struct statistics *s)
{
    p->too_thin = s->objects.mean.ok ? NULL : s->objects.mean.why;
    metric_values(p->value, s);
}

static size_t key_of(const struct dataset *d, const struct table *t, size_t i,
                     enum run_part_kind kind)
{
    return kind == RUN_HOST ? dataset_place(d, t, table_place(t, i))->host
                            : analysis_size_class(packed_get(&t->bytes, i));
}

/* Parts of one kind by name or size. */
static int compare_parts(const void *a, const void *b)
{
    const struct run_part *x = a, *y = b;
    if (x->kind == RUN_HOST)
        return strcmp(x->host, y->host);
    return (x->min_bytes > y->min_bytes) - (x->min_bytes < y->min_bytes);
}

/* One part for each host or size class that has rows, if there are several. */
static bool add_parts(struct run_op *op, const struct dataset *d, const struct table *t,
                      const struct statistics *all, enum run_part_kind kind, struct err *e)
{
    size_t n_keys = kind == RUN_HOST ? d->hosts.n : ANALYSIS_N_SIZES, n_used = 0;
    size_t n_before = op->n_parts, *first = NULL;
    uint32_t *row = NULL;
    bool ok = mem_cleared(&first, n_keys + 2, e) && mem_new(&row, t->n, e);

    for (size_t i = 0; ok && i < t->n; i++)
        csort_count(first, key_of(d, t, i, kind));
    for (size_t k = 0; ok && k < n_keys; k++)
        n_used += first[k + 2] > 0;
    if (ok)
        csort_sum(first, n_keys);
    for (size_t i = 0; ok && i < t->n; i++)
        row[csort_place(first, key_of(d, t, i, kind))] = (uint32_t)i;
    ok = ok && (n_used <= 1 || mem_room(&op->parts, op->n_parts + n_used, e));
    for (size_t k = 0; ok && n_used > 1 && k < n_keys; k++) {
        if (first[k + 1] == first[k])
            continue;
        const struct statistics_input in = {
            .dataset = d,
            .table = t,
            .row = row + first[k],
            .n = first[k + 1] - first[k],
            .start_ns = all->start_ns,
            .end_ns = all->start_ns + all->duration_ns,
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
            fill_values(p, s);
        else
            free(p->host);
        statistics_free(s);
    }
    if (op->n_parts > n_before)
        qsort(op->parts + n_before, op->n_parts - n_before, sizeof *op->parts, compare_parts);
    free(first);
    free(row);
    return ok;
}

/* ---- One operation ---- */

static void fill_sizes(struct run_op *op, const struct requests *q)
{
    op->has_size = q->present;
    op->single_size = q->single_size;
    op->mean_bytes = q->single_size ? (double)q->object_size_bytes : q->mean_bytes;
}

static const struct table *table_named(const struct dataset *d, const char *op)
{
    for (size_t k = 0; k < d->n_tables; k++)
        if (strcmp(d->ops.v[d->tables[k].op], op) == 0)
            return &d->tables[k];
    return NULL;
}

static bool fill_op(struct run_op *op, const struct analysis *a, const struct operation *from,
                    bool with_parts, struct err *e)
{
    const struct dataset *d = a->dataset;
    const struct table *t = table_named(d, from->op);
    const struct statistics *s = from->statistics;

    if (!run_op_init(op, from->op, e))
        return false;
    op->n_requests = from->n_requests;
    op->n_errors = from->n_errors;
    op->concurrency = from->concurrency;
    op->n_hosts = from->n_hosts;
    op->n_clients = from->n_clients;
    op->objects_per_op = from->objects_per_op;
    op->has_range = from->range.present;
    op->range_ns = from->range.end_ns - from->range.start_ns;
    fill_sizes(op, &from->requests);
    fill_rates(&op->figures, &from->throughput, &from->segments);
    if (s == NULL)
        return true;
    fill_values(&op->parts[0], s);
    bool one_size = from->requests.present && from->requests.single_size;
    if (one_size) {
        take_times(op->figures.duration_ns, &from->requests.all.dur);
        take_times(op->figures.ttfb_ns, &from->requests.all.ttfb);
    }
    return fill_clear(op, &a->findings, t, s, e) && (one_size || fill_latencies(op, t, s, e)) &&
           fill_counts(op, t, s, e) &&
           (!with_parts ||
            (add_parts(op, d, t, s, RUN_HOST, e) && add_parts(op, d, t, s, RUN_SIZE, e)));
}

/* ---- The run ---- */

/* An operation on its way, one of several at the same time. */
struct work {
    const struct analysis *a;
    const struct operation *from;
    struct run_op *op;
    bool with_parts;
};

static bool do_work(void *work, struct err *e)
{
    const struct work *w = work;
    return fill_op(w->op, w->a, w->from, w->with_parts, e);
}

static bool fill_ops(struct run *r, const struct analysis *a, const struct run_options *o,
                     struct err *e)
{
    struct work *work = NULL;
    struct task *tasks = NULL;
    bool ok = mem_new(&work, a->n_operations + 1, e) && mem_new(&tasks, a->n_operations + 1, e) &&
              mem_cleared(&r->ops, a->n_operations + 1, e);

    for (size_t k = 0; ok && k < a->n_operations; k++) {
        const struct operation *from = &a->operations[k];
        if (from->n_requests == 0)
            continue;
        work[r->n_ops] = (struct work){a, from, &r->ops[r->n_ops], o->with_parts};
        tasks[r->n_ops] = (struct task){do_work, &work[r->n_ops], (uint64_t)from->n_requests};
        r->n_ops++;
    }
    ok = ok && tasks_run(tasks, r->n_ops, a->options.threads, e);
    for (size_t k = 0; ok && k + 1 < r->n_ops; k++)
        r->ops[k].is_preparation = !a->mixed && o->filter->ops.n == 0;
    run_fill_shares(r);
    free(work);
    free(tasks);
    return ok;
}

static bool fill_run(struct run *r, const struct analysis *a, const struct run_options *o,
                     struct err *e)
{
    const struct dataset *d = a->dataset;
    r->n_rows = a->n_rows;
    r->mixed = a->mixed;
    r->range = a->range;
    run_take_recorded(r, d);
    r->start_ns = INT64_MAX;
    r->end_ns = INT64_MIN;
    for (size_t i = 0; i < d->n_inputs; i++) {
        r->start_ns = int64_min(r->start_ns, d->inputs[i].first_start_ns);
        r->end_ns = int64_max(r->end_ns, d->inputs[i].last_end_ns);
    }
    return run_take_findings(r, &a->findings, e) && fill_ops(r, a, o, e);
}

struct loading {
    struct run *run;
    const struct run_options *options;
};

static bool load_rows(void *loading, struct err *e)
{
    const struct loading *l = loading;
    const struct run_options *o = l->options;
    const char *path = l->run->path;
    struct load_analysis how = *o->analysis;
    struct dataset d = {0};
    struct analysis a = {0};

    if (aggfile_is(path) || aggfile_is_sums(path)) {
        bool read = aggfile_is(path) ? run_seconds_aggregate(l->run, o->filter, e)
                                     : run_seconds_sums(l->run, o->filter, e);
        return read && (l->run->n_ops > 0 || err_set(e, "%s: no requests", path));
    }
    if (o->by_second) {
        bool reduced = load_dataset(&d, &path, 1, o->filter, o->input, e) &&
                       run_seconds_capture(l->run, &d, (unsigned)o->input->threads, e);
        dataset_free(&d);
        return reduced;
    }
    how.depth = ANALYSIS_NO_ACCESS;
    bool ok = load_dataset(&d, &path, 1, o->filter, o->input, e) &&
              load_run_analysis(&a, &d, o->filter, &how, o->input, false, e) &&
              fill_run(l->run, &a, o, e) && (o->seen == NULL || o->seen(o->seen_ctx, &a, e));
    analysis_free(&a);
    dataset_free(&d);
    return ok;
}

static bool load_sum(void *loading, struct err *e)
{
    const struct loading *l = loading;
    return sha256_file(l->run->path, &l->run->sha256, e);
}

bool run_load(struct run *r, const char *path, const struct run_options *o, struct err *e)
{
    struct loading l = {r, o};
    struct task tasks[] = {{load_rows, &l, 2}, {load_sum, &l, 1}};

    *r = (struct run){.path = NULL};
    return mem_text(&r->path, path, e) &&
           tasks_run(tasks, o->with_sum ? 2 : 1, o->input->threads, e);
}

void run_free(struct run *r)
{
    for (size_t k = 0; k < r->n_ops; k++) {
        struct run_op *op = &r->ops[k];
        for (size_t i = 0; op->parts != NULL && i < op->n_parts; i++)
            free(op->parts[i].host);
        free(op->parts);
        free(op->count);
        free(op->rate);
        free(op->op);
    }
    json_decref(r->recorded.settings);
    findings_free(&r->findings);
    intern_fini(&r->names);
    free(r->ops);
    free(r->path);
    *r = (struct run){0};
}

/* The sum of the run's file. */
static bool sum_of(const struct run *r, struct sha256_text *sum, struct err *e)
{
    *sum = r->sha256;
    return sum->s[0] != '\0' || sha256_file(r->path, sum, e);
}

bool run_is_same(const struct run *a, const struct run *b, bool *same, struct err *e)
{
    struct sha256_text x, y;
    *same = false;
    if (a->n_file_bytes != b->n_file_bytes)
        return true;
    if (!sum_of(a, &x, e) || !sum_of(b, &y, e))
        return false;
    *same = x.s[0] != '\0' && strcmp(x.s, y.s) == 0;
    return true;
}

const struct run_op *run_op_named(const struct run *r, const char *op)
{
    for (size_t k = 0; k < r->n_ops; k++)
        if (strcmp(r->ops[k].op, op) == 0)
            return &r->ops[k];
    return NULL;
}

const struct run_part *run_part_like(const struct run_op *op, const struct run_part *like)
{
    for (size_t i = 0; i < op->n_parts; i++) {
        const struct run_part *p = &op->parts[i];
        if (p->kind == like->kind && (p->kind != RUN_HOST || strcmp(p->host, like->host) == 0) &&
            (p->kind != RUN_SIZE || p->min_bytes == like->min_bytes))
            return p;
    }
    return NULL;
}
