/* The result model of `s3analyze cmp`: what differs between two sides of one or more runs each, and
 * whether the difference is more than noise (docs/how-the-numbers-are-made.md, section 8). */
#ifndef S3_ANALYZE_TOOLS_COMPARE_COMPARE_H
#define S3_ANALYZE_TOOLS_COMPARE_COMPARE_H

#include "analyze/base/notes.h"
#include "analyze/stats/stats.h"
#include "analyze/tools/compare/alike.h"
#include "analyze/tools/compare/run.h"
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

/* A worsening that --gate allows, as a fraction (METRIC_DIFFERENCE: a difference of fractions). */
struct compare_gate {
    enum run_metric metric;
    double worsening;
};

/* Parses each value of --gate, such as "p99:10%", into the gate of the same index. False: *e says
 * what was expected. */
bool compare_parse_gates(const struct cli_list *texts, struct compare_gate *gates, struct err *e);

struct compare_options {
    double run_cv_frac;        /* between single runs; NaN: not given */
    const struct run *history; /* earlier runs of one configuration; n_history 0: none */
    size_t n_history;
    const struct compare_gate *gates; /* n_gates 0: no gate */
    size_t n_gates;
    const struct cli_list *picked; /* "KEY=VALUE": which cells; NULL: all */
};

/* Whether operation k of a run is a cell, that is of the benchmark or the only one, and has one of
 * the values that were picked for each key. Without picked values: true. */
bool compare_is_picked(const struct run_kept *r, size_t k, const struct cli_list *picked);

/* The values of a setting in some runs; lo < hi: they differ; NaN: no run has it. */
struct compare_span {
    double lo, hi;
    bool several; /* RUN_OBJECT_SIZE: the requests of one run have several sizes */
};

/* All settings of an operation in some runs. All zero: of no run. */
struct compare_spans {
    struct compare_span of[RUN_N_SETTINGS];
    size_t n_runs;
};
void compare_spans_add(struct compare_spans *s, const struct run_kept_op *op);

/* Whether both sides have a setting, and its values differ by more than chance (durations: at all).
 * `chance`: by how much more than usual means of random sizes (a fraction) and shares may differ.
 */
bool compare_spans_differ(enum run_setting kind, const struct compare_spans *a,
                          const struct compare_spans *b, double chance);

/* Whether a difference shows how the runs ended, not what was asked for. */
bool compare_is_outcome(enum run_setting kind, const struct compare_spans *a,
                        const struct compare_spans *b);

/* A setting or circumstance in which the sides differ. */
struct compare_setting {
    enum run_setting kind;
    struct compare_span before, after;
    bool is_outcome;
};

/* Whether the rows of a capture show this setting of s3load, so that the measured value is compared
 * in its place. */
bool compare_is_measured_option(const char *name);

/* Writes a setting of s3load as JSON, cut to 70 characters. False: out of memory. */
#define COMPARE_OPTION_TEXT 80
bool compare_option_text(const json_t *value, char text[static COMPARE_OPTION_TEXT]);

/* A setting of s3load, from the comments of captures, in which the sides differ. */
struct compare_option {
    const char *name; /* borrowed from the runs */
    char before[COMPARE_OPTION_TEXT],
        after[COMPARE_OPTION_TEXT]; /* JSON; "..." follows if the runs of a side differ */
    bool is_limit;                  /* false for the hosts, which are what is compared */
};

/* One side's values of a metric. */
struct compare_values {
    double *v; /* by run, of the n that have it */
    size_t n;
    struct stats_turn *turns; /* those runs with their times, as if all were before */
    size_t n_failing;         /* further runs, without a value because their requests failed */
    const char *too_thin;     /* why none of the values is reliable; NULL: they are */
    struct run_value one;     /* n = 1 */
    double center;            /* the value; of runs the median, of fractions or pairs the mean */
    double spread_frac;       /* "+-": the farther end of the 95 % CI, over center; inf: unknown */
    /* By how much the log of a value may be off, where values are known only to bounds: the most of
     * all runs; 0: they are exact. */
    double below, above;
};

struct compare_metric {
    enum run_metric metric;
    const struct run_part *part; /* from some run that has it */
    struct compare_values before, after;
    size_t n_pairs; /* cmp is by pairs of runs taken in turns; 0: it is not */
    enum stats_order order;
    double drift_theta, drift_p; /* over all runs in a fixed order; 1: none is visible */
    struct stats_cmp cmp;
    bool in_family; /* p is adjusted; else exploratory */
    double p_holm;  /* NaN outside the family */
    enum stats_verdict verdict;
    bool beyond_delta;
    double delta;    /* half the width of the region of equivalence; 0: none */
    double mde_frac; /* NaN: none; infinite: over 1000 %, so with too few runs */
    size_t n_enough; /* with mde_frac infinite: so many runs a side would find a change as large as
                        this one; 0: not even COMPARE_MOST_RUNS */
    bool gated;
    double gate_limit; /* a limit of theta */
    double p_worse;
    bool gate_passes;
};

/* A part of an operation in which durations changed, while they hardly did in the rest. */
enum compare_carrier_kind {
    COMPARE_AT_HOSTS = RUN_BY_HOST,
    COMPARE_FROM_CLIENTS = RUN_BY_CLIENT,
    COMPARE_IN_SIZES = RUN_BY_SIZE,
    COMPARE_IN_TIME = RUN_BY_TIME,
    COMPARE_IN_TAIL,
};

struct compare_carrier {
    enum compare_carrier_kind kind;
    const char *name[2]; /* hosts or clients; NULL: only one, or the parts have no names */
    size_t size[2], n;   /* size classes; n: hosts, clients or classes used, 1 or 2 */
    double lo, hi;       /* seconds after the start; the tail: lo is its fraction of the requests */
    double frac; /* of the change of the mean duration; above 1: the rest went the other way */
    double change, rest; /* of the mean duration in this part and in the rest, as fractions */
};

#define COMPARE_MOST_RUNS 50

#define COMPARE_MAX_CARRIERS 2

/* The runs of a side that have an operation. */
struct compare_runs {
    const struct run_op **v; /* borrowed */
    size_t n;
    size_t n_dead; /* those without a successful request */
};

/* What a cell shows, the more urgent first: worse, better, a change only if runs repeat well, no
 * change, too little data. */
enum compare_change { CELL_WORSE, CELL_BETTER, CELL_DIFFERS, CELL_OPEN, CELL_NO_DATA, CELL_N };

/* An operation with its settings. */
struct compare_op {
    const char *op;
    char name[160]; /* of the cell: the operation, and settings as far as they differ between cells,
                       "GET 4KiB c=8" */
    size_t group;
    enum compare_change change;
    const struct compare_metric *head; /* what shows the change, or would; NULL: nothing */
    struct compare_runs runs[2];       /* before, after */
    enum role role; /* ROLE_BENCHMARK if any run has it in that role; gates judge only those */
    struct compare_setting settings[RUN_N_SETTINGS];
    size_t n_settings;
    /* What the reports show of each metric: medians over the runs; NaN: nothing. */
    double before[RUN_MAX_METRICS], after[RUN_MAX_METRICS];
    bool few_segments; /* in some run: reports do not show their median */
    bool has_effect;
    struct stats_effect effect; /* on durations, over all runs of a side together */
    /* Object sizes differ between the sides, so objects/s lead. */
    bool sizes_differ;
    /* The parts that carry the change of durations, or changed alone; the one nearest to all of it
     * is first. share_of_change: in that of all operations of a mixed run; NaN: none. */
    struct compare_carrier carriers[COMPARE_MAX_CARRIERS];
    size_t n_carriers;
    double share_of_change;
    bool lacks_errors;      /* errors are gated, but no request failed on either side */
    double most_errors;     /* then: the end of Wilson's interval of the share after the change */
    bool errors_pass;       /* then: that is within the gate */
    bool has_clear;         /* some run has faults that can be left out */
    struct stats_cmp clear; /* the leading metric without them */
    struct compare_metric *metrics;
    size_t n_metrics;
};

/* Returns theta of the values that are shown: the change between the centres of both sides. The
 * interval m->cmp.lo .. hi contains it. */
double compare_theta(const struct compare_metric *m);

/* Whether a change is shown, or would be shown if runs repeat well: by the verdict. Whether the
 * change is for the worse. */
static inline bool compare_is_changed(const struct compare_metric *m)
{
    return m->verdict == STATS_BETTER || m->verdict == STATS_WORSE || m->verdict == STATS_DIFFERS;
}
bool compare_is_worse(const struct compare_metric *m);

/* Returns the metric of the whole operation; NULL: a side does not have it. */
const struct compare_metric *compare_metric_of(const struct compare_op *op, enum run_metric metric);

/* Whether each side has one value: of a single run, or of the only run that has the metric. */
static inline bool compare_is_single(const struct compare_metric *m)
{
    return m->before.n == 1 && m->after.n == 1;
}

/* Returns the p-value that the verdict uses. */
static inline double compare_p(const struct compare_metric *m)
{
    return m->in_family ? m->p_holm : m->cmp.p;
}

struct compare {
    struct compare_side before, after;
    enum stats_noise_kind noise; /* between single runs */
    bool single;                 /* each side is one run */
    double run_cv_frac;          /* as given */
    size_t n_history;
    const char **names; /* of the runs of both sides; they tell them apart (paths_shorten) */
    struct compare_setting settings[RUN_N_SETTINGS]; /* settings of whole runs */
    size_t n_settings;
    struct compare_option *options;
    size_t n_options;
    struct alike_key *keys; /* in what the groups of runs of a side differ */
    size_t n_keys;
    /* The runs of equal settings have one group, which is the number of one of them. Groups of the
     * sides are matched by the keys. By run of both sides, then of the history. */
    size_t *group;
    bool has_cells;           /* operations are of several groups: the worst comes first */
    size_t n_changes[CELL_N]; /* of what the runs measure */
    struct compare_op *ops;   /* present on both sides */
    size_t n_ops;
    const struct run_op **room; /* of their runs */
    size_t n_family;            /* comparisons that p is adjusted for */
    struct notes warnings;
    bool lacks_op; /* a side has no run with an operation of the benchmark */
    bool has_gate;
    enum exit_code gate; /* EXIT_DONE, EXIT_FAILED, EXIT_UNDECIDED */
};

/* Returns the i-th run, counting both sides. */
static inline const struct run *compare_nth_run(const struct compare *c, size_t i)
{
    return i < c->before.n ? &c->before.runs[i] : &c->after.runs[i - c->before.n];
}

/* Returns the i-th run as warnings and findings name it: as little of its path as tells it apart.
 */
static inline const char *compare_run_name(const struct compare *c, size_t i)
{
    return c->names[i];
}

/* Returns the side of the i-th run. */
static inline const struct compare_side *compare_side_of(const struct compare *c, size_t i)
{
    return i < c->before.n ? &c->before : &c->after;
}

static inline size_t compare_n_runs(const struct compare *c)
{
    return c->before.n + c->after.n;
}

/* Compares two sides, cell by cell: runs of different settings are never pooled. Fails if a side
 * has the same run twice, if a run is also in the history, or if the sides share no cell. The
 * sides' runs must outlive *c. Call compare_free in any case. */
bool compare_run(struct compare *c, const struct compare_side *before,
                 const struct compare_side *after, const struct compare_options *options,
                 struct err *e);
void compare_free(struct compare *c);

/* Returns the metric that is judged first: throughput, or objects/s if there are no bytes or their
 * sizes differ. NULL: a side has neither. */
const struct compare_metric *compare_leading(const struct compare_op *op);

/* Orders cells, for qsort: by change, the worse and the larger one first; without a change by what
 * changed in a part, then by operation, size, threads. */
int compare_order(const void *a, const void *b);

/* Counts the runs of both sides that have a fault (run_is_fault). */
size_t compare_n_faulty(const struct compare *c);

/* Computes the geometric means of a metric's centres over the n operations of the benchmark that
 * have it. False: there are none, or a mean is not positive. */
bool compare_geomean(const struct compare *c, enum run_metric metric, double *before, double *after,
                     size_t *n);

/* Counts the settings that limit the comparison, of all operations and of whole runs. */
size_t compare_n_limits(const struct compare *c);
bool compare_is_limit(const struct compare_setting *s);

/* Whether reports begin with this operation: it is of the benchmark, or the only one. */
static inline bool compare_is_measured(const struct compare *c, const struct compare_op *op)
{
    return role_is_benchmark(op->role) || c->n_ops == 1;
}

#endif
