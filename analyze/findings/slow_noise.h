/* Slow noise: a healthy system varies for seconds at a time. Finds out how well that explains
 * changes of level. */
#ifndef S3_ANALYZE_FINDINGS_SLOW_NOISE_H
#define S3_ANALYZE_FINDINGS_SLOW_NOISE_H

#include <stdbool.h>
#include <stddef.h>

#define SLOW_NOISE_POINTS 128 /* of a series, at most */
#define SLOW_NOISE_SHAPES 17  /* that may be tried for it, at most */
#define SLOW_NOISE_KINDS  30

/* Inner products, for each kind of noise, of the filtered constant (0), the shapes (from 1 on) and
 * the series (last): all that a fit needs. */
struct slow_noise {
    size_t n, n_shapes;
    double log_sum[SLOW_NOISE_KINDS];
    double products[SLOW_NOISE_KINDS][SLOW_NOISE_SHAPES + 2][SLOW_NOISE_SHAPES + 2];
};

/* Prepares the fits of a time series of n points, each of width_s seconds. O(n) for each pair of
 * shapes. */
void slow_noise_init(struct slow_noise *s, const double *x, size_t n, double width_s,
                     const double (*shapes)[SLOW_NOISE_POINTS], size_t n_shapes);

/* Returns -2 log of the likelihood, up to a constant, of the series as a constant plus multiples of
 * the shapes `with` plus noise. One part of the noise is independent from point to point, one is
 * correlated for up to 10 s, in the mix that explains the series best. */
double slow_noise_deviance(const struct slow_noise *s, const bool *with);

#endif
