#include "analyze/stats/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static double law(double n, double lambda, double sigma, double kappa)
{
    return lambda * n / (1 + sigma * (n - 1) + kappa * n * (n - 1));
}

static struct stats_usl fit(const double *level, const double *per_s, size_t n)
{
    struct stats_usl u;
    struct err e = {0};

    assert_true(stats_usl(level, per_s, n, 1, &u, &e));
    return u;
}

/* Without scatter the fit returns the parameters, and the peak that follows from them. */
static void test_exact(void **state)
{
    (void)state;
    static const double levels[] = {1, 2, 4, 8, 16, 32};
    double per_s[6];

    for (size_t i = 0; i < 6; i++)
        per_s[i] = law(levels[i], 1000, .05, .001);
    struct stats_usl u = fit(levels, per_s, 6);
    assert_true(u.ok);
    assert_true(fabs(u.lambda - 1000) < 1e-6 && fabs(u.sigma - .05) < 1e-9);
    assert_true(fabs(u.kappa - .001) < 1e-10);
    assert_true(fabs(u.peak - sqrt(.95 / .001)) < 1e-5);
    assert_true(fabs(stats_usl_at(&u, 10) - law(10, 1000, .05, .001)) < 1e-6);
}

/* If throughput rises faster than the requests in flight, the contention is not negative. */
static void test_linear(void **state)
{
    (void)state;
    static const double levels[] = {1, 2, 4, 8, 16}, per_s[] = {100, 203, 409, 830, 1670};
    struct stats_usl u = fit(levels, per_s, 5);

    assert_true(u.ok && u.sigma == 0 && u.kappa == 0);
    assert_true(isinf(u.peak));
}

static void test_too_few(void **state)
{
    (void)state;
    static const double levels[] = {1, 1, 2, 2, 4, 4}, per_s[] = {10, 11, 20, 21, 40, 39};

    assert_false(fit(levels, per_s, 6).ok);
    assert_string_equal(fit(levels, per_s, 6).why, "runs at fewer than 4 levels");
    static const double four[] = {1, 2, 4, 8};

    assert_string_equal(fit(four, four, 4).why, "fewer than 5 runs");
}

/* A step does not follow the law: the scatter at each level is far smaller than the residuals of
 * the fit. */
static void test_lack_of_fit(void **state)
{
    (void)state;
    double level[24], per_s[24];

    for (size_t i = 0; i < 24; i++) {
        level[i] = (double)(1 << i % 6);
        per_s[i] = (level[i] < 8 ? 100 * level[i] : 3000) * (i % 2 ? 1.001 : .999) *
                   (i < 12 ? 1.001 : .999);
    }
    assert_true(fit(level, per_s, 24).lack_p < .001);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_lack_of_fit),
    };
    stats_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
