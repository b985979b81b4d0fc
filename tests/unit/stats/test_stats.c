/* analyze/stats on one run and on hosts: vectors V1-V5, V13 and V14 of
 * docs/how-the-numbers-are-made.md; brute force where there is an independent way to
 * the same number; and data without an answer. */
#include "analyze/stats/stats.h"
#include "libcommon/splitmix.h"

#include "tests/unit/statvec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct err e;

static void test_v1_bse(void **state)
{
    (void)state;
    double x[300];
    struct stats_bse bse;
    struct stats_ci ci;
    statvec_ar(x, 120, .8, 1);
    assert_true(stats_bse(x, 120, &bse, &e));
    assert_int_equal(bse.m, 8);
    assert_int_equal(bse.b, 15);
    statvec_assert_close(bse.c, .2040389883, DIGITS_10);
    statvec_assert_close(bse.se, .9845290906, DIGITS_10);
    statvec_assert_close(bse.lrv, 120 * bse.se * bse.se, 1e-12);
    assert_true(stats_mean(statvec_mean(x, 120), x, 120, 1000, &ci, &e));
    assert_true(ci.ok);
    statvec_assert_close(ci.value, 100.7893852, DIGITS_10);
    statvec_assert_close(ci.hi - ci.value, 2.111604887, DIGITS_10);
    statvec_assert_close(ci.value - ci.lo, 2.111604887, DIGITS_10);
    assert_true(ci.lo < ci.lo90 && ci.hi90 < ci.hi);

    statvec_ar(x, 60, 0, 1);
    assert_true(stats_bse(x, 60, &bse, &e));
    assert_int_equal(bse.m, 1);
    statvec_assert_close(bse.se, .4504025628, DIGITS_10);

    statvec_ar(x, 300, .6, 7);
    assert_true(stats_bse(x, 300, &bse, &e));
    assert_int_equal(bse.m, 12);
    assert_int_equal(bse.b, 25);
    statvec_assert_close(bse.se, .4614864318, DIGITS_10);
}

static void test_bse_without_variation(void **state)
{
    (void)state;
    double x[60];
    struct stats_bse bse;
    for (size_t i = 0; i < 60; i++)
        x[i] = .1;
    assert_true(stats_bse(x, 60, &bse, &e));
    assert_true(bse.se == 0);
    assert_true(bse.df == 59);
    assert_true(stats_bse(x, 1, &bse, &e));
    assert_true(bse.se == 0);
    assert_true(stats_bse(x, 0, &bse, &e));
}

static void test_mean_needs_data(void **state)
{
    (void)state;
    double x[20];
    struct stats_ci ci;
    statvec_ar(x, 20, 0, 1);
    assert_true(stats_mean(100, x, 19, 1000, &ci, &e));
    assert_false(ci.ok);
    assert_string_equal(ci.why, "fewer than 20 segments");
    assert_true(stats_mean(100, x, 20, 29, &ci, &e));
    assert_false(ci.ok);
    assert_string_equal(ci.why, "fewer than 30 requests");
    assert_true(stats_mean(100, x, 20, 30, &ci, &e));
    assert_true(ci.ok);
}

static void test_segment_width(void **state)
{
    (void)state;
    const int64_t ms = 1000000, s = 1000 * ms;
    assert_int_equal(stats_segment_width_ns(1200 * s), 10 * s);
    assert_int_equal(stats_segment_width_ns(1200 * s - 1), 5 * s);
    assert_int_equal(stats_segment_width_ns(60 * s), 500 * ms);
    assert_int_equal(stats_segment_width_ns(1200 * ms), 10 * ms);
    assert_int_equal(stats_segment_width_ns(1), 10 * ms);
}

static void test_v2_median_segment(void **state)
{
    (void)state;
    double x[120];
    struct stats_ci ci;
    struct stats_quantile q;
    int64_t above[120], one[120];
    statvec_ar(x, 120, .8, 1);
    assert_true(stats_median_segment(x, 120, &ci, &e));
    assert_true(ci.ok);
    statvec_assert_close(ci.value, 101.0651054, DIGITS_10);
    assert_int_equal(ci.m, 12);
    for (size_t i = 0; i < 120; i++) {
        above[i] = x[i] > ci.value;
        one[i] = 1;
    }
    assert_true(stats_quantile((struct stats_ratio){1, 2}, above, one, 120, NULL, &q, &e));
    statvec_assert_close(q.deff, 5.167442892, DIGITS_10);
    assert_int_equal(q.n_e, 17);
    assert_int_equal(q.r95.lo, 33);
    assert_int_equal(q.r95.hi, 88);
    statvec_assert_close(ci.lo, 97.94324281, DIGITS_10);
    statvec_assert_close(ci.hi, 103.6186635, DIGITS_10);
    assert_true(ci.lo90 >= ci.lo && ci.hi90 <= ci.hi);
    assert_true(stats_median_segment(x, 10, &ci, &e));
    assert_false(ci.ok);
    assert_true(stats_median_segment(x, 0, &ci, &e));
    assert_false(ci.ok);
}

static void test_v3_trend(void **state)
{
    (void)state;
    const double a[] = {12, 11, 13, 12.5, 14, 13.5, 15, 14.2, 16, 15.5};
    const double b[] = {5, 5, 6, 6, 6, 7, 5, 8, 8, 9};
    struct stats_trend t;
    assert_true(stats_trend(a, 10, &t, &e));
    assert_int_equal(t.s, 35);
    statvec_assert_close(t.v, 125, 1e-12);
    statvec_assert_close(t.p, .002357527596, DIGITS_10);
    statvec_assert_close(t.slope, .5, 1e-12);
    assert_true(stats_trend(b, 10, &t, &e));
    assert_int_equal(t.s, 30);
    statvec_assert_close(t.v, 116.6666667, DIGITS_10);
    statvec_assert_close(t.p, .007255622277, DIGITS_10);
}

static void test_v3_drift(void **state)
{
    (void)state;
    double x[120];
    struct stats_drift d;
    statvec_ar(x, 120, .6, 3);
    assert_true(stats_drift(x, 120, &d, &e));
    assert_int_equal(d.m, 8);
    assert_int_equal(d.b, 15);
    assert_int_equal(d.s, 35);
    statvec_assert_close(d.p, .09245959511, DIGITS_10);
    assert_false(d.reported);
    for (size_t i = 0; i < 120; i++)
        x[i] += .1 * (double)i;
    assert_true(stats_drift(x, 120, &d, &e));
    assert_int_equal(d.s, 83);
    statvec_assert_close(d.p, 4.950587e-5, DIGITS_7);
    statvec_assert_close(d.change_frac, .1553130, DIGITS_7);
    assert_true(d.reported);

    /* A straight line through it falls below 0. */
    for (size_t i = 0; i < 120; i++)
        x[i] = pow(1 - (double)i / 120, 4);
    assert_true(stats_drift(x, 120, &d, &e));
    assert_true(d.change_frac == -1);

    for (size_t i = 0; i < 120; i++)
        x[i] = 3;
    assert_true(stats_drift(x, 120, &d, &e));
    assert_false(d.ok);
    assert_false(d.reported);
}

static void test_v5_partition(void **state)
{
    (void)state;
    double x[16];
    const double levels[] = {10, 14, 9};
    const size_t lengths[] = {5, 5, 6};
    size_t n = 0, cuts[10], n_cuts;
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < lengths[k]; i++)
            x[n++] = levels[k];
    double cost;
    assert_true(stats_partition(x, n, 3, 5, cuts, &n_cuts, &cost, &e));
    assert_int_equal(n_cuts, 2);
    assert_int_equal(cuts[0], 5);
    assert_int_equal(cuts[1], 10);
    statvec_assert_close(cost, 10, 1e-12);
    assert_true(stats_partition(x, n, 3, 50, cuts, &n_cuts, &cost, &e));
    assert_int_equal(n_cuts, 0);
    statvec_assert_close(cost, 73.75, 1e-12);
}

static double sse_of(const double *x, size_t from, size_t to)
{
    double mean = statvec_mean(x + from, to - from), sum = 0;
    for (size_t i = from; i < to; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum;
}

/* Every set of cuts of 12 points, as bits. */
static void test_partition_by_brute_force(void **state)
{
    (void)state;
    const size_t n = 12, least = 2;
    double x[12];
    for (uint64_t seed = 1; seed <= 30; seed++) {
        statvec_ar(x, n, .9, seed);
        double best = INFINITY, beta = (double)seed;
        for (unsigned bits = 0; bits < 1u << (n - 1); bits++) {
            double cost = 0;
            size_t start = 0;
            for (size_t i = 1; i <= n && isfinite(cost); i++) {
                if (i < n && (bits >> (i - 1) & 1) == 0)
                    continue;
                cost = i - start < least ? INFINITY
                                         : cost + sse_of(x, start, i) + (start > 0 ? beta : 0);
                start = i;
            }
            best = fmin(best, cost);
        }
        size_t cuts[13], n_cuts;
        double cost;
        assert_true(stats_partition(x, n, least, beta, cuts, &n_cuts, &cost, &e));
        statvec_assert_close(cost, best, 1e-11);
    }
}

static void test_error_rate(void **state)
{
    (void)state;
    int64_t errors[40], n[40];
    struct stats_ci ci;
    for (size_t i = 0; i < 40; i++) {
        errors[i] = i % 4 == 0;
        n[i] = 10 + (int64_t)(i % 3);
    }
    assert_true(stats_error_rate(NAN, errors, n, 40, &ci, &e));
    assert_true(ci.ok);
    statvec_assert_close(ci.value, 10. / 439, 1e-12);
    assert_true(ci.se > 0 && ci.lo >= 0 && ci.lo < ci.value && ci.value < ci.hi);
    /* Every segment has the same share: the variation is exactly 0. */
    for (size_t i = 0; i < 40; i++) {
        n[i] = 30 * (1 + (int64_t)(i % 3));
        errors[i] = n[i] / 30;
    }
    assert_true(stats_error_rate(NAN, errors, n, 40, &ci, &e));
    assert_true(ci.se == 0);
    memset(n, 0, sizeof n);
    memset(errors, 0, sizeof errors);
    assert_true(stats_error_rate(NAN, errors, n, 40, &ci, &e));
    assert_false(ci.ok);
}

/* 200 series of independent requests: 95 % of the intervals hold the true mean, or nearly so. */
static void test_mean_of_requests(void **state)
{
    int64_t sum[40], n[40];
    uint64_t random = 1;
    size_t n_held = 0;
    struct stats_ci ci;
    struct err e;

    (void)state;
    for (size_t k = 0; k < 200; k++) {
        for (size_t i = 0; i < 40; i++) {
            sum[i] = 0;
            n[i] = 5 + (int64_t)(i % 7);
            for (int64_t j = 0; j < n[i]; j++) {
                double u = (double)(splitmix_spread(random += SPLITMIX_STEP) >> 11) * 0x1p-53;
                sum[i] += llround(-1e6 * log(1 - u));
            }
        }
        assert_true(stats_mean_of_requests(NAN, sum, n, 40, NULL, &ci, &e));
        assert_true(ci.ok && ci.lo >= 0 && ci.lo < ci.lo90 && ci.hi90 < ci.hi);
        n_held += ci.lo <= 1e6 && 1e6 <= ci.hi;
    }
    assert_in_range(n_held, 182, 198);
    /* Batches of a rate whose noise lasts longer. */
    const struct stats_ci rate = {.m = 4, .stretches = 3};
    assert_true(stats_mean_of_requests(1e6, sum, n, 40, &rate, &ci, &e));
    assert_true(ci.m >= 4 && ci.stretches <= 3);
}

/* Returns the stretches of 120 segments, each repeated, with a swing of n_cycles, and noise between
 * neighbours. */
static double stretches_of(size_t repeated, double n_cycles, double noise)
{
    double x[1200];
    size_t n = 120 * repeated;
    for (size_t i = 0; i < n; i++)
        x[i] = 100 + 10 * sin(2 * M_PI * n_cycles * (double)i / (double)n) +
               (i / repeated % 2 == 0 ? noise : -noise);
    return stats_stretches(x, n);
}

static void test_stretches(void **state)
{
    (void)state;
    assert_true(stretches_of(1, 0, 1) == 120);
    assert_true(stretches_of(1, 2, 1) < 12);
    assert_true(stretches_of(10, 2, 1) < 12);
    assert_true(stretches_of(1, 2, 5) < 12); /* noise of single segments does not count */
    assert_true(stretches_of(1, 20, 1) > 40);
    assert_true(stretches_of(1, 0, 0) == 120);
    assert_true(stats_stretches(NULL, 0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_v1_bse),
        cmocka_unit_test(test_bse_without_variation),
        cmocka_unit_test(test_mean_needs_data),
        cmocka_unit_test(test_segment_width),
        cmocka_unit_test(test_v2_median_segment),
        cmocka_unit_test(test_v3_trend),
        cmocka_unit_test(test_v3_drift),
        cmocka_unit_test(test_v5_partition),
        cmocka_unit_test(test_partition_by_brute_force),
        cmocka_unit_test(test_error_rate),
        cmocka_unit_test(test_mean_of_requests),
        cmocka_unit_test(test_stretches),
    };
    return cmocka_run_group_tests(tests, statvec_setup, NULL);
}
