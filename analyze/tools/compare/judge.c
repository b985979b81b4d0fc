/* Turns test results into verdicts: the family whose p-values are adjusted, minimum detectable
 * effects (MDE), the gate. */
#include "analyze/tools/compare/compare_internal.h"

#include "libcommon/mem.h"
#include "libcommon/slice.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Gates, as users write them ---- */

/* Parses "p99:10%". On failure *e says what was expected. */
static bool parse_gate(const char *text, struct compare_gate *out, struct err *e)
{
    const char *colon = strchr(text, ':');
    const struct slice name = {text, colon != NULL ? (size_t)(colon - text) : strlen(text)};
    double pct;

    for (size_t i = 0; i < RUN_N_COMPARED; i++) {
        if (!slice_is(name, metrics[i].gate) && !slice_is(name, metrics[i].name))
            continue;
        if (colon == NULL)
            return err_set(e, "--gate %s: how much worse may it get? Write %s:5%%", text, text);
        struct err why = {0};
        if (!units_parse_pct(colon + 1, &pct, &why))
            return err_set(e, "--gate %s: %s", text, why.msg);
        if (pct < 0 || pct >= 100)
            return err_set(e, "--gate %s: from 0 %% to below 100 %%", text);
        *out = (struct compare_gate){(enum run_metric)i, pct / 100};
        return true;
    }
    return err_set(e, "--gate %s: " METRIC_GATES ", then \":PCT\"", text);
}

bool compare_parse_gates(const struct cli_list *texts, struct compare_gate *gates, struct err *e)
{
    for (size_t i = 0; i < texts->n; i++) {
        if (!parse_gate(texts->v[i], &gates[i], e))
            return false;
        for (size_t k = 0; k < i; k++)
            if (gates[k].metric == gates[i].metric)
                return err_set(e, "--gate %s: given twice", texts->v[i]);
    }
    return true;
}

/* ---- The test ---- */

/* Compares several runs a side. Their order chooses the test, and no figure does. */
static bool test_groups(struct compare_metric *m, bool is_difference, struct err *e)
{
    const struct compare_values *a = &m->before, *b = &m->after;
    struct stats_trend trend = {.p = 1};
    struct stats_turn *v = NULL;
    double *change = NULL;
    size_t n = a->n + b->n, n_pairs = 0;
    bool ok = mem_new(&v, n, e) && mem_new(&change, 2 * n, e);

    for (size_t i = 0; ok && i < n; i++) {
        v[i] = i < a->n ? a->turns[i] : b->turns[i - a->n];
        v[i].value = is_difference ? v[i].value : log(v[i].value);
        v[i].is_after = i >= a->n;
    }
    m->order = ok ? stats_pair(v, n, change, change + n, &n_pairs) : STATS_ANY_ORDER;
    if (m->order == STATS_FIXED_ORDER)
        ok = stats_trend(change + n, n_pairs, &trend, e);
    m->drift_theta = trend.slope * (double)n_pairs;
    m->drift_p = trend.p;
    if (m->order == STATS_IN_TURNS)
        ok = stats_cmp_pairs(change, n_pairs, is_difference, &m->cmp, e);
    if (m->cmp.ok) {
        double half = m->cmp.theta / 2, middle = 0;
        for (m->n_pairs = 0; m->n_pairs < n_pairs; m->n_pairs++)
            middle += change[n + m->n_pairs] / (double)n_pairs;
        m->before.center = is_difference ? middle - half : exp(middle - half);
        m->after.center = is_difference ? middle + half : exp(middle + half);
    } else {
        ok = ok && stats_cmp_groups(a->v, a->n, b->v, b->n, is_difference, &m->cmp, e);
    }
    free(v);
    free(change);
    return ok;
}

bool compare_test(struct compare_metric *m, struct stats_noise noise, struct err *e)
{
    enum metric_kind kind = metrics[m->metric].kind;
    const char *too_thin = m->before.too_thin != NULL ? m->before.too_thin : m->after.too_thin;

    if (too_thin != NULL) {
        double a = m->before.center, b = m->after.center;
        m->cmp = (struct stats_cmp){
            .why = too_thin,
            .method = compare_is_single(m) ? STATS_MEANS : STATS_WELCH,
            .is_difference = kind == METRIC_DIFFERENCE,
            .theta = kind == METRIC_DIFFERENCE ? b - a
                     : a > 0 && b > 0          ? log(b / a)
                                               : NAN,
            .p = NAN,
            .break_even = NAN,
        };
        return true;
    }
    if (!compare_is_single(m)) {
        const struct compare_values *a = &m->before, *b = &m->after;

        if (!test_groups(m, kind == METRIC_DIFFERENCE, e))
            return false;
        stats_loosen(&m->cmp, fmax(b->below + a->above, b->above + a->below));
        return true;
    }
    enum stats_method method = kind == METRIC_DIFFERENCE ? STATS_DIFFERENCE
                               : kind == METRIC_QUANTILE ? STATS_QUANTILES
                                                         : STATS_MEANS;
    stats_cmp_single(method, &m->before.one.ci, &m->after.one.ci, noise, &m->cmp);
    return true;
}

/* ---- Judging ---- */

/* An MDE above this, 1000 %, means nothing. */
#define MAX_MDE_FRAC 10

static const struct compare_gate *gate_of(const struct compare_options *o, enum run_metric metric)
{
    for (size_t i = 0; i < o->n_gates; i++)
        if (o->gates[i].metric == metric)
            return &o->gates[i];
    return NULL;
}

const struct compare_metric *compare_metric_of(const struct compare_op *op, enum run_metric metric)
{
    for (size_t i = 0; i < op->n_metrics; i++)
        if (op->metrics[i].part->kind == RUN_ALL && op->metrics[i].metric == metric)
            return &op->metrics[i];
    return NULL;
}

double compare_theta(const struct compare_metric *m)
{
    double a = m->before.center, b = m->after.center;
    return m->cmp.is_difference ? b - a : a > 0 && b > 0 ? log(b / a) : m->cmp.theta;
}

bool compare_is_worse(const struct compare_metric *m)
{
    return (m->cmp.theta < 0) == metrics[m->metric].up_is_better;
}

/* has_cells: the family has all that a sentence about all cells may claim. */
static void choose_family(struct compare_op *op, const struct compare_options *o, bool has_cells)
{
    /* Objects replace bytes if there are none, or if sizes differ. */
    bool no_bytes = compare_metric_of(op, RUN_THROUGHPUT) == NULL;
    bool by_objects = no_bytes || op->sizes_differ;
    for (size_t i = 0; i < op->n_metrics; i++) {
        struct compare_metric *m = &op->metrics[i];
        if (m->part->kind != RUN_ALL)
            continue;
        bool stands_in = m->metric == RUN_OBJECTS && no_bytes;
        const struct compare_gate *g =
            gate_of(o, stands_in && gate_of(o, RUN_OBJECTS) == NULL ? RUN_THROUGHPUT : m->metric);
        /* If both sides have too few requests, the operation is a preparation and not judged. */
        m->gated = g != NULL && role_is_benchmark(op->role) &&
                   (m->before.too_thin == NULL || m->after.too_thin == NULL);
        if (m->gated)
            m->gate_limit = metrics[m->metric].kind == METRIC_DIFFERENCE
                                ? g->worsening
                                : stats_gate_limit(g->worsening, metrics[m->metric].up_is_better);
        /* The share of errors is a finding of its own: more errors do not make other changes
         * likelier by chance. */
        if (metrics[m->metric].kind == METRIC_DIFFERENCE)
            m->in_family = has_cells;
        else if (o->n_gates > 0 && (m->gated || !has_cells))
            m->in_family = m->gated;
        else if (m->metric == RUN_THROUGHPUT || m->metric == RUN_OBJECTS)
            m->in_family = (m->metric == RUN_OBJECTS) == by_objects;
        else
            m->in_family = metrics[m->metric].is_primary;
    }
}

/* Adjusts the p-values of the family (Holm). */
static bool adjust(struct compare *c, struct err *e)
{
    size_t n = 0, most = 0;
    for (size_t k = 0; k < c->n_ops; k++)
        most += c->ops[k].n_metrics;
    double *p = NULL;
    struct compare_metric **member = NULL;
    bool ok = mem_new(&p, most + 1, e) && mem_new(&member, most + 1, e);
    for (size_t k = 0; ok && k < c->n_ops; k++)
        for (size_t i = 0; i < c->ops[k].n_metrics; i++)
            if (c->ops[k].metrics[i].in_family && c->ops[k].metrics[i].cmp.ok) {
                member[n] = &c->ops[k].metrics[i];
                p[n++] = c->ops[k].metrics[i].cmp.p;
            }
    c->n_family = n;
    ok = ok && stats_holm(p, n, e);
    for (size_t i = 0; ok && i < n; i++)
        member[i]->p_holm = p[i];
    free(p);
    free(member);
    return ok;
}

/* A cache of factors from stats_mde_groups. */
struct mde_cache {
    struct mde_known {
        size_t n_a, n_b, n_family;
        double factor;
    } v[32];
    size_t n;
};

static bool mde_factor(struct mde_cache *cache, size_t n_a, size_t n_b, size_t n_family,
                       double *factor, struct err *e)
{
    size_t i = 0;

    while (i < cache->n &&
           (cache->v[i].n_a != n_a || cache->v[i].n_b != n_b || cache->v[i].n_family != n_family))
        i++;
    if (i < cache->n) {
        *factor = cache->v[i].factor;
        return true;
    }
    if (!stats_mde_groups(n_a, n_b, n_family, factor, e))
        return false;
    if (i < sizeof cache->v / sizeof *cache->v)
        cache->v[cache->n++] = (struct mde_known){n_a, n_b, n_family, *factor};
    return true;
}

static double mde_of(const struct compare_metric *m, double factor)
{
    double mde = m->cmp.is_difference ? factor * m->cmp.sd : expm1(factor * m->cmp.sd);

    return mde > MAX_MDE_FRAC ? INFINITY : mde;
}

/* Fills the smallest detectable effect of groups. */
static bool fill_mde(struct compare_metric *m, size_t n_family, struct mde_cache *cache,
                     struct err *e)
{
    double factor, wanted = fmax(fabs(m->cmp.theta), log1p(m->delta));
    size_t n_a = m->cmp.n_a, n_b = m->cmp.n_b, lo = n_a < n_b ? n_a : n_b,
           hi = COMPARE_MOST_RUNS + 1;

    if (!mde_factor(cache, m->n_pairs > 0 ? 0 : n_a, n_b, n_family, &factor, e))
        return false;
    m->mde_frac = mde_of(m, factor);
    while (isinf(m->mde_frac) && lo + 1 < hi) {
        size_t n = (lo + hi) / 2;

        if (!mde_factor(cache, m->n_pairs > 0 ? 0 : n, n, n_family, &factor, e))
            return false;
        if (factor * m->cmp.sd > wanted)
            lo = n;
        else
            hi = n;
    }
    m->n_enough = hi <= COMPARE_MOST_RUNS ? hi : 0;
    return true;
}

static bool judge(struct compare_metric *m, bool sizes_differ, size_t n_family,
                  struct mde_cache *cache, struct err *e)
{
    struct stats_question q = {metrics[m->metric].up_is_better, m->delta};

    if (m->cmp.ok && !stats_is_same(&m->cmp, m->delta))
        stats_adjust(&m->cmp, &m->before.one.ci, &m->after.one.ci, m->p_holm);
    m->verdict = stats_verdict(&m->cmp, q, &m->beyond_delta);
    if (sizes_differ && m->metric == RUN_THROUGHPUT && !m->gated)
        m->verdict = STATS_NOT_JUDGED;
    if (!m->cmp.ok)
        return true;
    if (compare_is_single(m))
        m->mde_frac = stats_mde_single(&m->cmp);
    else if (!fill_mde(m, m->in_family ? n_family : 1, cache, e))
        return false;
    if (m->mde_frac > MAX_MDE_FRAC)
        m->mde_frac = INFINITY;
    if (!m->gated)
        return true;
    /* Else too few requests lie beyond the quantile for a decision. */
    if (!compare_is_single(m) || (m->before.one.can_gate && m->after.one.can_gate)) {
        m->gate_passes = stats_gate_passes(&m->cmp, m->gate_limit, q.up_is_better);
        m->p_worse = stats_p_worse(&m->cmp, m->gate_limit, q.up_is_better);
    }
    return true;
}

/* Percentiles are those of the successful requests: a store that fails fast is not faster. If more
 * requests failed on a side, and perhaps more of them than may exceed a percentile, that side can
 * only be worse. So can all figures of a side if some of its runs have none because their requests
 * failed. */
static void respect_failures(struct compare_op *op, struct compare_metric *m)
{
    double most = 1 - statistics_permille[metrics[m->metric].quantile] / 1e3;
    bool before = m->before.n_failing > 0, after = m->after.n_failing > 0;

    for (size_t i = 0; i < op->n_metrics && metrics[m->metric].kind == METRIC_QUANTILE; i++) {
        const struct compare_metric *x = &op->metrics[i];
        bool sure = compare_is_changed(x) || !x->cmp.ok;
        double more = x->after.center - x->before.center;

        if (x->metric != RUN_ERRORS || (x->part != m->part && x->part->kind != RUN_ALL))
            continue;
        before |= more < 0 && (sure || x->cmp.lo < -most);
        after |= more > 0 && (sure || x->cmp.hi > most);
    }
    m->gate_passes &= !after;
    if (before && m->p_worse < 1)
        m->p_worse = 1;
    if (compare_is_changed(m) ? !(compare_is_worse(m) ? before : after) : !before && !after)
        return;
    m->cmp.ok = false;
    m->p_worse = after ? NAN : m->p_worse;
    m->cmp.why = m->before.n_failing + m->after.n_failing > 0 ? "requests of other runs failed"
                                                              : "more requests failed";
    m->verdict = STATS_NOT_ENOUGH_DATA;
}

static bool judge_all(struct compare *c, struct err *e)
{
    struct mde_cache cache = {.n = 0};
    for (size_t k = 0; k < c->n_ops; k++)
        for (size_t i = 0; i < c->ops[k].n_metrics; i++)
            if (!judge(&c->ops[k].metrics[i], c->ops[k].sizes_differ, c->n_family, &cache, e))
                return false;
    for (size_t k = 0; k < c->n_ops; k++)
        for (size_t i = 0; i < c->ops[k].n_metrics; i++)
            respect_failures(&c->ops[k], &c->ops[k].metrics[i]);
    return true;
}

static bool is_thin(const struct compare_op *op)
{
    const struct compare_metric *m = op->n_metrics > 0 ? &op->metrics[0] : NULL;
    return m == NULL || (m->before.too_thin != NULL && m->after.too_thin != NULL);
}

/* Counts the gates whose metric an operation does not have. Objects replace bytes that are missing.
 * A missing error rate only means that there were no errors. */
static size_t n_unmet(const struct compare_op *op, const struct compare_options *o)
{
    size_t n = 0;
    for (size_t i = 0; i < o->n_gates; i++) {
        enum run_metric metric = o->gates[i].metric;
        if (metric == RUN_THROUGHPUT && compare_metric_of(op, RUN_THROUGHPUT) == NULL)
            metric = RUN_OBJECTS;
        n += metrics[metric].kind != METRIC_DIFFERENCE && compare_metric_of(op, metric) == NULL;
    }
    return n;
}

/* If no request failed, the number of requests says how large the share of errors may be. */
static void judge_no_errors(struct compare_op *op, const struct compare_gate *gate)
{
    double n = 0, lo;

    op->lacks_errors = gate != NULL && compare_metric_of(op, RUN_ERRORS) == NULL;
    op->most_errors = 1;
    for (size_t i = 0; i < op->runs[1].n; i++)
        n += (double)operation_n_all(&op->runs[1].v[i]->report);
    if (n > 0)
        stats_wilson(0, n, 0, INFINITY, &lo, &op->most_errors);
    op->errors_pass = op->lacks_errors && op->most_errors <= gate->worsening;
}

static bool decide_gate(struct compare *c, const struct compare_options *o, struct err *e)
{
    struct stats_gate *gates = NULL;
    size_t n = 0, n_judged = 0;
    bool ok = true, died = false, undecidable = c->lacks_op;

    c->has_gate = o->n_gates > 0;
    for (size_t k = 0; c->has_gate && k < c->n_ops; k++) {
        struct compare_op *op = &c->ops[k];
        if (!role_is_benchmark(op->role))
            continue;
        judge_no_errors(op, gate_of(o, RUN_ERRORS));
        undecidable |= op->lacks_errors && !op->errors_pass;
        for (size_t i = 0; ok && i < op->n_metrics; i++) {
            const struct compare_metric *m = &op->metrics[i];
            ok = !m->gated || mem_more(&gates, n, e);
            if (ok && m->gated)
                gates[n++] = (struct stats_gate){&m->cmp, m->gate_passes, m->p_worse};
        }
        died |= op->runs[1].n_dead > 0 && op->runs[0].n_dead == 0;
        undecidable |= op->runs[1].n_dead > 0 || (!is_thin(op) && n_unmet(op, o) > 0);
        n_judged += !is_thin(op);
    }
    ok = ok && (!c->has_gate || stats_gate_decide(gates, n, &c->gate, e));
    /* No test is needed: a run in which every request fails is worse. */
    if (died)
        c->gate = EXIT_FAILED;
    if (c->has_gate && c->gate == EXIT_DONE && (undecidable || n_judged == 0))
        c->gate = EXIT_UNDECIDED;
    free(gates);
    return ok;
}

bool compare_judge(struct compare *c, const struct compare_options *o, struct err *e)
{
    for (size_t k = 0; k < c->n_ops; k++)
        choose_family(&c->ops[k], o, c->has_cells);
    return adjust(c, e) && judge_all(c, e) && decide_gate(c, o, e);
}
