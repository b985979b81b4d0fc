/* Decides what a series of runs does next, or concludes from it: pure functions of the plan and of
 * the runs so far, in any order. docs/limits.md describes the three plans. */
#ifndef S3_ANALYZE_TOOLS_PLAN_DECIDE_H
#define S3_ANALYZE_TOOLS_PLAN_DECIDE_H

#include "analyze/stats/stats.h"
#include "analyze/tools/compare/metric.h"
#include "analyze/tools/slo/slo.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The figures of a run that counts, as far as decisions need them. */
struct plan_point {
    double level;         /* requests per second, or requests in flight; ab: 0 before, 1 after */
    double margin;        /* capacity: slo_margin */
    double excess;        /* capacity: slo_excess; INFINITY: the rate was not kept up */
    double per_s;         /* sweep: successful requests per second */
    const double *metric; /* ab, by gate: the log of a rate or time, or a fraction */
};

struct plan_next {
    bool done;
    double level;  /* of the next run */
    bool confirms; /* capacity: it repeats an end of the interval */
};

/* ---- Capacity ---- */

struct plan_capacity {
    double from;      /* the first rate, > 0 */
    double precision; /* as a fraction: the largest difference of the ends, if runs can decide so
                         closely */
    double least;     /* lowest rate at which a run is long enough to meet the assertions; 0: any */
    size_t max_runs;
    uint64_t seed;
};

struct plan_interval {
    double met, missed; /* highest rate that met, lowest that missed it; 0: none */
    bool confirmed;     /* each end has four runs or more */
    double flat_to;     /* not 0: no rate is low enough, as those from `missed` to this one show */
};

/* Finds the interval. All runs at a rate together decide whether it is met or missed: as runs are
 * independent, the margin of n runs is the mean of their margins times the root of n. The search
 * doubles the rate until it is missed (or halves it until it is met), then bisects in log rate. An
 * undecided rate is run again if up to four runs in all may decide it; else it is left out, and the
 * next rates are those that four runs are likely to decide. Both ends are confirmed, in random
 * order.
 *
 * Times and errors rise with the rate, and the faster the higher it is. So below two rates they are
 * above the straight line through what these had. If that line misses the assertions at rate 0,
 * every rate does. */
struct plan_interval plan_capacity_found(const struct plan_point *v, size_t n);
struct plan_next plan_capacity_next(const struct plan_capacity *c, const struct plan_point *v,
                                    size_t n);

/* Returns how many times as long a run should be to decide one of the undecided rates between the
 * ends: intervals shrink with the root of the number of requests. INFINITY: not known; 0: no rate
 * is undecided. */
double plan_capacity_longer(const struct plan_interval *x, const struct plan_point *v, size_t n);

/* ---- Sweep ---- */

/* Each level gets n_each runs, in blocks of all levels in random order. */
struct plan_next plan_sweep_next(const double *levels, size_t n_levels, size_t n_each,
                                 uint64_t seed, const struct plan_point *v, size_t n);

/* ---- A/B ---- */

struct plan_gate {
    char *op; /* owned; decisions use neither this nor the metric */
    enum run_metric metric;
    bool up_is_better;
    double limit; /* allowed difference to the worse side, > 0; in logs or fractions */
};

struct plan_judged {
    enum slo_verdict answer; /* met: no worse than the gate allows */
    size_t n_looks;          /* at the runs so far */
    double theta, lo, hi;    /* after - before, with the interval of this look; NaN: none */
    double alpha;            /* of this look */
};

#define PLAN_ALPHA .05

/* Runs come in blocks of four, ABBA or BAAB at random, so in pairs with one run of each side, whose
 * order alternates, and are tested by stats_cmp_pairs. There is a look after each block but the
 * first, as two pairs show nothing. At look k the interval of each gate has level
 * 1 - alpha_k / n_gates with alpha_k = .05 / (k (k + 1)). The alphas of all looks add up to .05 at
 * most, however many there are: the spending of Lan and DeMets (Biometrika 70, 1983) with the bound
 * of Bonferroni. A gate is passed if the interval ends before its limit. It is failed if the whole
 * interval is on the worse side and the difference is beyond the limit. */
struct plan_next plan_ab_next(const struct plan_gate *gates, size_t n_gates, size_t max_runs,
                              uint64_t seed, const struct plan_point *v, size_t n);
/* Judges gate g by the runs of whole blocks. */
struct plan_judged plan_ab_judge(const struct plan_gate *gates, size_t n_gates, size_t g,
                                 const struct plan_point *v, size_t n);
/* Returns the answer of all gates: missed if one is missed, met if all are. */
enum slo_verdict plan_ab_answer(const struct plan_gate *gates, size_t n_gates,
                                const struct plan_point *v, size_t n);

#endif
