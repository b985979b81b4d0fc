/* analyze/stats on latencies: vectors V6-V8 and V16 of docs/how-the-numbers-are-made.md, section
 * 12, and brute force where there is an independent way to the same number. */
#include "analyze/stats/stats.h"

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

static void test_v6_rank(void **state)
{
    (void)state;
    assert_int_equal(stats_rank(5, statvec_percent("30")), 2);
    assert_int_equal(stats_rank(5, statvec_percent("40")), 2);
    assert_int_equal(stats_rank(5, statvec_percent("50")), 3);
    assert_int_equal(stats_rank(100, statvec_percent("99")), 99);
    assert_int_equal(stats_rank(1, statvec_percent("0.1")), 1);
    assert_int_equal(stats_rank(1000, statvec_percent("99.9")), 999);
    assert_int_equal(stats_rank(UINT64_MAX, statvec_percent("50")), UINT64_MAX / 2 + 1);
}

/* Checks the ranks, and their confidence P(l <= X < u), summed term by term. */
static void assert_binomial(uint64_t n, double p, uint64_t l, uint64_t u, double confidence,
                            double relative)
{
    uint64_t got_l, got_u;
    stats_binomial_ranks(n, p, .95, &got_l, &got_u);
    assert_int_equal(got_l, l);
    assert_int_equal(got_u, u);
    double sum = 0, all = lgamma((double)n + 1);
    for (uint64_t k = l; k < u; k++) {
        double in = (double)k, out = (double)(n - k);
        sum += exp(all - lgamma(in + 1) - lgamma(out + 1) + in * log(p) + out * log1p(-p));
    }
    statvec_assert_close(sum, confidence, relative);
}

static void test_v7_binomial(void **state)
{
    (void)state;
    assert_binomial(10, .5, 2, 9, .978515625, 1e-12);
    assert_binomial(1000, .99, 983, 997, .9760947635, DIGITS_10);
    assert_binomial(1000000, .999, 998938, 999062, .9502066, DIGITS_7);
    /* GSL's function fails near the mean. */
    double mean = 25e6, sd = sqrt(12.5e6);
    uint64_t l = stats_binomial_quantile(.025, 50000000, .5);
    assert_true(fabs((double)l - (mean - 1.959964 * sd)) <= 2);
    assert_int_equal(stats_binomial_quantile(.975, 50000000, .5), 50000000 - l);
}

static void test_smallest_n(void **state)
{
    (void)state;
    const char *const p[] = {"50", "75", "90", "95", "99", "99.9", "99.99"};
    const uint64_t want[] = {6, 13, 36, 72, 368, 3688, 36887};
    for (size_t i = 0; i < 7; i++) {
        struct stats_ratio r = statvec_percent(p[i]);
        uint64_t n = want[i], l, u;
        stats_binomial_ranks(n, (double)r.num / (double)r.den, .95, &l, &u);
        assert_true(l >= 1 && u <= n);
        stats_binomial_ranks(n - 1, (double)r.num / (double)r.den, .95, &l, &u);
        assert_true(l < 1 || u > n - 1);
    }
}

static int compare_int64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Computes the CI of a quantile of n_segments * per_segment latencies. */
static void quantile_of(const int64_t *latency, size_t n_segments, size_t per_segment,
                        struct stats_ratio p, struct stats_quantile *q, struct stats_ci *ci)
{
    size_t n = n_segments * per_segment, ranks[5];
    int64_t *sorted = malloc(n * sizeof *sorted), values[5];
    int64_t *exceed = calloc(n_segments, sizeof *exceed);
    int64_t *count = calloc(n_segments, sizeof *count);
    assert_true(sorted != NULL && exceed != NULL && count != NULL);
    memcpy(sorted, latency, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_int64);
    int64_t value = sorted[stats_rank(n, p) - 1];
    for (size_t i = 0; i < n; i++) {
        count[i / per_segment]++;
        exceed[i / per_segment] += latency[i] > value;
    }
    assert_true(stats_quantile(p, exceed, count, n_segments, NULL, q, &e));
    stats_quantile_ranks(q, ranks);
    for (size_t i = 0; i < 5; i++)
        values[i] = sorted[ranks[i]];
    stats_quantile_ci(q, values, ci);
    free(sorted);
    free(exceed);
    free(count);
}

/* Few requests above a high quantile do not show noise that lasts. The rate over the same segments
 * does. */
static void test_quantile_with_a_rate(void **state)
{
    (void)state;
    int64_t above[120], all[120];
    uint64_t seed = 3;
    struct stats_quantile alone, with;
    struct stats_ci rate = {.ok = true, .m = 10, .stretches = 5};
    for (size_t j = 0; j < 120; j++) {
        all[j] = 100;
        above[j] = statvec_pm(&seed) < .5;
    }
    const struct stats_ratio p = {99, 100};
    assert_true(stats_quantile(p, above, all, 120, NULL, &alone, &e));
    assert_true(alone.m == 1 && alone.stretches == 120);
    assert_true(stats_quantile(p, above, all, 120, &rate, &with, &e));
    assert_true(with.m == 10 && with.df == 11 && with.stretches == 5);
    rate.stretches = 200;
    assert_true(stats_quantile(p, above, all, 120, &rate, &with, &e));
    assert_true(with.stretches == 120);
    rate.m = 1000; /* at least ten batches */
    assert_true(stats_quantile(p, above, all, 120, &rate, &with, &e));
    assert_int_equal(with.m, 12);
    rate.m = 0;
    assert_true(stats_quantile(p, above, all, 120, &rate, &with, &e));
    assert_true(with.m == 1 && with.n_e == alone.n_e);
}

static void test_v8_quantile(void **state)
{
    (void)state;
    double x[60];
    int64_t latency[600], sum = 0;
    uint64_t seed = 1;
    statvec_ar(x, 60, .6, 3);
    for (size_t i = 0; i < 600; i++) {
        latency[i] = (int64_t)floor(10 * x[i / 10] * (1 + statvec_pm(&seed)));
        sum += latency[i];
    }
    assert_int_equal(sum, 882404);
    struct stats_quantile q;
    struct stats_ci ci;
    quantile_of(latency, 60, 10, statvec_percent("90"), &q, &ci);
    assert_true(ci.ok && q.can_gate);
    assert_true(ci.value == 1839);
    statvec_assert_close(q.deff, 1.468926554, DIGITS_10);
    assert_int_equal(q.n_e, 391);
    assert_int_equal(q.r95.lo, 521);
    assert_int_equal(q.r95.hi, 559);
    assert_true(ci.lo == 1814 && ci.hi == 1875);
    quantile_of(latency, 60, 10, statvec_percent("50"), &q, &ci);
    assert_true(ci.value == 1464);
    assert_true(q.deff == 1);
    assert_int_equal(q.n_e, 575);
    assert_true(ci.lo == 1437 && ci.hi == 1498);
    assert_true(ci.lo90 >= ci.lo && ci.hi90 <= ci.hi);
    quantile_of(latency, 60, 10, statvec_percent("99.9"), &q, &ci);
    assert_false(ci.ok); /* 3,688 would be needed */
    assert_true(isinf(ci.hi));
    quantile_of(latency, 60, 10, statvec_percent("99"), &q, &ci);
    assert_true(ci.ok);
    assert_false(q.can_gate); /* 6 expected above it */
    quantile_of(latency, 19, 10, statvec_percent("50"), &q, &ci);
    assert_false(ci.ok);
}

static void test_v16_latency(void **state)
{
    (void)state;
    const int64_t one = 1050, small = 99;
    assert_int_equal(stats_co_count(&one, 1, 100), 10);
    assert_int_equal(stats_co_count(&small, 1, 100), 1);
    assert_int_equal(stats_co_value(&one, 1, 100, 1), 150);
    assert_int_equal(stats_co_value(&one, 1, 100, 5), 550);
    assert_int_equal(stats_co_value(&one, 1, 100, 10), 1050);
}

/* Compares the correction for omission with its definition, on spread values. */
static void test_latency_by_brute_force(void **state)
{
    (void)state;
    enum { N = 500 };
    int64_t d[N], *list = NULL;
    uint64_t seed = 11;
    size_t n = 0;
    for (size_t i = 0; i < N; i++)
        d[i] = (int64_t)(5000 * pow(statvec_pm(&seed), -1.5));
    const int64_t interval = 3000;
    list = malloc((size_t)stats_co_count(d, N, interval) * sizeof *list);
    assert_non_null(list);
    for (size_t i = 0; i < N; i++) {
        list[n++] = d[i];
        for (int64_t v = d[i] - interval; v >= interval; v -= interval)
            list[n++] = v;
    }
    assert_int_equal(n, stats_co_count(d, N, interval));
    qsort(list, n, sizeof *list, compare_int64);
    const char *const ps[] = {"1", "25", "50", "90", "99", "99.9"};
    for (size_t i = 0; i < sizeof ps / sizeof *ps; i++) {
        struct stats_ratio p = statvec_percent(ps[i]);
        uint64_t rank = stats_rank(n, p);
        assert_int_equal(stats_co_value(d, N, interval, rank), list[rank - 1]);
    }
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_v6_rank),
        cmocka_unit_test(test_v7_binomial),
        cmocka_unit_test(test_smallest_n),
        cmocka_unit_test(test_v8_quantile),
        cmocka_unit_test(test_quantile_with_a_rate),
        cmocka_unit_test(test_v16_latency),
        cmocka_unit_test(test_latency_by_brute_force),
    };
    return cmocka_run_group_tests(tests, statvec_setup, NULL);
}
