#include "analyze/compare/metric.h"

#include <math.h>

static struct units_text duration_text(double ns)
{
    return units_duration((int64_t)round(ns));
}

static struct units_text frac_text(double frac)
{
    return units_pct(100 * frac);
}

/* clang-format off: one metric a row. */
const struct metric metrics[RUN_N_METRICS] = {
    [RUN_THROUGHPUT] = {"throughput", "throughput", "Throughput", "bytes_per_s", METRIC_MEAN, true,
                        true, .05, "faster", "slower", units_byte_rate},
    [RUN_OBJECTS] = {"objects", "objects", "Objects/s", "objects_per_s", METRIC_MEAN, true, false,
                     .05, "faster", "slower", units_object_rate},
    [RUN_P50] = {"p50", "p50", "50%", "ns", METRIC_QUANTILE, false, true, .05, "faster", "slower",
                 duration_text},
    [RUN_P90] = {"p90", "p90", "90%", "ns", METRIC_QUANTILE, false, false, .05, "faster", "slower",
                 duration_text},
    [RUN_P99] = {"p99", "p99", "99%", "ns", METRIC_QUANTILE, false, true, .10, "faster", "slower",
                 duration_text},
    [RUN_TTFB] = {"ttfb_p50", "ttfb", "TTFB 50%", "ns", METRIC_QUANTILE, false, false, .05,
                  "faster", "slower", duration_text},
    [RUN_ERRORS] = {"errors", "errors", "Error rate", "frac", METRIC_DIFFERENCE, false, false, 0,
                    "fewer", "more", frac_text},
};
/* clang-format on */

static struct run_value mean_value(bool present, const struct stats_ci *ci)
{
    return (struct run_value){present, *ci, true, 0};
}

static struct run_value quantile_value(const struct statistics_latency *l, size_t q)
{
    return (struct run_value){l->n > 0, l->q[q].ci, l->q[q].can_gate, l->q[q].deff};
}

void metric_values(struct run_value value[RUN_N_METRICS], const struct statistics *s)
{
    value[RUN_THROUGHPUT] = mean_value(s->bytes.present, &s->bytes.mean);
    value[RUN_OBJECTS] = mean_value(s->objects.present, &s->objects.mean);
    value[RUN_P50] = quantile_value(&s->duration, 0);
    value[RUN_P90] = quantile_value(&s->duration, 1);
    value[RUN_P99] = quantile_value(&s->duration, 2);
    value[RUN_TTFB] = quantile_value(&s->ttfb, 0);
    value[RUN_ERRORS] = mean_value(s->n_requests + s->n_failed > 0, &s->error_rate);
}
