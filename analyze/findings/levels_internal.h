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
 * up to least_variance, levels_fit the others. */
struct levels {
    struct search *s;
    size_t n;
    double x[LEVELS_POINTS];
    int64_t at_ns[LEVELS_POINTS]; /* when the point begins */
    int64_t width_ns;
    double least_variance; /* lower bound of the variance of a point, from its number of requests */

    double lrv; /* the long-run variance of a point */
    size_t n_cuts, cuts[LEVELS_POINTS];
    enum levels_shape { LEVELS_CUTS, LEVELS_TREND, LEVELS_WAVE, LEVELS_BELL } shape;
    double ends[2];            /* of a trend: of a straight line at both ends of the run */
    double swing[2];           /* of a wave: the lowest and the highest value */
    struct wave wave;          /* of the rate */
    double bell[2];            /* the values before and after it, and at its peak */
    size_t bell_from, bell_to; /* points, two standard deviations before and after its peak */
    double fitted[LEVELS_POINTS];
    double shapes[SLOW_NOISE_SHAPES][LEVELS_POINTS];
    struct slow_noise noise;
};

/* Adds a block to the series, if enough of it is neither masked nor after full_until_ns. */
void levels_add_block(struct levels *l, size_t block, double x);

/* Fits levels, or a trend, as far as slow noise explains neither. False: out of memory. */
bool levels_fit(struct levels *l, struct err *e);

double levels_mean(const double *x, size_t from, size_t to);

/* Return the level before cut k (n_cuts: after the last one), and the point at which it ends. */
double levels_level(const struct levels *l, size_t k);
size_t levels_end(const struct levels *l, size_t k);

/* Counts the first cuts that all lead up (or all down): the steps of a warm-up. Returns 0 if they
 * lead down and a later level is as fast as the beginning, which was then interrupted. */
size_t levels_count_early(const struct levels *l);

/* Returns the level that takes back the change from level `base`, perhaps after other levels on its
 * side: it is within a third of the largest distance, and the next level is no nearer (the way back
 * may have steps). 0: none is. */
size_t levels_find_back(const struct levels *l, size_t base);

/* Returns how far off the moment of a change may be (95 % confidence): 11 variances / change^2
 * (Bai, "Estimation of a change point in multiple regression models", 1997). */
int64_t levels_within_ns(const struct levels *l, double change);

/* Returns what the levels or the trend predict at a time: a swings_expected_fn. */
double levels_expected(const void *levels, int64_t at_ns);

/* Reports a slow wave. */
bool levels_say_wave(struct levels *l, bool of_durations, struct err *e);

/* Adds findings of changes of durations that throughput does not show. False: out of memory. */
bool levels_find_in_durations(struct search *s, const struct levels *rates, struct err *e);

#endif
