/* Changes of level between runs: where they are, where there are none, and series with missing
 * runs. */
#include "analyze/stats/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define N 40

/* Returns scatter that is the same everywhere, without a change. */
static double scatter(size_t i)
{
    return .05 * sin(12.9898 * (double)(i + 1) * (double)(i + 3));
}

static void fill(double *x, size_t at, double step)
{
    for (size_t i = 0; i < N; i++)
        x[i] = 3 + scatter(i) + (i >= at ? step : 0);
}

static void test_step(void **state)
{
    (void)state;
    double x[2 * N];
    struct stats_changes found;
    struct err e = {0};

    fill(x, 25, .3);
    fill(x + N, N, 0);
    assert_true(stats_changes(x, 2, N, &found, &e));
    assert_int_equal(found.n, 1);
    assert_int_equal(found.v[0].series, 0);
    assert_int_equal(found.v[0].at, 25);
    assert_true(fabs(found.v[0].after - found.v[0].before - .3) < .05);
    assert_true(found.v[0].p == .001);
    assert_true(fabs(found.last_z[1]) < 3);
    stats_changes_free(&found);
}

static void test_missing_runs_and_an_outlier(void **state)
{
    (void)state;
    double x[N];
    struct stats_changes found;
    struct err e = {0};

    fill(x, 20, -.3);
    x[3] = x[21] = NAN;
    x[10] += 2;
    x[N - 1] += 1;
    assert_true(stats_changes(x, 1, N, &found, &e));
    assert_int_equal(found.n, 1);
    assert_int_equal(found.v[0].at, 20);
    assert_true(found.last_z[0] > 5);
    stats_changes_free(&found);
}

static void test_few_runs(void **state)
{
    (void)state;
    double x[N];
    struct stats_changes found;
    struct err e = {0};

    fill(x, 2, 1);
    for (size_t n = 0; n <= 6; n++) {
        assert_true(stats_changes(x, 1, n, &found, &e));
        assert_int_equal(found.n, 0);
        stats_changes_free(&found);
    }
}

/* A young archive, with a scatter of 4 %: 8 runs, then 6 whose values are 22 % higher. */
static void test_short_archive(void **state)
{
    (void)state;
    double x[N];
    struct stats_changes found;
    struct err e = {0};

    fill(x, N, 0);
    for (size_t from = 0; from + 14 <= N; from++) {
        double part[14];

        for (size_t i = 0; i < 14; i++)
            part[i] = x[from + i] + (i >= 8 ? .2 : 0);
        assert_true(stats_changes(part, 1, 14, &found, &e));
        assert_int_equal(found.n, 1);
        assert_int_equal(found.v[0].at, 8);
        stats_changes_free(&found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_missing_runs_and_an_outlier),
        cmocka_unit_test(test_few_runs),
        cmocka_unit_test(test_short_archive),
    };

    stats_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
