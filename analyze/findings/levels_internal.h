/* Levels of a time series: shared by the files that fit and report them. */
#ifndef S3_ANALYZE_FINDINGS_LEVELS_INTERNAL_H
#define S3_ANALYZE_FINDINGS_LEVELS_INTERNAL_H

#include "analyze/findings/find.h"
#include "analyze/findings/slow_noise.h"

#define LEVELS_POINTS          SLOW_NOISE_POINTS
#define LEVELS_LEAST_POINTS    16
#define LEVELS_MOST_CUTS       12  /* more of them are the swings of one level */
#define LEVELS_FREE_FRAC       .5  /* least share of a point that is not masked */
#define LEVELS_LEAST_CHANGE    .10 /* of a rate, to be reported */
#define LEVELS_PROBLEM_CHANGE  .15 /* of a rate */
#define LEVELS_PROBLEM_LOST    .03 /* of a change that is taken back */
#define LEVELS_PROBLEM_WARM_UP .1  /* of the run; a smaller loss misleads little */

/* A time series: logarithms of completions per second, or of 1 / ns. The caller fills in the fields
 * up to least_variance, levels_tell the others. */
struct levels {
    struct search *s;
    size_t n;
    double x[LEVELS_POINTS];
    int64_t at_ns[LEVELS_POINTS]; /* when the point begins */
    int64_t width_ns;
    double least_variance; /* lower bound of the variance of a point, from its number of requests */

    double lrv; /* the long-run variance of a point */
    size_t n_cuts, cuts[LEVELS_POINTS];
    enum levels_shape { LEVELS_CUTS, LEVELS_TREND, LEVELS_RAMP, LEVELS_WAVE, LEVELS_BELL } shape;
    double cycles;             /* of a wave */
    size_t bell_from, bell_to; /* points, two standard deviations before and after its peak */
    size_t ramp_from, ramp_to;
    double fitted[LEVELS_POINTS];
    double shapes[SLOW_NOISE_SHAPES][LEVELS_POINTS];
    struct slow_noise noise;
};

/* Adds a block to the series, if enough of it is neither masked nor after full_until_ns. */
void levels_add_block(struct levels *l, size_t block, double x);

/* Returns the largest of n values less the lowest, which is *low. */
double levels_range(const double *v, size_t n, double *low);

/* What happens to a series: the mean of the points [from, at) is `before`, that of [at, to) is
 * `after`. Of a trend they are those of the first `at` and of the last `at` points. A ramp begins
 * at `at`; they are the levels before and after it. */
struct level_change {
    enum {
        CHANGE_AT_FIRST,
        CHANGE_STAYS,
        CHANGE_RETURNS,
        CHANGE_RAMP,
        CHANGE_TREND,
        CHANGE_WAVE
    } shape;
    size_t from, at, to;
    double before, after;
};

/* Fits, and calls `say` for what happens, in order. False: it returned false, or out of memory. */
typedef bool level_say_fn(struct levels *l, const struct level_change *x, const void *how,
                          struct err *e);
bool levels_tell(struct levels *l, level_say_fn *say, const void *how, struct err *e);

/* Returns when a point begins; from the last one on, the end of the run. */
int64_t levels_at_ns(const struct levels *l, size_t point);

/* Returns how far off the moment of a change may be (95 % confidence): 11 variances / change^2
 * (Bai, "Estimation of a change point in multiple regression models", 1997). */
int64_t levels_within_ns(const struct levels *l, double change);

/* Returns the log of the work of a request at a time, over that of the run. */
double levels_work_at(const struct search *s, int64_t at_ns);

/* Finds a swing with a period, of throughput or of durations, reports it, and takes it out of the
 * series. False: out of memory. */
bool swings_find(struct levels *l, bool of_durations, struct err *e);

/* Reports a swing between two rates or durations, whose deviations by point are *cycle; or a swing
 * of the load that makes it. NULL: not known. period_ns 0: at no steady period; p NAN: not known.
 */
bool swings_say(const struct levels *l, const double *cycle, bool of_durations, double least,
                double most, double period_ns, double p, struct err *e);

/* Reports a slow wave. */
bool levels_say_wave(const struct levels *l, bool of_durations, struct err *e);

/* Adds findings of operations, or of sizes, that are slow for a while, and of changes of durations
 * that throughput does not show. False: out of memory. */
bool levels_find_slow_parts(struct search *s, struct levels *l, struct err *e);
bool levels_find_in_durations(struct search *s, struct levels *l, struct err *e);

#endif
