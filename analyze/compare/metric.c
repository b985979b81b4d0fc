#include "analyze/compare/metric.h"

#include <math.h>

#define RATE                                                                                       \
    .kind = METRIC_MEAN, .up_is_better = true, .delta = .05, .better = "faster", .worse = "slower"
#define TIME                                                                                       \
    .unit = "ns", .kind = METRIC_QUANTILE, .better = "faster", .worse = "slower",                  \
    .text = units_real_duration

/* clang-format off: one metric a row. */
const struct metric metrics[] = {
    [RUN_THROUGHPUT] = {"throughput", "throughput", "Throughput", "bytes_per_s", RATE,
                        .is_primary = true, .text = units_byte_rate},
    [RUN_OBJECTS] = {"objects", "objects", "Objects/s", "objects_per_s", RATE,
                     .text = units_object_rate},
    [RUN_P50] = {"p50", "p50", "50%", TIME, .quantile = 0, .is_primary = true, .delta = .05},
    [RUN_P90] = {"p90", "p90", "90%", TIME, .quantile = 1, .delta = .05},
    [RUN_P99] = {"p99", "p99", "99%", TIME, .quantile = 2, .is_primary = true, .delta = .10},
    [RUN_TTFB] = {"ttfb_p50", "ttfb", "TTFB 50%", TIME, .of_ttfb = true, .delta = .05},
    [RUN_ERRORS] = {"errors", "errors", "Error rate", "frac", .kind = METRIC_DIFFERENCE,
                    .better = "fewer", .worse = "more", .text = units_frac_cell},
};
/* clang-format on */
const size_t n_metrics = sizeof metrics / sizeof *metrics;
_Static_assert(sizeof metrics / sizeof *metrics <= RUN_MAX_METRICS, "no room for the values");

static struct run_value mean_value(bool present, const struct stats_ci *ci)
{
    return (struct run_value){present, *ci, true, 0};
}

static struct run_value quantile_value(const struct statistics_latency *l, size_t q)
{
    return (struct run_value){l->n > 0 && !isnan(l->q[q].ci.value), l->q[q].ci, l->q[q].can_gate,
                              l->q[q].deff};
}

void metric_values(struct run_value value[RUN_MAX_METRICS], const struct statistics *s,
                   const struct statistics_latency *duration)
{
    /* A run in which nothing succeeded has no logarithm of a rate. Its errors are compared. */
    bool any = s->n_requests > 0;
    value[RUN_THROUGHPUT] = mean_value(any && s->bytes.present, &s->bytes.mean);
    value[RUN_OBJECTS] = mean_value(any && s->objects.present, &s->objects.mean);
    value[RUN_ERRORS] = mean_value(s->n_requests + s->n_failed > 0, &s->error_rate);
    for (size_t i = 0; i < n_metrics; i++)
        if (metrics[i].kind == METRIC_QUANTILE)
            value[i] =
                quantile_value(metrics[i].of_ttfb ? &s->ttfb : duration, metrics[i].quantile);
}
