/* The metrics that runs are compared by. One table gives the name and the unit of each, which
 * direction is better, and the tolerance for "the same". Comparison, gates and all reports go
 * through the table. The names below are of the metrics that code refers to. */
#ifndef S3_ANALYZE_COMPARE_METRIC_H
#define S3_ANALYZE_COMPARE_METRIC_H

#include "analyze/estimate/confidence.h"
#include "libcommon/units.h"

#include <stdbool.h>
#include <stddef.h>

/* Rows of the table. It has n_metrics rows, at most RUN_MAX_METRICS. */
enum run_metric {
    RUN_THROUGHPUT, /* bytes/s */
    RUN_OBJECTS,    /* objects/s */
    RUN_P50,        /* quantiles of durations */
    RUN_P90,
    RUN_P99,
    RUN_TTFB,   /* median of times to first byte */
    RUN_ERRORS, /* fraction of the requests */
    RUN_MAX_METRICS = 16,
};

/* How two single runs are compared: by means (rates), by quantiles, by the difference of fractions
 * (errors). */
enum metric_kind { METRIC_MEAN, METRIC_QUANTILE, METRIC_DIFFERENCE };

struct metric {
    const char *name;  /* as in JSON */
    const char *gate;  /* as in --gate */
    const char *title; /* as in tables that people read */
    const char *unit;  /* as in JSON */
    enum metric_kind kind;
    bool of_ttfb;    /* METRIC_QUANTILE: of times to first byte, else of durations */
    size_t quantile; /* METRIC_QUANTILE: which, as in struct statistics_latency */
    bool up_is_better;
    bool is_primary;            /* in the family if there is no gate */
    double delta;               /* half the width of the region of equivalence; 0: none */
    const char *better, *worse; /* one word each, as in JSON */
    struct units_text (*text)(double value); /* the value with its unit, for people */
};

extern const struct metric metrics[];
extern const size_t n_metrics;

/* The value of a metric in one run, or in a part of it. */
struct run_value {
    bool present; /* there is a value; ci.ok says whether it has an interval */
    struct stats_ci ci;
    bool can_gate; /* not a quantile, or one with enough independent requests beyond it */
    double deff;   /* the design effect of a quantile; else 0 */
};

/* Fills the values of all metrics. The quantiles of durations are those of `duration`: s->duration,
 * or the response times in its place. */
void metric_values(struct run_value value[RUN_MAX_METRICS], const struct statistics *s,
                   const struct statistics_latency *duration);

#endif
