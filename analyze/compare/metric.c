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
