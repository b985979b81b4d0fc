/* Distribution functions for the stats*.c files alone. df may be infinite: then t is normal. A
 * failure inside GSL gives NaN. */
#ifndef S3_ANALYZE_STATS_DIST_H
#define S3_ANALYZE_STATS_DIST_H

/* The t with P(T <= t) = p. */
double stats_dist_t_inv(double p, double df);

/* P(T >= t). */
double stats_dist_t_upper(double t, double df);

/* min(1, 2 P(T >= |t|)). */
double stats_dist_t_two_sided(double t, double df);

#endif
