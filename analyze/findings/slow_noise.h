/* Noise of a healthy system that lasts for seconds: whether it explains changes of level. */
#ifndef S3_ANALYZE_FINDINGS_SLOW_NOISE_H
#define S3_ANALYZE_FINDINGS_SLOW_NOISE_H

#include <stdbool.h>
#include <stddef.h>

#define SLOW_NOISE_POINTS 128 /* of a series, at most */
#define SLOW_NOISE_SHAPES 19  /* that may be tried for it, at most */
#define SLOW_NOISE_KINDS  30

/* What is to be known of a series of points and of the shapes that it may have, for each kind of
 * noise: products of the constant (0), the shapes (from 1 on) and the series (last). */
struct slow_noise {
    size_t n, n_shapes;
    double log_sum[SLOW_NOISE_KINDS];
    double products[SLOW_NOISE_KINDS][SLOW_NOISE_SHAPES + 2][SLOW_NOISE_SHAPES + 2];
};

/* A series of n points, each of width_s seconds. O(n) for each pair of shapes. */
void slow_noise_init(struct slow_noise *s, const double *x, size_t n, double width_s,
                     const double (*shapes)[SLOW_NOISE_POINTS], size_t n_shapes);

/* How badly a constant plus multiples of the shapes `with` plus noise explain the series: -2 log of
 * the likelihood, but for a constant. The noise is independent from point to point, and correlated
 * for up to 10 s, in whichever mix explains the series best. */
double slow_noise_deviance(const struct slow_noise *s, const bool *with);

#endif
