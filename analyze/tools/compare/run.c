#include "analyze/tools/compare/run_internal.h"

#include "analyze/analysis/sums/sums.h"
#include "analyze/base/tasks.h"
#include "analyze/read/aggbytes.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    run_fill_values(&op->parts[0], s, kept->of_response ? &s->response : &s->duration);
    if (t == NULL) /* there are no requests to divide */
        return true;
    return run_fill_tallies(op, d, t, s, e) &&
           run_fill_clear(op, a, (size_t)(from - a->operations), e) &&
           (!o->with_parts ||
            (run_add_parts(op, d, t, s, RUN_HOST, e) && run_add_parts(op, d, t, s, RUN_SIZE, e)));
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

    how.depth = ANALYSIS_BRIEF;
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
    static const enum run_basis bases[] = {[AGGBYTES_NONE] = RUN_OF_REQUESTS,
                                           [AGGBYTES_OF_SUMS] = RUN_OF_SUMS,
                                           [AGGBYTES_FOREIGN] = RUN_OF_AGGREGATES};

    return bases[aggbytes_kind(path)];
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
            run_free_tallies(&op->tally[kind]);
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
