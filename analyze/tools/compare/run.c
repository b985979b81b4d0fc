#include "analyze/tools/compare/run.h"

#include "analyze/analysis/sums/sums.h"
#include "analyze/base/tasks.h"
#include "analyze/data/group.h"
#include "analyze/read/aggfile.h"
#include "analyze/summary/estimate/confidence.h"
#include "analyze/summary/estimate/flow.h"
#include "analyze/summary/requests/sample.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Faults ---- */

bool run_is_fault(const struct finding *f)
{
    return f->severity == FINDING_PROBLEM;
}

#define MAX_FAULTS 16

/* Disjoint spans of time, in any order. */
struct spans {
    struct span v[MAX_FAULTS];
    size_t n;
};

/* Returns the part of s that a fault takes. A "rise" means that throughput was too low before
 * it. */
static struct span fault_span(const struct finding *f, struct span s)
{
    bool rose = !f->has_end && strcmp(f->kind->name, "rise") == 0;

    if (rose)
        s.end_ns = int64_min(s.end_ns, f->start_ns);
    else if (f->has_start)
        s.start_ns = int64_max(s.start_ns, f->start_ns);
    if (f->has_end)
        s.end_ns = int64_min(s.end_ns, f->end_ns);
    return s;
}

/* Collects the faults that begin or end within the range. Leaves out periodic pauses, as they span
 * nearly a whole run. */
static void find_faults(struct spans *out, const struct findings *all, const char *op,
                        const struct span *range)
{
    out->n = 0;
    for (size_t i = 0; i < all->n && out->n < MAX_FAULTS; i++) {
        const struct finding *f = &all->v[i];
        struct span s = fault_span(f, *range);

        if (!run_is_fault(f) || f->period_ns > 0 || (f->op != NULL && strcmp(f->op, op) != 0))
            continue;
        if (s.start_ns >= s.end_ns || s.end_ns - s.start_ns == range->end_ns - range->start_ns)
            continue;
        /* Merge the span with those that it touches. */
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
    return int64_max(int64_min(a->end_ns, end_ns) - int64_max(a->start_ns, start_ns), 0);
}

/* Moves the rates of the segments that no fault touches to the front; returns how many there
 * are. */
static size_t leave_out(double *rate, const struct slice_grid *g, const struct spans *faults)
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

/* Computes the rate of a column outside the faults. A request counts by the share of its time
 * there. The interval is computed from the segments left, as one series. */
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
        const struct flow_parts parts = flow_divide(w, start_ns, end_ns);
        flow_add_parts(&flow, &parts, packed_get(column, i));
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
    slice_grid_init(&w.grid, s->start_ns, s->segment_ns, s->n_segments);
    return fill_clear_rate(&op->clear[RUN_THROUGHPUT], &faults, left_ns, t, &t->bytes, &w, e) &&
           fill_clear_rate(&op->clear[RUN_OBJECTS], &faults, left_ns, t, &t->objects, &w, e);
}

/* ---- Parts ---- */

static void fill_values(struct run_part *p, const struct statistics *s,
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

/* Adds a part for each host or size class that has rows, if there are several. */
static bool add_parts(struct run_op *op, const struct dataset *d, const struct table *t,
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
            fill_values(p, s, &s->duration);
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

static void free_tallies(struct run_tallies *t)
{
    for (size_t k = 0; t->names != NULL && k < t->n; k++)
        free(t->names[k]);
    free(t->names);
    free(t->sum);
}

static bool fill_tallies(struct run_op *op, const struct dataset *d, const struct table *t,
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

/* ---- One operation ---- */

static bool fill_op(struct run_op *op, struct run_kept_op *kept, const struct analysis *a,
                    struct operation *from, const struct run_options *o, struct err *e)
{
    const struct dataset *d = a->dataset;
    const struct table *t = dataset_table(d, from->op);

    op->kept = kept;
    op->n_parts = 1;
    if (!mem_text(&kept->op, from->op, e) || !mem_cleared(&op->parts, 1, e))
        return false;
    op->op = kept->op;
    analysis_take_operation(&op->report, from);
    op->report.op = op->op;
    if (o->filter->ops.n > 0)
        op->report.role = ROLE_BENCHMARK;
    kept->of_response = o->of_response && op->report.requests.response_time.dur.present;
    const struct statistics *s = op->report.statistics;
    if (s == NULL)
        return true;
    fill_values(&op->parts[0], s, kept->of_response ? &s->response : &s->duration);
    if (t == NULL) /* there are no requests to divide */
        return true;
    return fill_tallies(op, d, t, s, e) && fill_clear(op, &a->findings, t, s, e) &&
           (!o->with_parts ||
            (add_parts(op, d, t, s, RUN_HOST, e) && add_parts(op, d, t, s, RUN_SIZE, e)));
}

/* ---- What the recorder and the findings say ---- */

/* Points *name to a copy that the run owns; NULL stays NULL. */
static bool own_name(struct run *r, const char **name, struct err *e)
{
    if (*name == NULL)
        return true;
    uint32_t id = intern_add(&r->names, slice_of(*name));
    if (id == INTERN_NONE)
        return mem_none(e);
    *name = r->names.strings[id].p;
    return true;
}

static bool take_findings(struct run *r, const struct findings *from, struct err *e)
{
    for (size_t i = 0; i < from->n; i++) {
        struct finding f = from->v[i];
        /* This finding is about files of sums. Here the sums were made from a capture. */
        if (r->source != RUN_OF_SUMS && strcmp(f.kind->name, "from-sums") == 0)
            continue;
        bool ok = own_name(r, &f.op, e) && own_name(r, &f.party, e) && own_name(r, &f.client, e);
        for (size_t k = 0; ok && k < f.n_others; k++)
            ok = own_name(r, &f.others[k], e);
        if (!ok || !findings_add(&r->findings, &f, e, "%s", from->v[i].sentence))
            return false;
    }
    return true;
}

/* Whether a comment or command line, in JSON or not, asks for autoterm. */
static bool asks_for_autoterm(const char *text)
{
    const char *at = strstr(text, "--autoterm");
    for (; at != NULL; at = strstr(at + 1, "--autoterm")) {
        const char *value = at + strlen("--autoterm");
        if (*value == '\0' || *value == ' ' || *value == '"' || strncmp(value, "=true", 5) == 0)
            return true;
    }
    return false;
}

/* Takes what the recorder wrote into the comments of a capture. */
static void take_recorded(struct run *r, const struct dataset *d)
{
    const struct dataset_input *first = &d->inputs[0];
    r->n_file_bytes = first->info.n_file_bytes;
    r->recorded = first->recorded;
    json_incref(r->recorded.settings);
    for (size_t i = 0; i < d->n_inputs; i++)
        for (size_t k = 0; k < d->inputs[i].comments.n; k++)
            r->autoterm |= asks_for_autoterm(keptlines_get(&d->inputs[i].comments, k));
}

/* ---- What is kept ---- */

const struct run_setting_name run_setting_names[RUN_N_SETTINGS] = {
    [RUN_OPERATIONS] = {"Operations", "n_requests", NULL, "requests"},
    [RUN_CONCURRENCY] = {"Concurrency", "concurrency", "concurrent", "c"},
    [RUN_ENDPOINTS] = {"Endpoints", "n_hosts", NULL, "hosts"},
    [RUN_CLIENTS] = {"Clients", "n_clients", NULL, "clients"},
    [RUN_OBJECTS_PER_OP] = {"Objects per operation", "objects_per_op", NULL, "objects"},
    [RUN_DURATION_S] = {"Duration", "duration_s", "duration_ns", "duration"},
    [RUN_OBJECT_SIZE] = {"Object size", "object_size_bytes", "obj.size_bytes", "size"},
    [RUN_SHARE] = {"Share of the requests", "share_frac", NULL, "share"},
    [RUN_AUTOTERM] = {"Ended by autoterm", "autoterm", "autoterm", "autoterm"},
    [RUN_MIXED] = {"Operations at the same time", "mixed", NULL, "mixed"},
};

static void keep_settings(struct run_kept_op *to, const struct run *r, const struct operation *op,
                          double n_all)
{
    const struct requests *q = &op->requests;
    int64_t range_ns = op->range.end_ns - op->range.start_ns;
    double *v = to->setting;

    to->sizes_differ = q->present && !q->single_size;
    v[RUN_OPERATIONS] = (double)op->n_requests;
    v[RUN_CONCURRENCY] = (double)op->concurrency;
    v[RUN_ENDPOINTS] = (double)op->n_hosts;
    v[RUN_CLIENTS] = (double)op->n_clients;
    v[RUN_OBJECTS_PER_OP] = (double)op->objects_per_op;
    v[RUN_DURATION_S] = op->range.present ? round((double)range_ns / 1e9) : NAN;
    v[RUN_OBJECT_SIZE] = !q->present        ? NAN
                         : to->sizes_differ ? q->mean_bytes
                                            : (double)q->object_size_bytes;
    v[RUN_SHARE] = r->mixed ? (double)op->n_requests / n_all : NAN;
    v[RUN_AUTOTERM] = r->autoterm;
    v[RUN_MIXED] = r->mixed;
}

static struct run_figure figure_of(const struct run_op *op, size_t metric)
{
    const struct run_value *v = &op->parts[0].value[metric];
    bool has_limits = v->present && v->ci.ok;
    struct run_figure x = {v->present ? v->ci.value : NAN, has_limits ? v->ci.lo : NAN,
                           has_limits ? v->ci.hi : NAN, NAN, NAN};

    if (isnan(x.value))
        x.value = metric_judged(&metrics[metric], &op->report, op->kept->of_response);
    x.least = x.value - (v->present ? v->ci.below : 0);
    x.most = x.value + (v->present ? v->ci.above : 0);
    return x;
}

/* Fills in what is kept of the run, whose operations have their names and `of_response`. */
static bool keep(struct run *r, struct err *e)
{
    struct run_kept *to = &r->kept;
    const struct finding *worst = r->findings.n > 0 ? &r->findings.v[0] : NULL;
    double n_all = 0;

    to->source = r->basis > r->source ? r->basis : r->source;
    to->start_ns = r->start_ns;
    to->options = json_incref(r->recorded.settings);
    to->has_problem = worst != NULL && run_is_fault(worst);
    for (size_t k = 0; k < r->n_ops; k++)
        n_all += (double)r->ops[k].report.n_requests;
    for (size_t k = 0; k < r->n_ops; k++) {
        const struct operation *op = &r->ops[k].report;
        struct run_kept_op *x = &to->ops[k];

        x->is_beside = !role_is_benchmark(op->role);
        x->start_ns = op->start_ns;
        x->n_errors = operation_n_failed(op);
        x->dead_frac = operation_dead_frac(op);
        keep_settings(x, r, op, n_all);
        for (size_t i = 0; i < RUN_N_COMPARED; i++)
            x->figure[i] = figure_of(&r->ops[k], i);
    }
    if (r->recorded.label[0] != '\0' && !mem_text(&to->label, r->recorded.label, e))
        return false;
    return worst == NULL || (mem_text(&to->kind, worst->kind->name, e) &&
                             mem_text(&to->finding, worst->sentence, e));
}

void run_free_kept(struct run_kept *k)
{
    for (size_t i = 0; i < k->n_ops; i++)
        free(k->ops[i].op);
    free(k->ops);
    free(k->label);
    free(k->kind);
    free(k->finding);
    json_decref(k->options);
    *k = (struct run_kept){0};
}

double run_rate(const struct run_kept *r)
{
    double per_s = json_number_value(json_object_get(r->options, "rate"));

    return per_s > 0 ? per_s : NAN;
}

/* ---- The run ---- */

/* The work for one operation. Several run in parallel. */
struct op_task {
    const struct analysis *a;
    struct operation *from;
    struct run_op *op;
    struct run_kept_op *kept;
    const struct run_options *options;
};

static bool do_op(void *work, struct err *e)
{
    const struct op_task *w = work;

    return fill_op(w->op, w->kept, w->a, w->from, w->options, e);
}

static bool fill_ops(struct run *r, struct analysis *a, const struct run_options *o, struct err *e)
{
    struct op_task *work = NULL;
    struct task *tasks = NULL;
    bool ok = mem_new(&work, a->n_operations + 1, e) && mem_new(&tasks, a->n_operations + 1, e) &&
              mem_cleared(&r->ops, a->n_operations + 1, e) &&
              mem_cleared(&r->kept.ops, a->n_operations + 1, e);

    for (size_t k = 0; ok && k < a->n_operations; k++) {
        struct operation *from = &a->operations[k];
        if (from->n_requests == 0)
            continue;
        work[r->n_ops] = (struct op_task){a, from, &r->ops[r->n_ops], &r->kept.ops[r->n_ops], o};
        tasks[r->n_ops] = (struct task){do_op, &work[r->n_ops], (uint64_t)from->n_requests};
        r->n_ops++;
    }
    r->kept.n_ops = r->n_ops;
    ok = ok && tasks_run(tasks, r->n_ops, a->options.threads, e) && keep(r, e);
    free(work);
    free(tasks);
    return ok;
}

/* d: the dataset that was read from the file. */
static bool fill_run(struct run *r, struct analysis *a, const struct dataset *d,
                     const struct run_options *o, struct err *e)
{
    r->n_rows = a->n_rows;
    r->mixed = a->mixed;
    take_recorded(r, d);
    r->start_ns = INT64_MAX;
    r->end_ns = INT64_MIN;
    for (size_t i = 0; i < d->n_inputs; i++) {
        r->start_ns = int64_min(r->start_ns, d->inputs[i].first_start_ns);
        r->end_ns = int64_max(r->end_ns, d->inputs[i].last_end_ns);
    }
    /* fill_ops moves the statistics out of the analysis, so it comes last. */
    return take_findings(r, &a->findings, e) && (o->seen == NULL || o->seen(o->seen_ctx, a, e)) &&
           fill_ops(r, a, o, e);
}

struct loading {
    struct run *run;
    const struct run_options *options;
};

/* Checks that no filter but --op is given: sums and aggregated captures cannot apply another. */
static bool only_ops(const struct run *r, const struct load_filter *filter, struct err *e)
{
    if (filter->host == NULL && filter->client == NULL && !filter->from.given &&
        !filter->to.given && !filter->sizes.given)
        return true;
    return err_set(e, "%s: %s has no requests to choose from: of the filters only --op can be used",
                   r->path, r->source == RUN_OF_SUMS ? "a file of sums" : "an aggregated capture");
}

/* d: the dataset that the sums were made from; NULL: they were read from a file. */
static bool fill_by_second(struct run *r, const struct sums *s, const struct dataset *d,
                           const struct run_options *o, struct err *e)
{
    struct analysis_options how = load_analysis_options(o->filter, o->analysis, o->input);
    struct dataset of_file = {0};
    struct analysis a = {0};

    how.by_second = true;
    if (o->basis == RUN_OF_AGGREGATES) {
        how.range = RANGE_INNER;
        how.segment_ns = NS_PER_S;
    }
    for (size_t i = 0; i < s->said.n; i++)
        r->autoterm |= asks_for_autoterm(s->said.line[i]);
    bool ok = sums_analyze(&a, &of_file, s, r->path, &how, e) &&
              fill_run(r, &a, d != NULL ? d : &of_file, o, e);
    analysis_free(&a);
    dataset_free(&of_file);
    return ok;
}

static bool load_sums(struct run *r, const struct run_options *o, struct err *e)
{
    struct sums s = {0};
    bool ok =
        r->source == RUN_OF_SUMS ? sums_read(&s, r->path, e) : sums_of_foreign(&s, r->path, e);

    ok = ok && sums_keep(&s, o->filter->ops.v, o->filter->ops.n, e) &&
         fill_by_second(r, &s, NULL, o, e);
    sums_free(&s);
    return ok;
}

static bool load_capture(struct run *r, const struct run_options *o, struct err *e)
{
    const char *path = r->path;
    struct load_analysis how = *o->analysis;
    struct dataset d = {0};
    struct analysis a = {0};
    struct sums s = {0};

    how.depth = ANALYSIS_NO_ACCESS;
    bool ok = load_dataset(&d, &path, 1, o->filter, o->input, e);
    if (ok && o->basis != RUN_OF_REQUESTS)
        ok = (o->basis == RUN_OF_SUMS ? load_sums_of_dataset(&s, &d, o->input, e)
                                      : sums_of_dataset(&s, &d, (unsigned)o->input->threads, e)) &&
             fill_by_second(r, &s, &d, o, e);
    else
        ok = ok && load_run_analysis(&a, &d, o->filter, &how, o->input, false, e) &&
             fill_run(r, &a, &d, o, e);
    analysis_free(&a);
    sums_free(&s);
    dataset_free(&d);
    return ok;
}

const char *const run_sources[] = {[RUN_OF_REQUESTS] = "capture",
                                   [RUN_OF_SUMS] = "sums",
                                   [RUN_OF_AGGREGATES] = "aggregated",
                                   NULL};

enum run_basis run_source(const char *path)
{
    static const enum run_basis bases[] = {[AGGFILE_NONE] = RUN_OF_REQUESTS,
                                           [AGGFILE_OF_SUMS] = RUN_OF_SUMS,
                                           [AGGFILE_FOREIGN] = RUN_OF_AGGREGATES};

    return bases[aggfile_kind(path)];
}

static bool load_figures(void *loading, struct err *e)
{
    const struct loading *l = loading;
    const struct run_options *o = l->options;
    struct run *r = l->run;

    r->source = run_source(r->path);
    if (r->source == RUN_OF_REQUESTS)
        return load_capture(r, o, e);
    return only_ops(r, o->filter, e) && load_sums(r, o, e);
}

static bool load_sum(void *loading, struct err *e)
{
    const struct loading *l = loading;
    return sha256_file(l->run->path, &l->run->sha256, e);
}

bool run_load(struct run *r, const char *path, const struct run_options *o, struct err *e)
{
    struct loading l = {r, o};
    struct task tasks[] = {{load_figures, &l, 2}, {load_sum, &l, 1}};

    *r = (struct run){.basis = o->basis};
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
        for (size_t kind = 0; kind < RUN_N_TALLIES; kind++)
            free_tallies(&op->tally[kind]);
        statistics_free(op->report.statistics);
    }
    run_free_kept(&r->kept);
    json_decref(r->recorded.settings);
    findings_free(&r->findings);
    intern_fini(&r->names);
    free(r->ops);
    free(r->path);
    *r = (struct run){0};
}

/* Gets the SHA-256 of the run's file. */
static bool sum_of(const struct run *r, struct sha256_text *sum, struct err *e)
{
    *sum = r->sha256;
    return sum->s[0] != '\0' || sha256_file(r->path, sum, e);
}

bool run_is_same(const struct run *a, const struct run *b, bool *same, struct err *e)
{
    struct sha256_text x, y;
    *same = false;
    if (a->n_file_bytes != b->n_file_bytes || a->n_rows != b->n_rows ||
        a->start_ns != b->start_ns || a->end_ns != b->end_ns)
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
    return bsearch(like, op->parts, op->n_parts, sizeof *op->parts, compare_parts);
}
