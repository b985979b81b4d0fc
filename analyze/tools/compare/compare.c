#include "analyze/tools/compare/compare.h"

#include "analyze/base/paths.h"
#include "analyze/tools/compare/compare_internal.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Faults ---- */

static bool has_fault(const struct run *r)
{
    for (size_t i = 0; i < r->findings.n; i++)
        if (run_is_fault(&r->findings.v[i]))
            return true;
    return false;
}

size_t compare_n_faulty(const struct compare *c)
{
    size_t n = 0;
    for (size_t i = 0; i < compare_n_runs(c); i++)
        n += has_fault(compare_nth_run(c, i));
    return n;
}

const struct compare_metric *compare_leading(const struct compare_op *op)
{
    const struct compare_metric *bytes =
        op->sizes_differ ? NULL : compare_metric_of(op, RUN_THROUGHPUT);

    return bytes != NULL ? bytes : compare_metric_of(op, RUN_OBJECTS);
}

/* ---- Metrics ---- */

/* Returns the part of one run that is like `part`; NULL: it has none with a value of the metric. */
static const struct run_part *part_with(const struct run_op *op, const struct run_part *part,
                                        enum run_metric metric)
{
    const struct run_part *p = run_part_like(op, part);

    return p != NULL && p->value[metric].present ? p : NULL;
}

/* Whether a run has a rate without its faults. */
static bool has_clear(const struct run_op *op, enum run_metric metric)
{
    return metric <= RUN_OBJECTS && op->clear[metric].present;
}

/* Returns why the value of a metric is not reliable; NULL: it is. Errors count all requests. */
static const char *why_thin(const struct run_part *p, enum run_metric metric)
{
    const struct stats_ci *ci = &p->value[metric].ci;

    return metrics[metric].kind != METRIC_DIFFERENCE ? p->too_thin : ci->ok ? NULL : ci->why;
}

/* How well a value is known: by itself, with other runs (the scatter between runs needs no interval
 * within each), or not at all. */
enum standing { KNOWN, KNOWN_AMONG_RUNS, TOO_THIN };

static enum standing standing_of(const struct run_part *p, enum run_metric metric, bool has_many)
{
    return why_thin(p, metric) == NULL ? KNOWN
           : p->is_short && has_many   ? KNOWN_AMONG_RUNS
                                       : TOO_THIN;
}

/* Collects the values of side k of the operation: of the runs whose values are known best. With
 * `clear`, rates are those without the faults, in runs that have any. */
static bool fill_values(struct compare_values *v, const struct compare_op *op, size_t k,
                        const struct run_part *part, enum run_metric metric, bool clear,
                        struct err *e)
{
    const struct compare_runs *runs = &op->runs[k];
    bool has_many = op->runs[0].n + op->runs[1].n > 2;

    *v = (struct compare_values){.spread_frac = INFINITY};
    if (!mem_new(&v->v, runs->n, e) || !mem_new(&v->turns, runs->n, e))
        return false;
    for (enum standing standing = KNOWN; standing <= TOO_THIN && v->n == 0; standing++) {
        for (size_t i = 0; i < runs->n; i++) {
            const struct run_op *o = runs->v[i];
            const struct run_part *p = part_with(o, part, metric);

            if (p == NULL || standing_of(p, metric, has_many) != standing)
                continue;
            v->one = clear && has_clear(o, metric) ? o->clear[metric] : p->value[metric];
            v->turns[v->n] =
                (struct stats_turn){o->report.start_ns, o->report.end_ns, v->one.ci.value, false};
            v->v[v->n++] = v->one.ci.value;
            v->below = fmax(v->below, -log1p(-v->one.ci.below / fabs(v->one.ci.value)));
            v->above = fmax(v->above, log1p(v->one.ci.above / fabs(v->one.ci.value)));
            v->too_thin = standing == TOO_THIN ? why_thin(p, metric) : NULL;
        }
    }
    for (size_t i = 0; i < runs->n && part->kind == RUN_ALL; i++)
        v->n_failing += operation_n_failed(&runs->v[i]->report) > 0 &&
                        !runs->v[i]->parts[0].value[metric].present;
    if (v->n == 1) {
        v->center = v->v[0];
        if (v->one.ci.ok && v->center > 0)
            v->spread_frac = fmax(v->one.ci.hi / v->center - 1, 1 - v->one.ci.lo / v->center);
    } else if (v->n > 1) {
        struct stats_center center;
        if (!stats_center(v->v, v->n, &center, e))
            return false;
        v->center = center.median;
        if (metrics[metric].kind == METRIC_DIFFERENCE) {
            v->center = 0;
            for (size_t i = 0; i < v->n; i++)
                v->center += v->v[i] / (double)v->n;
        }
        v->spread_frac = center.spread_frac;
    }
    return true;
}

/* Finds the noise of single runs: as given, else estimated from the history, else unknown. */
static bool noise_of(const struct compare *c, const struct compare_options *o,
                     const struct compare_op *op, const struct run_part *part,
                     enum run_metric metric, struct stats_noise *out, struct err *e)
{
    *out = (struct stats_noise){.kind = STATS_NOISE_UNKNOWN};
    if (!isnan(o->run_cv_frac)) {
        *out = (struct stats_noise){.kind = STATS_NOISE_CV, .sigma = o->run_cv_frac};
        return true;
    }
    double *v;
    size_t n = 0;
    if (!mem_new(&v, o->n_history, e))
        return false;
    for (size_t i = 0; i < o->n_history; i++) {
        bool is_like = c->group[compare_n_runs(c) + i] == op->group;
        const struct run_op *own = is_like ? run_op_named(&o->history[i], op->op) : NULL;
        const struct run_part *p = own != NULL ? part_with(own, part, metric) : NULL;

        if (p != NULL && why_thin(p, metric) == NULL)
            v[n++] = p->value[metric].ci.value;
    }
    double sigma;
    if (stats_history_sigma(v, n, &sigma))
        *out = (struct stats_noise){STATS_NOISE_HISTORY, sigma, n};
    free(v);
    return true;
}

/* Compares both sides' values. */
static bool test(struct compare_metric *m, const struct compare *c, const struct compare_options *o,
                 const struct compare_op *op, struct err *e)
{
    struct stats_noise noise = {.kind = STATS_NOISE_UNKNOWN};

    return (!compare_is_single(m) || noise_of(c, o, op, m->part, m->metric, &noise, e)) &&
           compare_test(m, noise, e);
}

/* Widens the intervals to the change that is shown. */
static void contain_shown(struct compare_metric *m)
{
    double theta = compare_theta(m);

    m->cmp.lo = fmin(m->cmp.lo, theta);
    m->cmp.hi = fmax(m->cmp.hi, theta);
    m->cmp.lo90 = fmin(m->cmp.lo90, theta);
    m->cmp.hi90 = fmax(m->cmp.hi90, theta);
}

/* Whether both sides have a value, and not all values are 0 (as without errors). */
static bool is_worth(const struct compare_metric *m)
{
    double most = 0;
    if (m->before.n == 0 || m->after.n == 0)
        return false;
    for (size_t i = 0; i < m->before.n; i++)
        most = fmax(most, m->before.v[i]);
    for (size_t i = 0; i < m->after.n; i++)
        most = fmax(most, m->after.v[i]);
    return most > 0;
}

static int64_t side_resolution_ns(const struct compare_side *side)
{
    int64_t ns = 0;

    for (size_t i = 0; i < side->n; i++)
        ns = int64_max(ns, side->runs[i].recorded.imports.duration_ns);
    return ns;
}

/* Marks quantiles of imported runs as too thin for a verdict if they differ by no more than the
 * resolution of the durations, and that exceeds the tolerance. */
static void respect_resolution(struct compare_metric *m, const struct compare *c)
{
    double ns = (double)int64_max(side_resolution_ns(&c->before), side_resolution_ns(&c->after));
    double a = m->before.center, b = m->after.center;

    if (metrics[m->metric].kind == METRIC_QUANTILE && m->before.n > 0 && m->after.n > 0 &&
        fabs(b - a) <= ns && ns > m->delta * fmin(a, b))
        m->before.too_thin = m->after.too_thin =
            "the difference is within the resolution of durations";
}

static void metric_fini(struct compare_metric *m)
{
    free(m->before.v);
    free(m->before.turns);
    free(m->after.v);
    free(m->after.turns);
}

static bool add_metrics(struct compare_op *op, const struct compare *c,
                        const struct compare_options *o, const struct run_part *part, struct err *e)
{
    for (size_t i = 0; i < RUN_N_COMPARED; i++) {
        /* The leading metric comes first. */
        size_t which = op->sizes_differ && i <= RUN_OBJECTS ? RUN_OBJECTS - i : i;
        struct compare_metric m = {
            .metric = (enum run_metric)which,
            .part = part,
            .delta = metrics[which].delta,
            .p_holm = NAN,
            .mde_frac = NAN,
            .p_worse = NAN,
        };
        bool ok = fill_values(&m.before, op, 0, part, m.metric, false, e) &&
                  fill_values(&m.after, op, 1, part, m.metric, false, e);
        bool is_kept = ok && is_worth(&m);
        respect_resolution(&m, c);
        if (is_kept)
            ok = test(&m, c, o, op, e) && mem_more(&op->metrics, op->n_metrics, e);
        if (ok && is_kept) {
            contain_shown(&m);
            op->metrics[op->n_metrics++] = m;
            continue;
        }
        metric_fini(&m);
        if (!ok)
            return false;
    }
    return true;
}

/* Compares the leading metric once more, without the faults of the runs. */
static bool fill_clear(struct compare_op *op, const struct compare *c,
                       const struct compare_options *o, struct err *e)
{
    const struct compare_metric *leading = compare_leading(op);
    bool any = false;

    for (size_t k = 0; leading != NULL && leading->cmp.ok && k < 2; k++)
        for (size_t i = 0; i < op->runs[k].n; i++)
            any |= has_clear(op->runs[k].v[i], leading->metric);
    if (!any)
        return true;
    struct compare_metric m = {.metric = leading->metric, .part = leading->part};
    bool ok = fill_values(&m.before, op, 0, m.part, m.metric, true, e) &&
              fill_values(&m.after, op, 1, m.part, m.metric, true, e) && test(&m, c, o, op, e);
    contain_shown(&m);
    op->clear = m.cmp;
    op->clear.theta = compare_theta(&m);
    op->has_clear = ok && isfinite(op->clear.theta);
    metric_fini(&m);
    return ok;
}

/* ---- Operations ---- */

static bool warn_dead(struct compare *c, const struct compare_side *side, const char *op,
                      const struct compare_runs *runs, struct err *e)
{
    if (runs->n_dead == 0)
        return true;
    if (runs->n == 1)
        return notes_add(&c->warnings, e, "no-success", NULL, "%s: no request of %s succeeded", op,
                         side->name);
    return notes_add(
        &c->warnings, e, "no-success", NULL,
        "%s: in %zu of %zu runs of %s no request succeeded: these runs have no figure to compare",
        op, runs->n_dead, runs->n, side->name);
}

/* Compares the whole operation, then the parts that the last run of each side has. */
static bool fill_op(struct compare_op *op, const struct compare *c, const struct compare_options *o,
                    struct err *e)
{
    const struct run_op *a = op->runs[0].v[op->runs[0].n - 1];
    const struct run_op *b = op->runs[1].v[op->runs[1].n - 1];

    compare_settings(op, 1, RUN_OPERATIONS, RUN_SHARE, op->settings, &op->n_settings);
    for (size_t i = 0; i < op->n_settings; i++)
        op->sizes_differ |= op->settings[i].kind == RUN_OBJECT_SIZE;
    if (!compare_figures(op, e))
        return false;
    for (size_t i = 0; i < a->n_parts; i++)
        if (run_part_like(b, &a->parts[i]) != NULL && !add_metrics(op, c, o, &a->parts[i], e))
            return false;
    return fill_clear(op, c, o, e);
}

static enum role role_of(const struct compare_op *op)
{
    enum role role = ROLE_BENCHMARK;
    bool found = false;

    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; !found && i < op->runs[k].n; i++) {
            role = op->runs[k].v[i]->report.role;
            found = role_is_benchmark(role);
        }
    return role;
}

static bool fill_ops(struct compare *c, const struct compare_options *o, struct err *e)
{
    bool all_single = true;

    if (!compare_find_cells(c, o, e))
        return false;
    for (size_t k = 0; k < c->n_ops; k++) {
        const struct compare_op *op = &c->ops[k];
        c->has_cells |= op->group != c->ops->group;
        all_single &= op->runs[0].n == 1 && op->runs[1].n == 1;
    }
    c->single |= c->has_cells && all_single;
    for (size_t k = 0; k < c->n_ops; k++) {
        struct compare_op *op = &c->ops[k];
        op->role = role_of(op);
        if (!role_is_benchmark(op->role) && o->n_gates > 0 &&
            !notes_add(&c->warnings, e, "gate-preparation", NULL,
                       "%s: ran %s what was measured, so the gate leaves it out (--op names what "
                       "it judges)",
                       op->name, op->role == ROLE_CLEAN_UP ? "after" : "before"))
            return false;
        if (!warn_dead(c, &c->before, op->name, &op->runs[0], e) ||
            !warn_dead(c, &c->after, op->name, &op->runs[1], e))
            return false;
        if (!fill_op(op, c, o, e))
            return false;
    }
    return true;
}

/* ---- The runs as a whole ---- */

/* Checks that no run is there twice; the same run on both sides is only warned of. */
static bool check_twins(struct compare *c, const struct compare_options *o, struct err *e)
{
    size_t n_runs = compare_n_runs(c);

    for (size_t i = 0; i < n_runs + o->n_history; i++) {
        const struct run *r = i < n_runs ? compare_nth_run(c, i) : &o->history[i - n_runs];

        for (size_t k = 0; k < i; k++) {
            const struct run *other = k < n_runs ? compare_nth_run(c, k) : &o->history[k - n_runs];
            bool same, sides = k < c->before.n && i >= c->before.n && i < n_runs;

            if (!run_is_same(r, other, &same, e))
                return false;
            if (same && k < n_runs && i >= n_runs)
                return err_set(e, "%s is in the history too (%s): the history must be other runs",
                               other->path, r->path);
            if (same && !sides)
                return err_set(e, "%s and %s are the same run: name it once", other->path, r->path);
            if (same && !notes_add(&c->warnings, e, "same-run", NULL, "%s and %s are the same run",
                                   compare_run_name(c, k), compare_run_name(c, i)))
                return false;
        }
    }
    return true;
}

#define DRIFT_P .05 /* over all cells (Bonferroni) */

/* Warns of an order in which what changes with time looks like a difference. */
static bool warn_order(struct compare *c, struct err *e)
{
    for (size_t k = 0; k < c->n_ops; k++) {
        const struct compare_metric *m = compare_leading(&c->ops[k]);
        if (m != NULL && m->order == STATS_APART && m->cmp.n_a > 1 && m->cmp.n_b > 1)
            return notes_add(&c->warnings, e, "order", NULL,
                             "all runs of one side came before all of the other, so what changes "
                             "with time looks like a difference: let the sides take turns");
        if (m != NULL && m->order == STATS_FIXED_ORDER && m->drift_p < DRIFT_P / (double)c->n_ops &&
            role_is_benchmark(c->ops[k].role))
            return notes_add(&c->warnings, e, "drift", NULL,
                             "%s: %s drifts by %+.1f %% over the runs, and one side always came "
                             "first, so it gains or loses by that: take runs in turns (ABBA)",
                             c->ops[k].name, metrics[m->metric].name, 100 * expm1(m->drift_theta));
    }
    return true;
}

static bool warn_runs(struct compare *c, const struct compare_options *o, struct err *e)
{
    size_t least = SIZE_MAX;
    bool ok = warn_order(c, e);

    for (size_t k = 0; k < c->n_ops; k++) {
        size_t group = c->ops[k].group;
        size_t n_before = compare_n_in(c, false, group), n_after = compare_n_in(c, true, group);
        size_t n = n_before < n_after ? n_before : n_after;

        least = n < least ? n : least;
    }
    if (ok && !c->single && least == 1 && c->before.n + c->after.n >= 4)
        ok = notes_add(&c->warnings, e, "one-run", NULL, "one side is a single run");
    if (ok && least >= 2 && least <= 3)
        ok =
            notes_add(&c->warnings, e, "few-runs", NULL,
                      "%zu runs on the smaller side hardly show how much runs vary, so that only a "
                      "large change can be shown: take 5 or more",
                      least);
    if (ok && o->n_history > 0 && o->n_history < 3)
        ok = notes_add(&c->warnings, e, "short-history", NULL,
                       "a history of %zu runs does not show how much runs vary: it needs 3",
                       o->n_history);
    return ok;
}

/* Warns of what cannot be compared because a run is an aggregated capture or a file of sums. */
static bool warn_by_second(struct compare *c, struct err *e)
{
    const char *aggregate = NULL, *sums = NULL;
    bool ok = true;

    for (size_t i = 0; i < compare_n_runs(c); i++) {
        const struct run *r = compare_nth_run(c, i);
        if (aggregate == NULL && r->source == RUN_OF_AGGREGATES)
            aggregate = compare_run_name(c, i);
        if (sums == NULL && r->source == RUN_OF_SUMS)
            sums = compare_run_name(c, i);
        for (size_t k = 0; ok && k < r->n_ops; k++)
            if (run_why_no_rates(&r->ops[k]) != NULL && role_is_benchmark(r->ops[k].report.role))
                ok = notes_add(&c->warnings, e, "no-rates", NULL,
                               "%s: throughput of %s is not compared: %s", compare_run_name(c, i),
                               r->ops[k].op, run_why_no_rates(&r->ops[k]));
    }
    if (ok && aggregate != NULL)
        ok = notes_add(
            &c->warnings, e, "aggregated", NULL,
            "%s is an aggregated capture: throughput is that of whole seconds without the first "
            "and last 2 s, and percentiles are compared by bounds, since the recorder kept none of "
            "the run",
            aggregate);
    else if (ok && sums != NULL)
        ok = notes_add(
            &c->warnings, e, "from-sums", NULL,
            "%s holds sums by second, not requests: all runs are compared by whole seconds, "
            "and of latency only percentiles whose intervals the sums kept are judged",
            sums);
    return ok;
}

static bool fill(struct compare *c, const struct compare_options *o, struct err *e)
{
    if (!check_twins(c, o, e) || !compare_groups(c, o, e) || !fill_ops(c, o, e))
        return false;
    for (size_t k = 0; k < c->n_ops; k++)
        if ((k == 0 || c->ops[k].group != c->ops[k - 1].group) &&
            !compare_recorded(c, c->ops[k].group, e))
            return false;
    compare_settings(c->ops, c->n_ops, RUN_AUTOTERM, RUN_MIXED, c->settings, &c->n_settings);
    if (!compare_judge(c, o, e) || !compare_where(c, e) || !warn_runs(c, o, e) ||
        !warn_by_second(c, e))
        return false;
    for (size_t k = 0; k < c->n_ops; k++)
        compare_conclude(c, &c->ops[k]);
    if (c->has_cells)
        qsort(c->ops, c->n_ops, sizeof *c->ops, compare_order);
    return true;
}

bool compare_run(struct compare *c, const struct compare_side *before,
                 const struct compare_side *after, const struct compare_options *o, struct err *e)
{
    *c = (struct compare){
        .before = *before,
        .after = *after,
        .single = before->n == 1 && after->n == 1,
        .run_cv_frac = o->run_cv_frac,
        .n_history = o->n_history,
        .noise = !isnan(o->run_cv_frac) ? STATS_NOISE_CV
                 : o->n_history >= 3    ? STATS_NOISE_HISTORY
                                        : STATS_NOISE_UNKNOWN,
    };
    if (!mem_new(&c->names, compare_n_runs(c), e))
        return false;
    for (size_t i = 0; i < compare_n_runs(c); i++)
        c->names[i] = compare_nth_run(c, i)->path;
    paths_shorten(c->names, compare_n_runs(c));
    return fill(c, o, e);
}

void compare_free(struct compare *c)
{
    for (size_t k = 0; k < c->n_ops; k++) {
        for (size_t i = 0; i < c->ops[k].n_metrics; i++)
            metric_fini(&c->ops[k].metrics[i]);
        free(c->ops[k].metrics);
    }
    free(c->ops);
    free(c->room);
    free(c->keys);
    free(c->group);
    notes_free(&c->warnings);
    free(c->options);
    free(c->names);
    *c = (struct compare){0};
}
