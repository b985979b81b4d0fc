/* Levels of a series: what the files that fit and tell them share. */
#ifndef S3_ANALYZE_FINDINGS_LEVELS_INTERNAL_H
#define S3_ANALYZE_FINDINGS_LEVELS_INTERNAL_H

#include "analyze/findings/find.h"
#include "analyze/findings/slow_noise.h"

#define LEVELS_POINTS          SLOW_NOISE_POINTS
#define LEVELS_LEAST_POINTS    16
#define LEVELS_MOST_CUTS       12  /* that are told; more are the swings of one */
#define LEVELS_FREE_FRAC       .5  /* of a point that must not be masked */
#define LEVELS_LEAST_CHANGE    .10 /* of a rate, that is worth a word */
#define LEVELS_PROBLEM_CHANGE  .15 /* of a rate */
#define LEVELS_PROBLEM_LOST    .03 /* of a change that is taken back */
#define LEVELS_PROBLEM_WARM_UP .1  /* of the run; less can be left out, and misleads little */

/* A series: logarithms of completions per second, or of 1 / ns. Who fills it sets what comes first,
 * levels_fit the rest. */
struct levels {
    struct search *s;
    size_t n;
    double x[LEVELS_POINTS];
    int64_t at_ns[LEVELS_POINTS]; /* where the point begins */
    int64_t width_ns;
    double least_variance; /* of a point, that the number of its requests leaves to it */

    double lrv; /* the long-run variance of a point */
    size_t n_cuts, cuts[LEVELS_POINTS];
    bool drifts;    /* a trend explains it better than the cuts */
    double ends[2]; /* of the trend */
    double shapes[SLOW_NOISE_SHAPES][LEVELS_POINTS];
    struct slow_noise noise;
};

/* Cuts the series into levels, or finds its trend, where slow noise explains neither. */
bool levels_fit(struct levels *l, struct err *e);

double levels_mean(const double *x, size_t from, size_t to);

/* The level before cut k, or after the last one, and the point at which it ends. */
double levels_level(const struct levels *l, size_t k);
size_t levels_end(const struct levels *l, size_t k);

/* How many of the first cuts are steps of one way up (or down) from the beginning. What is as fast
 * later as at the beginning was interrupted. */
size_t levels_count_early(const struct levels *l);

/* How far off the moment of a change may be, in 95 of 100 cases: 11 variances / change^2 (Bai,
 * "Estimation of a change point in multiple regression models", 1997). */
int64_t levels_within_ns(const struct levels *l, double change);

/* What levels or trend account for at a time: a swings_expected_fn. */
double levels_expected(const void *levels, int64_t at_ns);

/* Says what durations do where throughput does not tell it. */
bool levels_find_in_durations(struct search *s, const struct levels *rates, struct err *e);

#endif
