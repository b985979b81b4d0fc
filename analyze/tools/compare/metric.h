/* What can be said of an operation in one number. One table gives the names and the unit of each
 * metric, which direction is better, where its value is, and how runs are compared by it.
 * Comparison, gates, `table`, `trend`, `export` and all reports of these go through the table. */
#ifndef S3_ANALYZE_TOOLS_COMPARE_METRIC_H
#define S3_ANALYZE_TOOLS_COMPARE_METRIC_H

#include "analyze/summary/estimate/confidence.h"
#include "libcommon/slo.h"
#include "libcommon/units.h"

#include <stdbool.h>
#include <stddef.h>

/* The rows of the table that code refers to, first those that runs are compared by. It has
 * n_metrics rows, at most RUN_MAX_METRICS. */
enum run_metric {
    RUN_THROUGHPUT, /* bytes/s */
    RUN_OBJECTS,    /* objects/s */
    RUN_P50,        /* quantiles of durations */
    RUN_P90,
    RUN_P99,
    RUN_TTFB,   /* median of times to first byte */
    RUN_ERRORS, /* fraction of the requests */
    RUN_MEAN,   /* of durations */
    RUN_N_COMPARED,
    RUN_SEGMENTS = RUN_N_COMPARED, /* bytes/s, then objects/s, of the fastest segment, the median,
                                      the slowest */
    RUN_MAX_METRICS = 24,
};

/* What metrics are of. */
enum metric_group {
    METRIC_BYTES,
    METRIC_OBJECTS,
    METRIC_DURATION,
    METRIC_OF_TTFB,
    METRIC_N_GROUPS,
    METRIC_FAILED = METRIC_N_GROUPS, /* has one metric */
};
/* As in "Throughput, average"; the group's key in the JSON of `cmp`. */
extern const struct metric_group_name {
    const char *title, *json;
} metric_groups[METRIC_N_GROUPS];

/* How two single runs are compared: by means (rates), by quantiles, by the difference of fractions
 * (errors). */
enum metric_kind { METRIC_MEAN, METRIC_QUANTILE, METRIC_DIFFERENCE };

struct metric {
    const char *key;    /* in its group in JSON; of times that of struct field; NULL: not there */
    const char *label;  /* in its group, for people */
    const char *name;   /* as in JSON; this and the next two: of metrics that are compared */
    const char *gate;   /* as in --gate */
    const char *title;  /* as in tables that people read */
    const char *go;     /* its unit in the Go benchmark format; NULL: not there */
    const char *says;   /* names it at the head of a sentence; NULL: the sentence needs no name */
    const char *sample; /* its quantile in OpenMetrics; "": it is none; NULL: not there */
    enum metric_group group;
    const char *unit;                        /* as in JSON */
    struct units_text (*text)(double value); /* the value with its unit, for people */
    const char *axis; /* the unit of charts, and what values are divided by for it */
    double axis_unit;
    enum slo_figure limit; /* a limit of it is written like that of this figure */
    size_t segment;        /* offset of its segment in struct segments; 0: of no segment */
    enum metric_kind kind;
    /* METRIC_QUANTILE: which, as in struct statistics_latency. Of the mean: as many failures as may
     * exceed this quantile may hide in it. */
    size_t quantile;
    bool up_is_better;
    bool is_primary;            /* in the family if there is no gate */
    double delta;               /* half the width of the region of equivalence; 0: none */
    const char *better, *worse; /* one word each, as in JSON */
};

extern const struct metric metrics[];
extern const size_t n_metrics;

/* The names of gates, for people. */
#define METRIC_GATES "throughput, objects, p50, p90, p99, ttfb, errors or mean"

/* The value of a metric in one run, or in a part of it. */
struct run_value {
    bool present; /* there is a value; ci.ok says whether it has an interval */
    struct stats_ci ci;
    bool can_gate; /* not a quantile, or one with enough independent requests beyond it */
    double deff;   /* the design effect of a quantile; else 0 */
};

/* Fills the values of the metrics that runs are compared by. The quantiles of durations are those
 * of `duration`: s->duration, or the response times in its place. */
void metric_values(struct run_value value[RUN_N_COMPARED], const struct statistics *s,
                   const struct statistics_latency *duration);

/* Returns the value that the report of an operation shows (docs/how-the-numbers-are-made.md,
 * sections 4 and 5), of response times in place of durations if of_response. NaN: it has none. */
double metric_shown(const struct metric *m, const struct operation *op, bool of_response);

/* The same for other runs to be compared with: NaN also for a rate that leaves failures out. */
double metric_judged(const struct metric *m, const struct operation *op, bool of_response);

#endif
