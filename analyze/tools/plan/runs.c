#include "analyze/tools/plan/plan_internal.h"

#include "analyze/summary/model/role.h"
#include "analyze/tools/archive/archive.h"
#include "analyze/tools/compare/compare.h"
#include "analyze/tools/slo/slo.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LEAST_OFFERED .99
#define HOPELESS      5 /* runs in a row that do not count */

/* ---- The files ---- */

/* Parses "run-007-1250.csv.zst", or "run-007-after.csv.zst". */
static bool parse_name(const char *name, struct plan_run *r)
{
    const char *suffix = strstr(name, ".csv.zst");
    char *end;
    int n = 0;

    if (sscanf(name, "run-%5u-%n", &r->number, &n) != 1 || n == 0 || suffix == NULL ||
        suffix[8] != '\0')
        return false;
    if (strcmp(name + n, "before.csv.zst") == 0 || strcmp(name + n, "after.csv.zst") == 0) {
        r->point.level = name[n] == 'a';
        return true;
    }
    r->point.level = strtod(name + n, &end);
    return (end == suffix || end == suffix + 1) && r->point.level > 0 && isfinite(r->point.level);
}

static int by_number(const void *a, const void *b)
{
    return int64_order(((const struct plan_run *)a)->number, ((const struct plan_run *)b)->number);
}

bool plan_list_runs(struct plan *p, const char *folder, struct err *e)
{
    struct archive_paths found = {0};
    bool ok = archive_list(&found, folder, e);

    for (size_t i = 0; ok && i < found.n; i++) {
        struct plan_run r = {
            .offered_frac = NAN, .failed_frac = NAN, .p50_ns = NAN, .p99_ns = NAN, .mean_ns = NAN};

        if (!parse_name(strrchr(found.v[i], '/') + 1, &r))
            continue;
        ok = (p->n < PLAN_MOST_RUNS || err_set(e, "%s: too many runs", folder)) &&
             mem_text(&r.path, found.v[i], e) && mem_more(&p->runs, p->n, e);
        if (ok)
            p->runs[p->n++] = r;
        else
            free(r.path);
    }
    archive_free_paths(&found);
    if (p->n > 0)
        qsort(p->runs, p->n, sizeof *p->runs, by_number);
    return ok;
}

/* ---- One run ---- */

/* Whether an assertion cannot be met as too many requests failed. */
static bool fails(const struct slo_answer *a)
{
    return a->measure.fails && a->verdict == SLO_UNDECIDED;
}

/* Adds what was not met, and why. */
static bool say_unmet(struct plan_run *r, const struct slo_report *report, struct err *e)
{
    char text[200] = "";
    size_t n = 0;

    for (size_t i = 0; i < report->n && n < sizeof text; i++) {
        const struct slo_answer *a = &report->v[i];
        bool shown = a->measure.known && !fails(a);

        if (a->verdict != SLO_MET)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s: %s", n > 0 ? ", " : "",
                                  a->of->text, shown ? slo_measured_text(a).s : a->measure.why);
    }
    return mem_text(&r->says, text, e);
}

static const struct operation *judged(const struct analysis *a)
{
    int k = role_main(a);

    return &a->operations[k >= 0 ? (size_t)k : a->n_operations - 1];
}

/* Returns the share of the benchmark's requests that failed; NaN: there are none. */
static double failed_frac(const struct analysis *a)
{
    int64_t n = 0, n_errors = 0;

    for (size_t k = 0; k < a->n_operations; k++) {
        const struct operation *op = &a->operations[k];

        n += role_is_benchmark(op->role) ? operation_n_all(op) : 0;
        n_errors += role_is_benchmark(op->role) ? operation_n_failed(op) : 0;
    }
    return n > 0 ? (double)n_errors / (double)n : NAN;
}

static void take_figures(struct plan_run *r, const struct operation *op,
                         const struct recorded *said)
{
    const struct requests *q = &op->requests;
    bool of_response = q->response_time.dur.present;
    double n = (double)said->n_requests, due = n + (double)said->n_not_begun;

    r->p50_ns = metric_shown(&metrics[RUN_P50], op, of_response);
    r->p99_ns = metric_shown(&metrics[RUN_P99], op, of_response);
    r->mean_ns = metric_shown(&metrics[RUN_MEAN], op, false);
    if (op->judged.present && op->objects_per_op > 0)
        r->point.per_s = op->judged.objects_per_s / (double)op->objects_per_op;
    if (of_response && due > 0)
        r->offered_frac = n / due;
}

/* A run counts if it ended in order. In the search of a capacity it must also have been limited by
 * the server, not by s3load; and if it did not meet the assertions, s3load must not have waited for
 * a CPU meanwhile, unless more requests were late than that explains. */
static bool take_why_not(const struct plan *p, struct plan_run *r, const struct recorded *said,
                         struct err *e)
{
    if (said->n_closed < said->n_runs || said->n_interrupted > 0)
        return mem_text(&r->why_not, "it was interrupted", e);
    r->is_broken = said->n_failed > 0;
    if (r->is_broken)
        return mem_format(&r->why_not, e, "an error ended it: %s", said->error);
    if (p->asked.kind != PLAN_CAPACITY)
        return true;
    r->not_offered = r->offered_frac < LEAST_OFFERED && said->n_client_bound > 0;
    if (r->not_offered)
        return mem_text(&r->why_not, "s3load could not send that fast", e);
    r->disturbed =
        r->verdict != SLO_MET && r->failed_frac == 0 && r->waited_pct / 100 > 1 - r->offered_frac;
    return !r->disturbed ||
           mem_format(&r->why_not, e, "s3load waited %.2g %% of the time for a CPU; %s",
                      r->waited_pct, r->says);
}

/* Takes the verdict of a run. If due requests never began, all workers were waiting: the server did
 * not keep up with the rate, however fast it answered. Nor is a rate met at which requests fail. */
static bool take_verdict(struct plan_run *r, const struct slo_report *report, bool all_failed,
                         struct err *e)
{
    bool kept_up = !(r->offered_frac < LEAST_OFFERED), failed = all_failed;

    for (size_t i = 0; i < report->n; i++)
        failed |= fails(&report->v[i]);
    r->verdict = failed ? SLO_MISSED : slo_verdict(report);
    r->point.margin = failed ? -INFINITY : slo_margin(report);
    r->point.excess = slo_excess(report);
    if ((failed || !kept_up) && !isnan(r->point.excess))
        r->point.excess = INFINITY;
    if (kept_up || r->verdict == SLO_MISSED)
        return say_unmet(r, report, e);
    r->verdict = SLO_MISSED;
    r->point.margin = -INFINITY;
    return mem_text(&r->says, "the rate was not kept up, with all --concurrent in use", e);
}

/* The results to take from the analysis of a run. */
struct seen {
    const struct plan *plan;
    const struct run *run;
    struct plan_run *to;
};

static bool see(void *ctx, const struct analysis *a, struct err *e)
{
    const struct seen *x = ctx;
    struct plan_run *r = x->to;
    struct slo_report report = {0};
    bool ok = slo_report_make(&report, a, &x->plan->slo, e);

    if (ok && a->n_operations > 0) {
        const struct operation *op = judged(a);

        take_figures(r, op, &x->run->recorded);
        r->failed_frac = failed_frac(a);
        ok = take_verdict(r, &report, op->n_errors == op->n_requests, e);
    }
    slo_report_free(&report);
    return ok;
}

/* ---- ab ---- */

/* Returns the value of a metric, as logarithm unless it is compared by its difference; NaN: not
 * known. A percentile is not known if more requests failed than may exceed it. */
static double gated_value(const struct run_op *op, enum run_metric metric)
{
    const struct run_value *v = &op->parts[0].value[metric];
    double value = v->present ? v->ci.value : NAN;
    double failed = (double)operation_n_failed(&op->report) / (double)operation_n_all(&op->report);

    if (metrics[metric].kind == METRIC_QUANTILE &&
        failed > 1 - statistics_permille[metrics[metric].quantile] / 1e3)
        return NAN;

    return metrics[metric].kind == METRIC_DIFFERENCE ? value : log(value);
}

static bool add_gate(struct plan *p, const struct run_op *op, const struct compare_gate *given,
                     struct err *e)
{
    const struct metric *m = &metrics[given->metric];
    struct plan_gate *g = &p->gates[p->n_gates];

    if (p->n_gates == PLAN_MOST_GATES)
        return err_set(e, "more than %d gates", PLAN_MOST_GATES);
    if (!mem_text(&g->op, op->op, e))
        return false;
    g->metric = given->metric;
    g->up_is_better = m->up_is_better;
    g->limit = m->kind == METRIC_DIFFERENCE
                   ? given->worsening
                   : fabs(stats_gate_limit(given->worsening, m->up_is_better));
    p->n_gates++;
    return true;
}

static void free_gates(struct plan *p)
{
    for (size_t g = 0; g < p->n_gates; g++)
        free(p->gates[g].op);
    p->n_gates = 0;
}

/* Adds the gates of a metric: one for each operation. Objects stand in for bytes if there are none,
 * as in s3analyze cmp. An operation that was measured, but has no such figure, has no gate. */
static bool add_gates(struct plan *p, struct compare_gate given, bool or_objects,
                      const struct run *run, struct err *e)
{
    bool ok = true;

    for (size_t k = 0; ok && k < run->n_ops; k++) {
        const struct run_op *op = &run->ops[k];
        bool measured = isfinite(gated_value(op, RUN_OBJECTS));
        struct compare_gate gate = given;

        if (gate.metric == RUN_THROUGHPUT && or_objects && !isfinite(gated_value(op, gate.metric)))
            gate.metric = RUN_OBJECTS;
        if (role_is_benchmark(op->report.role) &&
            (!measured || isfinite(gated_value(op, gate.metric))))
            ok = add_gate(p, op, &gate, e);
    }
    return ok;
}

/* Chooses the gates by the first run that counts. *missing: a metric without a gate; NULL: none. */
static bool choose_gates(struct plan *p, const struct run *run, const char **missing, struct err *e)
{
    struct compare_gate given[RUN_N_COMPARED];
    bool or_objects = true, ok = compare_parse_gates(&p->asked.gate, given, e);

    for (size_t i = 0; ok && i < p->asked.gate.n; i++)
        or_objects &= given[i].metric != RUN_OBJECTS;
    for (size_t i = 0; ok && i < p->asked.gate.n; i++) {
        size_t n = p->n_gates;

        ok = add_gates(p, given[i], or_objects, run, e);
        if (ok && p->n_gates == n) {
            *missing = metrics[given[i].metric].gate;
            break;
        }
    }
    return ok;
}

/* Takes the metrics of a run. *missing: one that is not known; NULL: none. */
static void take_metrics(const struct plan *p, struct plan_run *r, const struct run *run,
                         const char **missing)
{
    for (size_t g = 0; g < p->n_gates; g++) {
        const struct run_op *op = run_op_named(run, p->gates[g].op);

        r->metric[g] = op != NULL ? gated_value(op, p->gates[g].metric) : NAN;
        if (!isfinite(r->metric[g]))
            *missing = metrics[p->gates[g].metric].gate;
    }
}

/* Whether the last runs did not count, up to this one. */
static bool is_hopeless(const struct plan *p, const struct plan_run *r)
{
    size_t n = 1;

    while (r > p->runs && (--r)->why_not != NULL)
        n++;
    return n >= HOPELESS;
}

/* Takes what the gates compare. If a figure is missing, the run does not count. A short run may
 * lack it by chance, but hardly several in a row. */
static bool take_gates(struct plan *p, struct plan_run *r, const struct run *run, struct err *e)
{
    const char *missing = NULL;
    bool chooses = p->n_gates == 0 && r->why_not == NULL;

    if (chooses && !choose_gates(p, run, &missing, e))
        return false;
    take_metrics(p, r, run, &missing);
    if (missing == NULL || r->why_not != NULL)
        return true;
    if (chooses)
        free_gates(p);
    r->is_broken = r->failed_frac == 1 || is_hopeless(p, r);
    return r->failed_frac == 1
               ? mem_text(&r->why_not, "no request succeeded", e)
               : mem_format(&r->why_not, e, "it has no figure for --gate %s", missing);
}

/* ---- All runs ---- */

static bool load_one(struct plan *p, struct plan_run *r, struct err *e)
{
    const struct load_filter filter = {0};
    const struct load_input input = {.quiet = true};
    const struct load_analysis analysis = {0};
    struct run run = {0};
    struct seen seen = {p, &run, r};
    const struct run_options how = {
        .filter = &filter, .input = &input, .analysis = &analysis, .seen = see, .seen_ctx = &seen};
    struct err why = {0};
    bool ok = true;

    struct machine_found found[MACHINE_N_FAULTS] = {0};

    /* A run that has no request left, or cannot be read, does not count. */
    if (!run_load(&run, r->path, &how, &why)) {
        ok = mem_text(&r->why_not, why.msg, e);
    } else {
        machine_find(&run.recorded.machine, found);
        r->waited_pct = found[MACHINE_WAITED].value;
        ok = take_why_not(p, r, &run.recorded, e) &&
             (p->asked.kind != PLAN_AB || take_gates(p, r, &run, e));
    }
    run_free(&run);
    return ok;
}

bool plan_load_runs(struct plan *p, const char *folder, struct err *e)
{
    bool ok = plan_list_runs(p, folder, e) && mem_new(&p->points, p->n, e);

    for (size_t i = 0; ok && i < p->n; i++)
        ok = load_one(p, &p->runs[i], e);
    for (size_t i = 0; ok && i < p->n; i++) {
        p->n_disturbed += p->runs[i].disturbed;
        if (p->runs[i].why_not != NULL)
            continue;
        p->points[p->n_points] = p->runs[i].point;
        p->points[p->n_points++].metric = p->runs[i].metric;
    }
    return ok;
}

void plan_free_runs(struct plan *p)
{
    for (size_t i = 0; i < p->n; i++) {
        free(p->runs[i].path);
        free(p->runs[i].says);
        free(p->runs[i].why_not);
    }
    free_gates(p);
    free(p->runs);
    free(p->points);
}
