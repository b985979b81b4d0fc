/* Shared by the files of this folder only: empty results and small helpers. */
#ifndef S3_ANALYZE_STATS_STATS_INTERNAL_H
#define S3_ANALYZE_STATS_STATS_INTERNAL_H

#include "analyze/stats/stats.h"

#include <math.h>

/* A value without limits, and why it has none. */
static inline struct stats_ci stats_no_ci(double value, const char *why)
{
    return (struct stats_ci){.why = why,
                             .value = value,
                             .lo = -INFINITY,
                             .hi = INFINITY,
                             .lo90 = -INFINITY,
                             .hi90 = INFINITY,
                             .se = NAN,
                             .df = NAN};
}

/* An empty comparison of n_a with n_b runs. */
static inline struct stats_cmp stats_no_cmp(enum stats_method method, size_t n_a, size_t n_b,
                                            bool is_difference)
{
    return (struct stats_cmp){.why = "",
                              .method = method,
                              .is_difference = is_difference,
                              .n_a = n_a,
                              .n_b = n_b,
                              .theta = NAN,
                              .lo = -INFINITY,
                              .hi = INFINITY,
                              .lo90 = -INFINITY,
                              .hi90 = INFINITY,
                              .p = NAN,
                              .t = NAN,
                              .se = NAN,
                              .df = NAN,
                              .sd = NAN,
                              .break_even = NAN};
}

/* Variance and degrees of freedom of the sum of two estimates, Welch-Satterthwaite, plus an extra
 * variance that is known. */
void stats_welch(double v_a, double df_a, double v_b, double df_b, double extra, double *v,
                 double *df);

/* Fills t, p and the limits of theta from theta, se and df; NaN where GSL fails. Differences, which
 * are of fractions, have limits within -1 .. 1. */
void stats_t_test(struct stats_cmp *c);

/* Returns why there are too few segments or requests for an interval; "": there are enough. */
static inline const char *stats_too_few(size_t n_segments, uint64_t n_requests)
{
    return n_segments < STATS_MIN_SEGMENTS   ? "fewer than 20 segments"
           : n_requests < STATS_MIN_REQUESTS ? "fewer than 30 requests"
                                             : "";
}

/* Applies stats_bse to the residuals e_j = y_j - q n_j, with batches of at least
 * least_m segments. y[j] of the n[j] requests of segment j are counted; q = sum y / sum n is their
 * fraction. Its standard error is se / (mean of n). *stretches: stats_stretches of the residuals.
 */
bool stats_bse_counts(const int64_t *y, const int64_t *n, size_t n_segments, size_t least_m,
                      struct stats_bse *out, double *stretches, struct err *e);

/* Cuts the last b*m points of x[0..n-1] into b batches of m; y[0], y[stride], ... get their means.
 */
void stats_batch_means(const double *x, size_t n, size_t m, size_t b, double *y, size_t stride);

/* Distribution functions. df may be infinite: then t is normal. A failure inside GSL gives NaN. */

/* P(T >= t). */
double stats_dist_t_upper(double t, double df);

/* min(1, 2 P(T >= |t|)). */
double stats_dist_t_two_sided(double t, double df);

#endif
