#include "analyze/tools/compare/metric.h"

#include "analyze/summary/model/fields.h"

#include <math.h>
#include <string.h>

const struct metric_group_name metric_groups[METRIC_N_GROUPS] = {
    [METRIC_BYTES] = {"Throughput", "bytes_per_s"},
    [METRIC_OBJECTS] = {"Objects", "objects_per_s"},
    [METRIC_DURATION] = {"Duration", "duration"},
    [METRIC_OF_TTFB] = {"TTFB", "ttfb"},
};

#define RATE .kind = METRIC_MEAN, .up_is_better = true, .better = "faster", .worse = "slower"
#define BYTES                                                                                      \
    .group = METRIC_BYTES, .unit = "bytes_per_s", .text = units_byte_rate, .axis = "MiB/s",        \
    .axis_unit = MIB, .limit = SLO_THROUGHPUT, RATE
#define OBJECTS                                                                                    \
    .group = METRIC_OBJECTS, .unit = "objects_per_s", .text = units_object_rate,                   \
    .axis = "objects/s", .axis_unit = 1, .limit = SLO_RATE, RATE
#define TIME                                                                                       \
    .unit = "ns", .text = units_real_duration, .axis = "ms", .axis_unit = NS_PER_MS,               \
    .limit = SLO_TIME, .kind = METRIC_QUANTILE, .better = "faster", .worse = "slower"
#define DURATION .group = METRIC_DURATION, TIME
#define TTFB     .group = METRIC_OF_TTFB, TIME

#define FASTEST "fastest", "fastest segment", .segment = offsetof(struct segments, fastest)
#define MEDIAN  "median", "median segment", .segment = offsetof(struct segments, median)
#define SLOWEST "slowest", "slowest segment", .segment = offsetof(struct segments, slowest)

/* A row begins with its key and its label. */
/* clang-format off */
const struct metric metrics[] = {
    [RUN_THROUGHPUT] = {"average", "average", "throughput", "throughput", "Throughput", "B/s",
                        BYTES, .sample = "", .is_primary = true, .delta = .05},
    [RUN_OBJECTS] = {"average", "average", "objects", "objects", "Objects/s", "obj/s",
                     OBJECTS, .sample = "", .delta = .05},
    [RUN_P50] = {"p50_ns", "p50", "p50", "p50", "p50", "p50-ns", "median duration ",
                 DURATION, .sample = "0.5", .quantile = 0, .is_primary = true, .delta = .05},
    [RUN_P90] = {"p90_ns", "p90", "p90", "p90", "p90", "p90-ns", "p90 of durations ",
                 DURATION, .sample = "0.9", .quantile = 1, .delta = .05},
    [RUN_P99] = {"p99_ns", "p99", "p99", "p99", "p99", "p99-ns", "p99 of durations ",
                 DURATION, .sample = "0.99", .quantile = 2, .is_primary = true, .delta = .10},
    [RUN_TTFB] = {"p50_ns", "p50", "ttfb_p50", "ttfb", "TTFB p50", "ttfb-p50-ns",
                  TTFB, .sample = "0.5", .delta = .05},
    [RUN_ERRORS] = {NULL, NULL, "errors", "errors", "Error rate", "errors/op", "error rate ",
                    .group = METRIC_FAILED, .unit = "frac", .text = units_frac_cell, .axis = "%",
                    .axis_unit = .01, .limit = SLO_ERRORS, .kind = METRIC_DIFFERENCE,
                    .better = "fewer", .worse = "more"},
    [RUN_MEAN] = {"mean_ns", "average", "mean", "mean", "Mean", "ns/op", "mean duration ",
                  DURATION, .quantile = 2, .delta = .05},
    [RUN_SEGMENTS] = {FASTEST, BYTES}, {FASTEST, OBJECTS},
    {MEDIAN, BYTES}, {MEDIAN, OBJECTS},
    {SLOWEST, BYTES}, {SLOWEST, OBJECTS},
    {"best_ns", "best", DURATION},
    {"worst_ns", "worst", .go = "max-ns", .sample = "1.0", DURATION},
    {"mean_ns", "average", TTFB},
    {"p90_ns", "p90", .sample = "0.9", TTFB},
    {"p99_ns", "p99", .sample = "0.99", TTFB},
    {"best_ns", "best", TTFB},
    {"worst_ns", "worst", .sample = "1.0", TTFB},
};
/* clang-format on */
const size_t n_metrics = sizeof metrics / sizeof *metrics;
_Static_assert(sizeof metrics / sizeof *metrics <= RUN_MAX_METRICS, "no room for the values");

/* ---- Values with intervals ---- */

static struct run_value mean_value(bool present, const struct stats_ci *ci)
{
    return (struct run_value){present, *ci, true, 0};
}

static struct run_value quantile_value(const struct statistics_latency *l, size_t q)
{
    return (struct run_value){l->times.present && !isnan(l->q[q].ci.value), l->q[q].ci,
                              l->q[q].can_gate, l->q[q].deff};
}

void metric_values(struct run_value value[RUN_N_COMPARED], const struct statistics *s,
                   const struct statistics_latency *duration)
{
    /* A run in which nothing succeeded has no logarithm of a rate. Its errors are compared. */
    bool any = s->n_requests > 0;
    value[RUN_THROUGHPUT] = mean_value(any && s->bytes.present, &s->bytes.mean);
    value[RUN_OBJECTS] = mean_value(any && s->objects.present, &s->objects.mean);
    value[RUN_ERRORS] = mean_value(s->n_requests + s->n_failed > 0, &s->error_rate);
    for (size_t i = 0; i < RUN_N_COMPARED; i++)
        if (metrics[i].kind == METRIC_QUANTILE)
            value[i] = quantile_value(metrics[i].group == METRIC_OF_TTFB ? &s->ttfb : duration,
                                      metrics[i].quantile);
    value[RUN_MEAN] =
        mean_value(duration->times.present && duration->mean.value > 0, &duration->mean);
}

/* ---- Values of reports ---- */

static bool is_rate(const struct metric *m)
{
    return m->group == METRIC_BYTES || m->group == METRIC_OBJECTS;
}

static double rate_shown(const struct metric *m, const struct operation *op)
{
    const struct throughput *t = throughput_shown(&op->judged, &op->throughput);
    const struct segments *s = &op->segments;
    const struct segment_pick average = {0, t->bytes_per_s, t->objects_per_s};
    const struct segment_pick *x =
        m->segment == 0 ? &average : (const void *)((const char *)s + m->segment);

    if (!t->present || (x != &average && !s->present))
        return NAN;
    if (m->group == METRIC_OBJECTS)
        return x->objects_per_s;
    return t->n_bytes > 0 ? x->bytes_per_s : NAN;
}

double metric_shown(const struct metric *m, const struct operation *op, bool of_response)
{
    const struct requests *q = &op->requests;
    const struct times *t = m->group == METRIC_OF_TTFB ? &q->all.ttfb
                            : of_response              ? &q->response_time.dur
                                                       : &q->all.dur;

    if (m->group == METRIC_FAILED)
        return (double)operation_n_failed(op) / (double)operation_n_all(op);
    if (is_rate(m))
        return rate_shown(m, op);
    if (m->key == NULL || !t->present || q->with_failed)
        return NAN;
    for (const struct field *const *f = times_ttfb_json; *f != NULL; f++)
        if (strcmp((*f)->json, m->key) == 0)
            return field_is_known(*f, t) ? field_real(*f, t) : NAN;
    return NAN;
}

double metric_judged(const struct metric *m, const struct operation *op, bool of_response)
{
    return is_rate(m) && op->judged.known.why != NULL ? NAN : metric_shown(m, op, of_response);
}
