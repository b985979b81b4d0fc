/* The likelihood of a series with correlated noise: a Kalman filter turns the noise into
 * independent errors (Harvey, "Forecasting, Structural Time Series Models and the Kalman Filter",
 * 1989), and least squares are of these. */
#include "analyze/findings/slow_noise.h"

#include <math.h>

/* How long the noise lasts, and how much of its variance does not last. */
static const double lasts_s[] = {.5, 1, 2, 3.5, 6, 10};
static const double fresh_fracs[] = {.03, .1, .3, .6, 1};

#define N(a) (sizeof(a) / sizeof *(a))

/* How the filter weighs the points, for one kind of noise of variance 1. */
struct filter {
    size_t n;
    double keeps;                    /* of the noise from point to point */
    double gain[SLOW_NOISE_POINTS];  /* of the state, from the error */
    double scale[SLOW_NOISE_POINTS]; /* 1 / the standard deviation of the error */
    double log_sum;                  /* of the variances of the errors */
};

static void filter_init(struct filter *f, size_t n, double keeps, double fresh_frac)
{
    double lasting = 1 - fresh_frac, variance = lasting;

    *f = (struct filter){.n = n, .keeps = keeps};
    for (size_t i = 0; i < n; i++) {
        double of_error = variance + fresh_frac;

        f->gain[i] = variance / of_error;
        f->scale[i] = 1 / sqrt(of_error);
        f->log_sum += log(of_error);
        variance = keeps * keeps * variance * (1 - f->gain[i]) + lasting * (1 - keeps * keeps);
    }
}

static void filter_run(const struct filter *f, const double *x, double *errors)
{
    double state = 0;
    for (size_t i = 0; i < f->n; i++) {
        double error = x[i] - state;

        errors[i] = error * f->scale[i];
        state = f->keeps * (state + f->gain[i] * error);
    }
}

static double product(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Takes out of v what it has in common with `with`. */
static void project_out(double *v, const double *with, size_t n)
{
    double squares = product(with, with, n);
    double times = squares > 0 ? product(v, with, n) / squares : 0;

    for (size_t i = 0; i < n; i++)
        v[i] -= times * with[i];
}

/* -2 log of the likelihood, at the variance that makes it largest, but for a constant. */
static double deviance(const struct filter *f, const double *errors)
{
    double n = (double)f->n;
    return n * log(fmax(product(errors, errors, f->n) / n, 1e-12)) + f->log_sum;
}

double slow_noise_evidence(const double *x, size_t n, double width_s,
                           const double (*shapes)[SLOW_NOISE_POINTS], size_t n_shapes)
{
    double best[2] = {INFINITY, INFINITY}; /* without the last shape, and with it */
    double errors[n_shapes + 1][SLOW_NOISE_POINTS], rest[SLOW_NOISE_POINTS], one[SLOW_NOISE_POINTS];

    for (size_t i = 0; i < n; i++)
        one[i] = 1;
    for (size_t k = 0; k < N(lasts_s) * N(fresh_fracs); k++) {
        struct filter f;
        filter_init(&f, n, exp(-width_s / lasts_s[k / N(fresh_fracs)]),
                    fresh_fracs[k % N(fresh_fracs)]);
        filter_run(&f, x, rest);
        for (size_t j = 0; j <= n_shapes; j++) {
            filter_run(&f, j == 0 ? one : shapes[j - 1], errors[j]);
            for (size_t i = 0; i < j; i++)
                project_out(errors[j], errors[i], n);
            if (j == n_shapes)
                best[0] = fmin(best[0], deviance(&f, rest));
            project_out(rest, errors[j], n);
        }
        best[1] = fmin(best[1], deviance(&f, rest));
    }
    return best[0] - best[1];
}
