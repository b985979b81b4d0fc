/* The likelihood of a time series with correlated noise: a Kalman filter turns the noise into
 * independent errors (Harvey, "Forecasting, Structural Time Series Models and the Kalman Filter",
 * 1989), to which least squares apply. */
#include "analyze/findings/slow_noise.h"

#include <assert.h>
#include <math.h>

/* Time constants of the noise, and shares of its variance that are independent from point to
 * point. */
static const double lasts_s[] = {.5, 1, 2, 3.5, 6, 10};
static const double fresh_fracs[] = {.03, .1, .3, .6, 1};

#define N(a) (sizeof(a) / sizeof *(a))
static_assert(N(lasts_s) * N(fresh_fracs) == SLOW_NOISE_KINDS, "each pair is a kind of noise");

#define LEAST_VARIANCE 1e-12
#define TINY           1e-9

/* How the filter weighs the points, for one kind of noise of variance 1. */
struct filter {
    size_t n;
    double keeps;                    /* correlation of the lasting noise from point to point */
    double gain[SLOW_NOISE_POINTS];  /* of the state, from the error */
    double scale[SLOW_NOISE_POINTS]; /* 1 / the standard deviation of the error */
    double log_sum;                  /* sum of the logarithms of the variances of the errors */
};

static void filter_init(struct filter *f, size_t n, double keeps, double fresh_frac)
{
    double lasting = 1 - fresh_frac, variance = lasting, of_all = 1;

    *f = (struct filter){.n = n, .keeps = keeps};
    for (size_t i = 0; i < n; i++) {
        double of_error = variance + fresh_frac;

        f->gain[i] = variance / of_error;
        f->scale[i] = 1 / sqrt(of_error);
        of_all *= of_error; /* not below .03 to the 128th */
        variance = keeps * keeps * variance * (1 - f->gain[i]) + lasting * (1 - keeps * keeps);
    }
    f->log_sum = log(of_all);
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

void slow_noise_init(struct slow_noise *s, const double *x, size_t n, double width_s,
                     const double (*shapes)[SLOW_NOISE_POINTS], size_t n_shapes)
{
    double errors[SLOW_NOISE_SHAPES + 2][SLOW_NOISE_POINTS], one[SLOW_NOISE_POINTS];
    double centred[SLOW_NOISE_POINTS], mean = 0;

    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        one[i] = 1;
        centred[i] = x[i] - mean;
    }
    s->n = n;
    s->n_shapes = n_shapes;
    for (size_t k = 0; k < SLOW_NOISE_KINDS; k++) {
        struct filter f;
        filter_init(&f, n, exp(-width_s / lasts_s[k / N(fresh_fracs)]),
                    fresh_fracs[k % N(fresh_fracs)]);
        s->log_sum[k] = f.log_sum;
        for (size_t j = 0; j < n_shapes + 2; j++) {
            filter_run(&f, j == 0 ? one : j <= n_shapes ? shapes[j - 1] : centred, errors[j]);
            for (size_t i = 0; i <= j; i++)
                s->products[k][j][i] = product(errors[i], errors[j], n);
        }
    }
}

/* Returns the residual sum of squares of the series, for one kind of noise: the last square of a
 * Cholesky factor. A shape that is a combination of others is left out. */
static double squares_left(const struct slow_noise *s, size_t kind, const size_t *of, size_t n)
{
    double factor[SLOW_NOISE_SHAPES + 2][SLOW_NOISE_SHAPES + 2], square = 0;

    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i <= j; i++) {
            square = s->products[kind][of[j]][of[i]];
            for (size_t k = 0; k < i; k++)
                square -= factor[j][k] * factor[i][k];
            if (i < j)
                factor[j][i] = factor[i][i] > 0 ? square / factor[i][i] : 0;
            else
                factor[j][j] = square > TINY * s->products[kind][of[j]][of[j]] ? sqrt(square) : 0;
        }
    return square;
}

double slow_noise_deviance(const struct slow_noise *s, const bool *with)
{
    double least = INFINITY, n = (double)s->n;
    size_t of[SLOW_NOISE_SHAPES + 2] = {0}, n_of = 1;

    for (size_t i = 0; i < s->n_shapes; i++)
        if (with[i])
            of[n_of++] = i + 1;
    of[n_of++] = s->n_shapes + 1;
    for (size_t k = 0; k < SLOW_NOISE_KINDS; k++) {
        double variance = fmax(squares_left(s, k, of, n_of) / n, LEAST_VARIANCE);
        least = fmin(least, n * log(variance) + s->log_sum[k]);
    }
    return least;
}
