/* Noise of a healthy system that lasts for seconds: whether it explains a change of level. */
#ifndef S3_ANALYZE_FINDINGS_SLOW_NOISE_H
#define S3_ANALYZE_FINDINGS_SLOW_NOISE_H

#include <stddef.h>

#define SLOW_NOISE_POINTS 128 /* of a series, at most */

/* A series of n points, each of width_s seconds, is a constant plus multiples of n_shapes shapes,
 * plus noise: independent from point to point, and correlated for up to 10 s, in whichever mix
 * explains the series best. Returns how much better that is with the last shape than without it:
 * twice the logarithm of the ratio of the likelihoods. The other shapes are in both. O(n) for each
 * pair of shapes. */
double slow_noise_evidence(const double *x, size_t n, double width_s,
                           const double (*shapes)[SLOW_NOISE_POINTS], size_t n_shapes);

#endif
