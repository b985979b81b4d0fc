/* Finds figures of requests (docs/how-the-numbers-are-made.md, section 5) from the sums of a run,
 * as far as histograms contain them. */
#include "analyze/analysis/sums/sums_internal.h"
#include "analyze/summary/estimate/confidence.h"
#include "analyze/summary/model/fields.h"
#include "analyze/summary/requests/requests.h"
#include "libcommon/mem.h"

#include <math.h>
#include <string.h>

struct times sums_times(const struct sums_values *v)
{
    size_t ranks[TIMES_N_RANKS];
    int64_t values[TIMES_N_RANKS] = {0};

    if (v->moments.n > 0)
        times_ranks((size_t)v->moments.n, ranks);
    for (size_t i = 0; v->moments.n > 0 && i < TIMES_N_RANKS; i++)
        values[i] = sums_value_at(v, (int64_t)ranks[i]);
    values[0] = v->min;
    values[TIMES_N_RANKS - 1] = v->max;
    return times_of(&v->moments, values);
}

struct durations sums_durations(const struct sums_part *p)
{
    return (struct durations){sums_times(&p->duration), sums_times(&p->ttfb)};
}

/* Returns a quantile of the rates. Percentiles count from the fastest request, so ranks count from
 * the greatest rate. */
static double rate_at(const struct sums_values *v, unsigned permille)
{
    size_t n = (size_t)v->moments.n;
    return (double)sums_value_at(v, (int64_t)(n - 1 - quantile_index(n, permille))) / SUMS_MILLI;
}

static struct sized sized_of(const struct sums_part *p)
{
    const struct moments *m = &p->duration.moments;
    struct sized s = {0};

    if (m->n == 0)
        return s;
    s = (struct sized){
        .present = true,
        .n = m->n,
        .n_unrated = m->n - p->rate.moments.n,
        .mean_bytes = (double)p->n_bytes / (double)m->n,
        .mean_ns = moments_mean(m),
        .rated = p->rate.moments.n > 0,
        .ttfb = sums_times(&p->ttfb),
    };
    if (!s.rated)
        return s;
    s.mean_bytes_per_s = (double)p->n_rated_bytes / ((double)p->n_rated_ns / 1e9);
    s.p50_bytes_per_s = rate_at(&p->rate, 500);
    s.p90_bytes_per_s = rate_at(&p->rate, 900);
    s.p99_bytes_per_s = rate_at(&p->rate, 990);
    s.fastest_bytes_per_s = (double)p->rate.max / SUMS_MILLI;
    s.slowest_bytes_per_s = (double)p->rate.min / SUMS_MILLI;
    return s;
}

/* Fills size classes, joined as in an analysis of a capture. */
static bool fill_sizes(struct requests *r, const struct sums_op *op, struct err *e)
{
    int64_t n_by_class[ANALYSIS_N_SIZES] = {0}, edges[ANALYSIS_N_SIZES + 1];
    uint8_t of_class[ANALYSIS_N_SIZES] = {0};
    bool ok = true;

    for (size_t i = 0; i < op->sizes.n; i++)
        n_by_class[analysis_size_class(op->sizes.v[i].min_bytes)] +=
            op->sizes.v[i].duration.moments.n;
    r->mean_bytes = (double)op->all.n_bytes / (double)r->n;
    r->n_sizes = requests_join_classes(n_by_class, r->n, of_class, edges);
    if (!mem_cleared(&r->sizes, r->n_sizes, e))
        return false;
    for (size_t b = 0; ok && b < r->n_sizes; b++) {
        struct sums_part joined = {0};
        for (size_t i = 0; ok && i < op->sizes.n; i++) {
            const struct sums_part *p = &op->sizes.v[i];
            if (p->duration.moments.n > 0 && of_class[analysis_size_class(p->min_bytes)] == b)
                ok = sums_part_add(&joined, p, e);
        }
        r->sizes[b] =
            (struct size_bucket){.min_bytes = edges[b],
                                 .max_bytes = edges[b + 1] == INT64_MAX ? -1 : edges[b + 1],
                                 .all = sized_of(&joined),
                                 .dur = sums_times(&joined.duration)};
        sums_part_free(&joined);
    }
    return ok;
}

bool sums_requests(struct requests *r, const struct sums_op *op, struct err *e)
{
    const struct sums_part *all = &op->all;
    r->n = all->duration.moments.n;
    r->present = r->n > 0;
    r->of_whole_run = true;
    if (!r->present)
        return true;
    r->single_size = op->min_bytes == op->max_bytes;
    r->response_time.dur = sums_times(&op->response);
    r->all = sums_durations(all);
    if (r->single_size) {
        r->object_size_bytes = op->min_bytes;
    } else if (!fill_sizes(r, op, e)) {
        return false;
    }
    if (op->hosts.n < 2)
        return true;
    if (!mem_cleared(&r->hosts, op->hosts.n, e))
        return false;
    for (size_t i = 0; i < op->hosts.n; i++) {
        const struct sums_part *p = &op->hosts.v[i];
        if (p->duration.moments.n == 0)
            continue;
        struct host_requests *h = &r->hosts[r->n_hosts++];
        h->host = p->name;
        if (r->single_size)
            h->single = sums_durations(p);
        else
            h->sized = sized_of(p);
    }
    return true;
}

/* ---- Statistics ---- */

static void take_intervals(struct sums_values *to, const struct statistics *s,
                           const struct statistics_latency *l)
{
    for (size_t i = 0; to->moments.n > 0 && l->times.present && i < SUMS_N_INTERVALS; i++) {
        const struct stats_ci *ci = &l->q[i].ci;

        if (ci->ok)
            to->interval[i] =
                (struct sums_interval){isfinite(ci->lo) ? (int64_t)floor(fmax(ci->lo, 0)) : 0,
                                       isfinite(ci->hi) ? (int64_t)ceil(ci->hi) : 0,
                                       (int64_t)l->q[i].n_e, *statistics_doubt(s, ci) != '\0'};
    }
}

void sums_take_intervals(struct sums *s, const struct analysis *a)
{
    for (size_t k = 0; k < a->n_operations; k++)
        for (size_t j = 0; j < s->n_ops; j++) {
            const struct statistics *from = a->operations[k].statistics;
            struct sums_op *to = &s->ops[j];

            if (from == NULL || strcmp(a->operations[k].op, to->op) != 0)
                continue;
            take_intervals(&to->all.duration, from, &from->duration);
            take_intervals(&to->all.ttfb, from, &from->ttfb);
            take_intervals(&to->response, from, &from->response);
        }
}

struct stats_ci sums_interval(const struct sums_values *v, size_t i)
{
    const struct sums_interval *x = &v->interval[i < SUMS_N_INTERVALS ? i : 0];
    struct stats_ci ci = {.why = SUMS_NO_ORDER,
                          .value = (double)sums_quantile(v, statistics_permille[i])};

    if (i >= SUMS_N_INTERVALS || x->n_e == 0)
        return ci;
    /* The requests of the interval are those of the active range, the value is that of all. The 90
     * % interval is not kept: that of 95 % contains it. */
    ci.ok = true;
    ci.why = "";
    ci.lo = ci.lo90 = x->lo_ns > 0 ? fmin((double)x->lo_ns, ci.value) : -INFINITY;
    ci.hi = ci.hi90 = x->hi_ns > 0 ? fmax((double)x->hi_ns, ci.value) : INFINITY;
    ci.se = NAN;
    ci.df = INFINITY;
    ci.stretches = x->is_doubted ? 1 : 0;
    return ci;
}

static bool fill_latency(struct statistics_latency *to, const struct sums_values *v, struct err *e)
{
    to->times = sums_times(v);
    if (!to->times.present)
        return true;
    for (size_t i = 0; i < STATISTICS_N_QUANTILES; i++) {
        to->q[i].ci = sums_interval(v, i);
        if (!to->q[i].ci.ok)
            continue;
        to->q[i].n_e = (uint64_t)v->interval[i].n_e;
        to->q[i].deff = (double)v->moments.n / (double)v->interval[i].n_e;
        to->q[i].can_gate = (double)to->q[i].n_e * (1000 - statistics_permille[i]) >= 30 * 1000;
    }
    to->first_bucket = v->bucket[0];
    to->n_buckets = v->bucket[v->n_buckets - 1] - v->bucket[0] + 1;
    if (!mem_cleared(&to->count, to->n_buckets, e))
        return false;
    for (size_t i = 0; i < v->n_buckets; i++)
        to->count[v->bucket[i] - v->bucket[0]] = (uint64_t)v->count[i];
    return true;
}

bool sums_statistics(struct operation *to, const struct sums_part *p,
                     const struct series_row *seconds, size_t n, struct err *e)
{
    return mem_cleared(&to->statistics, 1, e) &&
           statistics_of_series(to->statistics, to, seconds, n, e) &&
           fill_latency(&to->statistics->duration, &p->duration, e) &&
           fill_latency(&to->statistics->ttfb, &p->ttfb, e);
}
