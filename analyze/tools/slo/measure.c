/* Finds the figures that assertions are about, wherever a run has them: in its requests, in its
 * sums, or in the seconds of an aggregated capture. */
#include "analyze/tools/slo/slo.h"

#include "analyze/analysis/run/analysis.h"
#include "analyze/analysis/sums/sums.h"
#include "analyze/data/filter.h"
#include "analyze/summary/estimate/confidence.h"
#include "analyze/summary/model/fields.h"
#include "analyze/summary/model/role.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* By Chebyshev's inequality, 95 of 100 figures are within this many standard errors, whatever their
 * distribution: the root of 20. */
#define DOUBTED_ERRORS 4.4721359549995794

/* A value without an interval. */
static struct slo_measure value_alone(double value, double n, const char *why)
{
    return (struct slo_measure){.known = true,
                                .value = value,
                                .lo = -INFINITY,
                                .hi = INFINITY,
                                .guard = SLO_GUARD,
                                .n = n,
                                .why = why};
}

static struct slo_measure absent(const char *why)
{
    struct slo_measure m = value_alone(NAN, 0, why);

    m.known = false;
    return m;
}

/* What assertions are measured on: an operation, or a mixed run as a whole. */
struct subject {
    const struct analysis *a;
    int index; /* of the operation; -1: all operations together */
    const struct operation *op;
    const struct statistics *st; /* NULL: use its series */
};

/* ---- Rates and errors ---- */

/* Widens the interval if it is unreliable; `doubt` is why, or "". */
static void widen(struct slo_measure *m, const struct stats_ci *ci, const char *doubt)
{
    double t = stats_t_quantile(.975, ci->df);

    if (*doubt == '\0' || !(DOUBTED_ERRORS > t))
        return;
    m->guard = SLO_GUARD * DOUBTED_ERRORS / t;
    m->why = doubt;
}

static struct slo_measure measure_of(const struct stats_ci *ci, const char *doubt, double n)
{
    struct slo_measure m = value_alone(ci->value, n, ci->why);

    m.n_least = STATS_MIN_REQUESTS;
    if (!ci->ok)
        return m;
    m.lo = ci->lo;
    m.hi = ci->hi;
    widen(&m, ci, doubt);
    return m;
}

static struct slo_measure errors_of(const struct subject *x, const struct stats_ci *ci)
{
    struct slo_measure m = measure_of(ci, "", (double)operation_n_all(x->op));
    /* If all failed, no series is needed to see how much the failures vary. */
    bool all = operation_n_failed(x->op) == operation_n_all(x->op);

    m.value = (double)operation_n_failed(x->op) / m.n;
    m.why = all ? "" : m.why;
    if (ci->ok || all)
        stats_wilson(m.value, m.n, all ? 0 : ci->se, ci->df, &m.lo, &m.hi);
    return m;
}

static struct slo_measure measure_rate(const struct subject *x, enum slo_figure figure,
                                       const struct statistics *st)
{
    const struct statistics_rate *r = figure == SLO_THROUGHPUT ? &st->bytes : &st->objects;
    double per = figure == SLO_RATE ? (double)x->op->objects_per_op : 1;

    if (operation_n_failed(x->op) == operation_n_all(x->op))
        return (struct slo_measure){
            .known = true, .guard = 1, .n = (double)operation_n_all(x->op), .why = ""};
    if (st->objects.why != NULL)
        return absent(st->objects.why);
    if (!r->present || per < 1)
        return absent(figure == SLO_THROUGHPUT ? "no request moved bytes" : "no rate is known");
    struct slo_measure m =
        measure_of(&r->mean, statistics_doubt(st, &r->mean), (double)operation_n_all(x->op));
    m.value /= per;
    m.lo /= per;
    m.hi /= per;
    return m;
}

static bool has_response(const struct subject *x)
{
    return x->op->requests.response_time.dur.present;
}

static struct slo_measure measure_mean(const struct subject *x, const struct statistics *st)
{
    const struct times *t =
        has_response(x) ? &x->op->requests.response_time.dur : &x->op->requests.all.dur;
    const struct stats_ci *ci = has_response(x) ? &st->response.mean : &st->duration.mean;

    if (!t->present || (t->known.absent & 1u << FIGURE_MEAN) != 0)
        return absent(t->present ? t->known.why : "no request has such a time");
    if (ci->why == NULL)
        return value_alone(t->mean_ns, (double)t->n, SUMS_NO_ORDER);
    if (isnan(ci->value))
        return absent(ci->why);
    struct slo_measure m = measure_of(ci, statistics_doubt(st, ci), (double)t->n);
    m.below = ci->below;
    m.above = ci->above;
    return m;
}

/* Fills *to from the series over the range, like the statistics of an operation. */
static bool rates_of_series(const struct subject *x, struct statistics *to, struct err *e)
{
    const struct span *range = &x->op->range;
    int64_t range_ns = range->end_ns - range->start_ns, width_ns = statistics_segment_ns(range_ns);
    struct slice_grid grid;
    struct series_row *rows = NULL;
    size_t n = 0;

    if (x->a->sums != NULL && width_ns < NS_PER_S)
        width_ns = NS_PER_S;
    width_ns = int64_max(width_ns, dataset_start_resolution_ns(x->a->dataset));
    slice_grid_init(&grid, range->start_ns, width_ns, (size_t)(range_ns / width_ns));
    bool ok = analysis_series_on(x->a, x->index, -1, &grid, &rows, &n, e) &&
              statistics_of_series(to, x->op, rows, n, e);
    statistics_find_change(to, &x->a->findings, *x->op->op != '\0' ? x->op->op : NULL);
    free(rows);
    return ok;
}

static bool measure_flow(const struct subject *x, enum slo_figure figure, struct slo_measure *m,
                         struct err *e)
{
    struct statistics of_series = {0};
    const struct statistics *st = x->st != NULL ? x->st : &of_series;

    if (x->st == NULL && (!x->op->judged.present || !x->op->range.present)) {
        const char *why = x->op->judged.known.why;
        why = why != NULL ? why : "the run has no active range";
        *m = figure == SLO_ERRORS ? errors_of(x, &(struct stats_ci){.why = why}) : absent(why);
        return true;
    }
    if (x->st == NULL && !rates_of_series(x, &of_series, e))
        return false;
    *m = figure == SLO_ERRORS ? errors_of(x, &st->error_rate)
         : figure == SLO_MEAN ? measure_mean(x, st)
                              : measure_rate(x, figure, st);
    return true;
}

/* ---- Percentiles ---- */

/* Finds a percentile of a foreign file: its bounds, and their sampling error. */
static bool percentile_of_foreign(const struct subject *x, const struct sums_op *op,
                                  const struct slo_assertion *of, struct slo_measure *m,
                                  struct err *e)
{
    const struct times *t = &x->op->requests.all.dur;
    struct sums_bounds p;

    if (!sums_foreign_percentile(&p, op, of->ppm, e))
        return false;
    *m = absent(t->present ? t->known.why : "not in this file");
    if (of->figure == SLO_TTFB || !p.present)
        return true;
    double value = isinf(p.most_ns) ? p.least_ns : (p.least_ns + p.most_ns) / 2;

    *m = value_alone(value, (double)(x->op->n_requests - x->op->n_errors), "");
    m->lo = p.lo_ns;
    m->hi = p.hi_ns;
    m->below = value - p.least_ns;
    m->above = p.most_ns - value;
    /* So many that the upper end of Wilson's interval of none beyond the value is below 1 - p. */
    m->n_least = ceil(1.96 * 1.96 * of->ppm / (double)(SLO_PPM - of->ppm));
    if (m->below + m->above > 0)
        m->why = "known to bounds only: the file has percentiles of 10 s each";
    return true;
}

static struct slo_measure percentile_of_sums(const struct sums_op *op, enum statistics_of source,
                                             const struct slo_assertion *of)
{
    const struct sums_values *v = source == STATISTICS_TTFB       ? &op->all.ttfb
                                  : source == STATISTICS_RESPONSE ? &op->response
                                                                  : &op->all.duration;

    if (v->moments.n == 0)
        return absent("no request has such a time");
    size_t k = quantile_index_of((size_t)v->moments.n, of->ppm, SLO_PPM);

    struct slo_measure m =
        value_alone((double)sums_value_at(v, (int64_t)k), (double)v->moments.n, SUMS_NO_ORDER);
    for (size_t i = 0; i < SUMS_N_INTERVALS; i++) {
        const struct stats_ci ci = sums_interval(v, i);

        if (statistics_permille[i] * (SLO_PPM / 1000) != of->ppm || !ci.ok)
            continue;
        m.lo = ci.lo;
        m.hi = ci.hi;
        m.why = "";
        m.n_least = ceil(slo_least_requests(of) * m.n / (double)v->interval[i].n_e);
        widen(&m, &ci, ci.stretches > 0 ? "95 % CI unreliable, as the requests said" : "");
    }
    return m;
}

struct slo_measure slo_measure_percentile(const struct statistics_percentile *x, const char *doubt,
                                          const struct slo_assertion *of)
{
    const struct stats_ci *ci = &x->q.ci, *above = &x->above;
    double p = (double)of->ppm / SLO_PPM, lo = 0, hi = 1;

    if (x->n == 0)
        return absent("no request has such a time");
    struct slo_measure m = value_alone(ci->value, (double)x->n, ci->ok ? "" : ci->why);
    m.lo = ci->lo;
    m.hi = ci->hi;
    m.n_least = ceil(slo_least_requests(of) * fmax(x->q.deff, 1));
    widen(&m, ci, doubt);
    /* Noise that lasts may have spared this run, unless all requests are on one side. */
    if (above->ok && (*doubt == '\0' || above->value == 0 || above->value == 1))
        stats_wilson(above->value, m.n, above->se, above->df, &lo, &hi);
    m.side = (isinf(m.lo) && lo > 1 - p) - (isinf(m.hi) && hi < 1 - p);
    if (m.side != 0)
        m.why = "by the share of the requests beyond the limit";
    return m;
}

/* Percentiles and means are those of the successful requests. If more requests failed than may lie
 * above the percentile, it is infinite for those who sent them, so it cannot be shown to be below a
 * limit. A mean takes as many failures as a p99, as in comparisons. */
static void respect_failures(struct slo_measure *m, const struct operation *op,
                             const struct slo_assertion *of)
{
    uint32_t ppm = of->figure == SLO_MEAN ? 99 * SLO_PPM / 100 : of->ppm;
    double failed_frac = (double)operation_n_failed(op) / (double)operation_n_all(op);

    m->fails = failed_frac > 1 - (double)ppm / SLO_PPM;
    if (!m->known || !m->fails)
        return;
    m->hi = INFINITY;
    m->n_least = 0; /* more requests would fail as well */
    m->side = m->side > 0;
    m->why = of->figure == SLO_MEAN ? "more than 1 % of the requests failed"
                                    : "more requests failed than may exceed the percentile";
}

static bool measure_percentile(const struct subject *x, enum statistics_of source,
                               const struct slo_assertion *of, struct slo_measure *m, struct err *e)
{
    const struct operation *op = x->op;
    struct statistics_percentile found = {0};

    if (x->a->sums != NULL) {
        const struct sums_op *sums = sums_op_of(x->a, (size_t)x->index);

        if (sums->foreign != NULL)
            return percentile_of_foreign(x, sums, of, m, e);
        *m = percentile_of_sums(sums, source, of);
        return true;
    }
    const struct table *t = dataset_table(x->a->dataset, op->op);

    if (op->statistics == NULL) {
        *m = absent("the run has no active range");
        return true;
    }
    const struct stats_ratio p = {of->ppm, SLO_PPM};

    if (!statistics_find_percentile(t, op->statistics, source, p, of->limit, &found, e))
        return false;
    statistics_round_off(&found.q.ci, dataset_duration_resolution_ns(x->a->dataset));
    *m = slo_measure_percentile(&found, statistics_doubt(op->statistics, &found.q.ci), of);
    return true;
}

/* Failures may be one event, whose like no other run has. Of events that come at random, one is
 * seen in a run with a probability of 2.5 % if -log(.975) are expected. So the share of failures is
 * at least so many times what was seen. */
static void respect_one_event(struct slo_measure *m, const struct slo_assertion *of)
{
    double least = -log(.975) * m->value;

    if (!m->known || of->is_least || least <= of->limit)
        return;
    m->lo = fmax(m->lo, least);
    m->guard = 1;
    m->why = "";
}

/* ---- The report ---- */

/* Returns all operations of a run as one. */
static struct operation all_of(const struct analysis *a)
{
    struct operation all = {
        .op = "", .range = a->total.range, .judged = a->total.judged, .objects_per_op = 1};

    for (size_t i = 0; i < a->n_operations; i++) {
        all.n_requests += operation_n_all(&a->operations[i]);
        all.n_errors += operation_n_failed(&a->operations[i]);
    }
    return all;
}

static bool is_percentile(const struct slo_assertion *of)
{
    return of->figure == SLO_TIME || of->figure == SLO_TTFB;
}

static bool is_time(const struct slo_assertion *of)
{
    return is_percentile(of) || of->figure == SLO_MEAN;
}

static bool answer(struct slo_report *r, const struct slo_assertion *of, const struct subject *x,
                   struct err *e)
{
    if (!mem_more(&r->v, r->n, e))
        return false;
    struct slo_answer *to = &r->v[r->n++];
    *to = (struct slo_answer){.of = of};
    if (!mem_text(&to->op, x->op->op, e))
        return false;
    bool ok = true;
    if (x->op->n_requests == 0) {
        to->measure = absent("no requests are left");
    } else if (x->index >= 0 && x->index == role_main(x->a) && x->op->role == ROLE_PREPARATION) {
        to->measure = absent("the benchmark never began");
    } else if (is_percentile(of)) {
        enum statistics_of source = of->figure == SLO_TTFB ? STATISTICS_TTFB
                                    : has_response(x)      ? STATISTICS_RESPONSE
                                                           : STATISTICS_DURATION;

        to->of_response = source == STATISTICS_RESPONSE;
        ok = measure_percentile(x, source, of, &to->measure, e);
    } else if (x->index < 0 && !known_all(&x->op->judged.known, THROUGHPUT_ENDED)) {
        to->measure = absent("requests by second are not in the file");
    } else {
        to->of_response = of->figure == SLO_MEAN && has_response(x);
        ok = measure_flow(x, of->figure, &to->measure, e);
        if (of->figure == SLO_ERRORS)
            respect_one_event(&to->measure, of);
    }
    if (is_time(of))
        respect_failures(&to->measure, x->op, of);
    slo_judge(to);
    return ok;
}

/* Answers an assertion for each operation that it is about. `seconds`: the same operations with
 * their statistics by second; no operations: `a` has what there is. */
static bool answer_all(struct slo_report *r, const struct slo_assertion *of,
                       const struct analysis *a, const struct analysis *seconds, struct err *e)
{
    bool named = *of->op != '\0';
    size_t n_before = r->n;

    for (size_t k = 0; k < a->n_operations; k++) {
        const struct operation *op = &a->operations[k];
        const struct operation *by_second =
            seconds->n_operations > 0 ? &seconds->operations[k] : op;
        const struct subject x = {a, (int)k, op, by_second->statistics};
        bool about = named ? strcasecmp(of->op, op->op) == 0
                     : a->mixed
                         ? is_time(of) && (of->figure != SLO_TTFB || op->requests.all.ttfb.present)
                         : (int)k == role_main(a);

        if (about && !answer(r, of, &x, e))
            return false;
    }
    if (!named && a->mixed && !is_time(of)) {
        const struct operation all = all_of(a);

        return answer(r, of, &(struct subject){a, -1, &all, NULL}, e);
    }
    const struct filter_names names = {a->operations, a->n_operations, sizeof *a->operations};
    return r->n > n_before || filter_list_known(names, "operation", of->op, e);
}

bool slo_report_make(struct slo_report *r, const struct analysis *a, const struct slo_list *list,
                     struct err *e)
{
    struct analysis seconds = {0};
    struct dataset d = {0};
    const struct analysis_options by_second = {.by_second = true};
    bool ok = a->sums == NULL || sums_of(a)->foreign == NULL || list->n == 0 ||
              sums_analyze(&seconds, &d, sums_of(a), a->dataset->inputs[0].path, &by_second, e);

    *r = (struct slo_report){0};
    for (size_t i = 0; ok && i < list->n; i++)
        ok = answer_all(r, &list->v[i], a, &seconds, e);
    analysis_free(&seconds);
    dataset_free(&d);
    return ok;
}

void slo_report_free(struct slo_report *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->v[i].op);
    free(r->v);
    *r = (struct slo_report){0};
}
