/* A plan: a folder with plan.json, which has the question, and one capture for each run
 * (docs/limits.md). Nothing else is kept: the next run follows from the captures that are there. */
#ifndef S3_ANALYZE_TOOLS_PLAN_PLAN_H
#define S3_ANALYZE_TOOLS_PLAN_PLAN_H

#include "analyze/tools/plan/decide.h"
#include "libcommon/cli.h"
#include "libcommon/err.h"
#include "libcommon/slo.h"

#include <jansson.h>

enum plan_kind { PLAN_CAPACITY, PLAN_SWEEP, PLAN_AB };
extern const char *const plan_kind_names[]; /* NULL at the end */

#define PLAN_MOST_RUNS   1000
#define PLAN_MOST_LEVELS 64
#define PLAN_MOST_GATES  64 /* gates times operations */

/* The question of a plan. */
struct plan_asked {
    enum plan_kind kind;
    struct cli_list slo;              /* capacity */
    struct cli_list gate;             /* ab: as for cmp */
    const char *before, *after;       /* ab: options of each side, with blanks between */
    struct cli_list concurrent, rate; /* sweep: one of them */
    double from, precision_pct;       /* capacity */
    int64_t n_each;                   /* sweep: runs at each level */
    int64_t max_runs;                 /* capacity: in all; ab: a side */
    int64_t seed;
    const char *command; /* of s3load, without secrets */
    /* What its options say: */
    struct cli_list given;      /* their names */
    int64_t run_ns, n_requests; /* how long a run is; 0: no limit */
};

/* Whether a plan is valid; *e says what is missing or wrong. */
bool plan_check(const struct plan_asked *a, struct err *e);

/* Writes FOLDER/plan.json for a plan that plan_check accepts; makes the folder. If a plan is there
 * already: the same plan goes on, another one is replaced unless it has runs. */
bool plan_begin(const char *folder, const struct plan_asked *a, struct err *e);

/* A run of the plan. */
struct plan_run {
    char *path;
    unsigned number; /* from 1 */
    struct plan_point point;
    enum slo_verdict verdict; /* capacity */
    char *why_not;            /* why it does not count; NULL: it does */
    bool not_offered;         /* it does not count, as s3load could not send that fast */
    bool disturbed;           /* it does not count, as s3load waited for a CPU */
    bool is_broken;           /* it does not count, and the next run will probably not, either */
    double failed_frac;       /* share of the requests that failed; NaN: not known */
    double waited_pct;        /* as of MACHINE_WAITED; 0: not so long, or not known */
    char *says; /* capacity: the assertions that were not met, with the measured values; "": none */
    double offered_frac;            /* share of the due requests that were sent; NaN: closed loop */
    double p50_ns, p99_ns, mean_ns; /* of the operation that is judged; NaN: not known */
    double metric[PLAN_MOST_GATES]; /* ab, as in struct plan_point */
};

struct plan {
    char *path; /* of plan.json */
    json_t *json;
    struct plan_asked asked; /* borrows from json, except for its lists */
    struct slo_list slo;
    double levels[PLAN_MOST_LEVELS];
    size_t n_levels;
    bool by_rate;
    struct plan_gate gates[PLAN_MOST_GATES]; /* for each operation */
    size_t n_gates;
    struct plan_run *runs; /* by number */
    size_t n;
    struct plan_point *points; /* of the n_points runs that count */
    size_t n_points;
    struct plan_next next;
    double least_rate;          /* capacity: as in struct plan_capacity */
    struct plan_interval found; /* capacity */
    size_t n_disturbed;         /* runs that do not count for that reason */
    /* Met: capacity has both ends confirmed, a sweep has all its runs. Missed: no rate is low
     * enough, or a gate failed. */
    enum slo_verdict answer;
};

/* Reads the plan and all of its runs. False: *e says why. The caller calls plan_free in any case.
 */
bool plan_load(struct plan *p, const char *folder, struct err *e);
void plan_free(struct plan *p);

/* "run-007-1250": the name of the next run's capture, without .csv.zst; then its options. */
struct plan_line {
    char s[4096];
};
struct plan_line plan_next_line(const struct plan *p);

/* A level of a sweep, or a side of ab, over its runs that count; NaN: not known. */
struct plan_level {
    double level, per_s, p50_ns, p99_ns; /* means */
    double least_per_s, most_per_s;
    double failed_frac; /* mean, as of struct plan_run */
    double in_flight;   /* mean, by Little's law: requests per second times mean duration */
    size_t n;
};
struct plan_level plan_level_of(const struct plan *p, double level);

/* A difference in a gate's metric, in logs or fractions, as a change: -0.12 is 12 % less. */
double plan_change_frac(const struct plan *p, size_t gate, double theta);

#endif
