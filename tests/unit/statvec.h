/* Shared by the tests of the statistics: the generators of docs/how-the-numbers-are-made.md,
 * sections 7 and 8, and a comparison of doubles. */
#ifndef S3_STATVEC_H
#define S3_STATVEC_H

#include "analyze/stats/stats.h"

#include <stddef.h>
#include <stdint.h>

/* Tolerances for values printed with so many digits. */
#define DIGITS_10 6e-10
#define DIGITS_9  6e-9
#define DIGITS_7  6e-7

/* The set-up of the test groups: as main does, switches GSL's aborting error handler off. */
int statvec_setup(void **state);

/* Fails the test unless |got - want| <= relative * |want|. */
void statvec_assert_close(double got, double want, double relative);

/* PM: returns the next value of the generator with state *u, in (0, 1). */
double statvec_pm(uint64_t *u);

/* AR(n, rho, seed): fills x. */
void statvec_ar(double *x, size_t n, double rho, uint64_t seed);

double statvec_mean(const double *x, size_t n);

/* "99.9" as a ratio. */
struct stats_ratio statvec_percent(const char *text);

#endif
