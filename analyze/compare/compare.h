/* The result model of `s3analyze cmp`: what differs between two sides of one or more runs each, and
 * whether it can be told from noise (docs/how-the-numbers-are-made.md, section 8). */
#ifndef S3_ANALYZE_COMPARE_COMPARE_H
#define S3_ANALYZE_COMPARE_COMPARE_H

#include "analyze/base/notes.h"
#include "analyze/compare/run.h"
#include "analyze/stats/stats.h"
#include "libcommon/cli.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct compare_side {
    const char *name;
    const struct run *runs; /* borrowed */
    size_t n;
};

/* A worsening that --gate allows, as a fraction (METRIC_DIFFERENCE: of fractions). */
struct compare_gate {
    enum run_metric metric;
    double worsening;
};

/* Parses the values of --gate, such as "p99:10%", into as many gates. False: *e says what was
 * expected. */
bool compare_parse_gates(const struct cli_list *texts, struct compare_gate *gates, struct err *e);

struct compare_options {
    double run_cv_frac;        /* of single runs; NaN: not given */
    const struct run *history; /* earlier runs of one configuration; n_history 0: none */
    size_t n_history;
    const struct compare_gate *gates; /* n_gates 0: no gate */
    size_t n_gates;
};

/* A setting or circumstance in which the sides differ; lo < hi: the runs of a side differ. */
enum compare_setting_kind {
    COMPARE_OPERATIONS, /* number of requests: no setting, and never a limit */
    COMPARE_CONCURRENCY,
    COMPARE_ENDPOINTS,
    COMPARE_CLIENTS,
    COMPARE_OBJECTS_PER_OP,
    COMPARE_DURATION_S, /* active range, rounded */
    COMPARE_SIZE,       /* bytes; the mean of several sizes */
    COMPARE_SHARE,      /* of the requests of a mixed run, fraction */
    COMPARE_AUTOTERM,   /* 0, 1 */
    COMPARE_MIXED,      /* 0, 1: operations at the same time */
};

struct compare_span {
    double lo, hi;
    bool several; /* COMPARE_SIZE: requests of one run differ */
};

struct compare_setting {
    enum compare_setting_kind kind;
    struct compare_span before, after;
    bool is_outcome; /* how the runs ended, not what was asked for */
};

/* Value of a setting in one run; false: it has none. op: NULL for those of whole runs. *several:
 * requests of the run differ (COMPARE_SIZE). */
bool compare_setting_of(const struct run *run, const struct run_op *op,
                        enum compare_setting_kind kind, double *value, bool *several);

/* Whether values of a setting differ by more than chance. Of COMPARE_DURATION_S each difference
 * counts: compare_durations_differ says whether it is more than what the last request takes. */
bool compare_spans_differ(enum compare_setting_kind kind, const struct compare_span *a,
                          const struct compare_span *b);
bool compare_durations_differ(double a_s, double b_s);

/* Whether two runs were told different settings of s3load, as far as both say (recorded.h); hosts
 * are what is compared, and may differ. */
bool compare_options_differ(const json_t *a, const json_t *b);

#define COMPARE_MAX_SETTINGS 12

/* A setting of s3load, as its captures hold it, in which the sides differ. */
struct compare_option {
    const char *name;           /* the runs' */
    char before[80], after[80]; /* JSON, "lo, ..." of runs that differ within a side */
    bool is_limit;              /* hosts are what is compared */
};

/* One side's values of a metric. */
struct compare_values {
    double *v; /* by run, of the n that have it */
    size_t n;
    const char *too_thin; /* why none of them should be relied on; NULL: those that should not are
                             left out */
    struct run_value one; /* n = 1 */
    double center;        /* the value, or the median of the runs */
    double spread_frac; /* "+-": half of the 95 % CI, of a single run relative to the value; inf */
};

struct compare_metric {
    enum run_metric metric;
    const struct run_part *part; /* which part, of some run that has it */
    struct compare_values before, after;
    struct stats_cmp cmp;
    bool in_family; /* p is adjusted; else exploratory */
    double p_holm;  /* NaN outside the family */
    enum stats_verdict verdict;
    bool beyond_delta;
    double delta;    /* half of the region of equivalence; 0: none */
    double mde_frac; /* NaN: none; infinite: over 1000 %, as of too few runs */
    bool gated;
    double gate_limit; /* on theta */
    double p_worse;
    bool gate_passes;
};

/* What carries a change of the durations of an operation: parts of it in which they changed, while
 * they hardly did in the rest. */
enum compare_carrier_kind {
    COMPARE_AT_HOSTS = RUN_BY_HOST,
    COMPARE_FROM_CLIENTS = RUN_BY_CLIENT,
    COMPARE_IN_SIZES = RUN_BY_SIZE,
    COMPARE_IN_TIME = RUN_BY_TIME,
    COMPARE_IN_TAIL,
};

struct compare_carrier {
    enum compare_carrier_kind kind;
    const char *name[2]; /* of hosts or clients; NULL: there is but one, or none has a name */
    size_t size[2], n;   /* of size classes; n: how many of either there are */
    double lo, hi;       /* seconds after the begin; the tail: lo is its share of the requests */
    double frac; /* of the change of the mean duration; above 1: the rest went the other way */
    double change, rest; /* of the mean duration there, and in the rest, as fractions */
};

#define COMPARE_MAX_CARRIERS 2

struct compare_op {
    const char *op;
    size_t n_before, n_after;       /* runs that have it */
    size_t dead_before, dead_after; /* of these, runs of which no request succeeded */
    enum role role;                 /* in each of them, else of the benchmark; gates are for that */
    struct compare_setting settings[COMPARE_MAX_SETTINGS];
    size_t n_settings;
    struct run_figures before, after; /* medians over the runs */
    bool has_effect;
    struct stats_effect effect; /* of durations, all runs of a side together */
    /* Sizes differ between the sides: bytes/s follow from them, and objects/s lead. */
    bool sizes_differ;
    /* What carries its change of durations, or changed alone: the sharpest first; its share of the
     * change of all operations of a mixed run, NaN: there is but one. */
    struct compare_carrier carriers[COMPARE_MAX_CARRIERS];
    size_t n_carriers;
    double share_of_change;
    bool has_clear;         /* some run has faults that can be left out */
    struct stats_cmp clear; /* the leading metric without them */
    struct compare_metric *metrics;
    size_t n_metrics;
};

/* The change of the values that are shown, as theta: reports show one estimate, that of both sides'
 * centres, and an interval that holds it. */
double compare_theta(const struct compare_metric *m);
double compare_theta_lo(const struct compare_metric *m);
double compare_theta_hi(const struct compare_metric *m);

/* Whether a change is shown, or may be one if runs repeat well; and whether it is for the worse. */
bool compare_is_changed(const struct compare_metric *m);
bool compare_is_worse(const struct compare_metric *m);

/* The metric of the whole operation; NULL: it is not on both sides. */
const struct compare_metric *compare_metric_of(const struct compare_op *op, enum run_metric metric);

/* The p that verdicts go by. */
static inline double compare_p(const struct compare_metric *m)
{
    return m->in_family ? m->p_holm : m->cmp.p;
}

/* Bytes/s of other object sizes: shown, and not judged. */
static inline bool compare_is_unjudged(const struct compare_op *op, const struct compare_metric *m)
{
    return op->sizes_differ && m->metric == RUN_THROUGHPUT;
}

/* Whether reports show RUN_AVERAGE, ...: a median only where both sides have segments enough. */
static inline bool compare_shows_rate(const struct compare_op *op, int rate)
{
    return rate != RUN_MEDIAN || (!(op->before.n_segments < ANALYSIS_MIN_MEDIAN) &&
                                  !(op->after.n_segments < ANALYSIS_MIN_MEDIAN));
}

struct compare {
    struct compare_side before, after;
    enum stats_noise_kind noise; /* of single runs */
    bool single;                 /* one run a side */
    double run_cv_frac;          /* as given */
    size_t n_history;
    struct compare_setting settings[COMPARE_MAX_SETTINGS]; /* of the runs as wholes */
    size_t n_settings;
    struct compare_option *options;
    size_t n_options;
    struct compare_op *ops; /* present on both sides */
    size_t n_ops;
    size_t n_family; /* comparisons that p was adjusted for */
    struct notes warnings;
    bool has_gate;
    enum exit_code gate; /* EXIT_DONE, EXIT_FAILED, EXIT_UNDECIDED */
};

/* The i-th of the runs of both sides. */
static inline const struct run *compare_nth_run(const struct compare *c, size_t i)
{
    return i < c->before.n ? &c->before.runs[i] : &c->after.runs[i - c->before.n];
}

/* The side that it is of. */
static inline const struct compare_side *compare_side_of(const struct compare *c, size_t i)
{
    return i < c->before.n ? &c->before : &c->after;
}

static inline size_t compare_n_runs(const struct compare *c)
{
    return c->before.n + c->after.n;
}

/* Compares. Fails if a run is there twice on a side, or both compared and in the history, or if no
 * operation is on both sides. The sides' runs must outlive *c; the caller calls compare_free in any
 * case. */
bool compare_run(struct compare *c, const struct compare_side *before,
                 const struct compare_side *after, const struct compare_options *options,
                 struct err *e);
void compare_free(struct compare *c);

/* The metric that the operation is first judged by: throughput, or objects/s where there are no
 * bytes or their sizes differ. NULL: neither is on both sides. */
const struct compare_metric *compare_leading(const struct compare_op *op);

/* Runs of both sides that hold a fault (run_is_fault). */
size_t compare_n_faulty(const struct compare *c);

/* Geometric means of a metric's centres over the n operations that have it. False: none, or one
 * that is not positive. */
bool compare_geomean(const struct compare *c, enum run_metric metric, double *before, double *after,
                     size_t *n);

/* Settings that limit the comparison, of all operations and of the runs as wholes. */
size_t compare_n_limits(const struct compare *c);
bool compare_is_limit(const struct compare_setting *s);

/* Whether reports begin with an operation: what is beside the benchmark is a detail, unless it is
 * all that they have. */
static inline bool compare_is_measured(const struct compare *c, const struct compare_op *op)
{
    return role_is_benchmark(op->role) || c->n_ops == 1;
}

#endif
