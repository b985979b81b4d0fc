/* Whether slow noise explains a change of level: time series whose true shape is known. */
#include "analyze/findings/slow_noise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define N        SLOW_NOISE_POINTS
#define WIDTH_S  .25 /* a run of 32 s */
#define N_SERIES 40

static uint32_t state;

/* Returns a nearly normal number with variance 1. */
static double noise(void)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) {
        state = (uint32_t)((uint64_t)state * 16807 % 2147483647);
        sum += state / 2147483647.;
    }
    return sum - 6;
}

/* Fills x with time series k of slow noise, which is correlated over lasts_s. */
static void fill(double *x, uint32_t k, double lasts_s)
{
    double keeps = exp(-WIDTH_S / lasts_s), z;
    state = 100 + k;
    z = noise();
    for (size_t i = 0; i < N; i++) {
        z = keeps * z + sqrt(1 - keeps * keeps) * noise();
        x[i] = .1 * z + .02 * noise();
    }
}

/* Returns the evidence for the last shape, given the others: how much it lowers the deviance. */
static double evidence(const double *x, const double (*shapes)[N], size_t n)
{
    static struct slow_noise s;
    bool with[SLOW_NOISE_SHAPES];

    memset(with, true, sizeof with);
    slow_noise_init(&s, x, N, WIDTH_S, shapes, n);
    double deviance = slow_noise_deviance(&s, with);
    with[n - 1] = false;
    return slow_noise_deviance(&s, with) - deviance;
}

/* Returns for how many time series there is evidence if `times` the shape is added. */
static int n_evident(double lasts_s, double times, const double (*shape)[N])
{
    int n = 0;
    for (uint32_t k = 0; k < N_SERIES; k++) {
        double x[N];
        fill(x, k, lasts_s);
        for (size_t i = 0; i < N; i++)
            x[i] += times * shape[0][i];
        n += evidence(x, shape, 1) > 12;
    }
    return n;
}

static void test_step_and_line(void **ignored)
{
    (void)ignored;
    double step[1][N], line[1][N];
    for (size_t i = 0; i < N; i++) {
        step[0][i] = i >= N / 2;
        line[0][i] = (double)i / N;
    }
    for (double lasts_s = 1; lasts_s < 10; lasts_s *= 3) {
        assert_in_range(n_evident(lasts_s, 0, (const double(*)[N])step), 0, 1);
        assert_in_range(n_evident(lasts_s, 0, (const double(*)[N])line), 0, 2);
        /* A step is sharp, whatever the noise. A line must be longer than the noise is
         * correlated. */
        assert_in_range(n_evident(lasts_s, .5, (const double(*)[N])step), N_SERIES - 1, N_SERIES);
    }
    assert_in_range(n_evident(1, .8, (const double(*)[N])line), N_SERIES * 3 / 4, N_SERIES);
    assert_in_range(n_evident(9, .3, (const double(*)[N])line), 0, N_SERIES / 4);
}

static void test_other_shapes(void **ignored)
{
    (void)ignored;
    double shapes[2][N], x[N], swapped[2][N];
    fill(x, 1, 1);
    for (size_t i = 0; i < N; i++) {
        shapes[0][i] = swapped[1][i] = i >= N / 4;
        shapes[1][i] = swapped[0][i] = i >= N / 2;
        x[i] += .5 * shapes[0][i];
    }
    /* The first step explains all; the second adds nothing. */
    assert_true(evidence(x, (const double(*)[N])shapes, 2) < 12);
    assert_true(evidence(x, (const double(*)[N])swapped, 2) > 12);
    /* A shape that repeats another one, and a constant series. */
    for (size_t i = 0; i < N; i++) {
        shapes[1][i] = shapes[0][i];
        x[i] = 5;
    }
    assert_true(fabs(evidence(x, (const double(*)[N])shapes, 2)) < 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step_and_line),
        cmocka_unit_test(test_other_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
