/* loadgen/util/histogram: counts, values by rank, quantiles. */
#include "loadgen/util/histogram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 11;
}

static void test_counts(void **state)
{
    (void)state;
    struct err e = {0};
    struct histogram h;
    int64_t min = INT64_MAX, max = 0;
    uint64_t seed = 7, n_over = 0, n_counted = 0;
    assert_true(histogram_init(&h, &e));
    for (int i = 0; i < 20000; i++) {
        int64_t v = (int64_t)(next_random(&seed) >> (next_random(&seed) % 40));
        histogram_add(&h, v);
        min = v < min ? v : min;
        max = v > max ? v : max;
        n_over += v > HIST_MAX_VALUE;
    }
    for (size_t i = 0; i < HIST_N_COUNTERS; i++)
        n_counted += h.count[i];
    assert_int_equal(h.n, 20000);
    assert_int_equal(h.n_over, n_over);
    assert_true(n_over > 0);
    assert_int_equal(n_counted, 20000 - n_over);
    assert_int_equal(h.min, min);
    assert_int_equal(h.max, max);
    histogram_fini(&h);
}

static void test_value_at(void **state)
{
    (void)state;
    struct err e = {0};
    struct histogram h;
    assert_true(histogram_init(&h, &e));
    for (int64_t v = 1; v <= 1000; v++)
        histogram_add(&h, v);
    assert_int_equal(histogram_value_at(&h, 1), 1);
    assert_int_equal(histogram_value_at(&h, 990), 990);
    histogram_add(&h, 1000000);
    assert_int_equal(histogram_value_at(&h, 1001), 1000000); /* not past the largest */
    histogram_add(&h, INT64_C(1) << 50);
    assert_int_equal(histogram_value_at(&h, 1001), 1000447);
    assert_int_equal(histogram_value_at(&h, 1002), INT64_C(1) << 50);
    histogram_add(&h, -5);
    assert_int_equal(h.min, -5);
    assert_int_equal(h.count[0], 1);
    histogram_fini(&h);
}

static void test_quantiles(void **state)
{
    static const unsigned permille[] = {0, 300, 500, 900, 1000};
    static const int64_t v[] = {50, 15, 40, 20, 35}, wanted[] = {15, 35, 40, 50, 50};
    struct err e = {0};
    struct histogram h;

    (void)state;
    assert_true(histogram_init(&h, &e));
    assert_int_equal(histogram_quantile(&h, 500), 0);
    for (size_t i = 0; i < 5; i++)
        histogram_add(&h, v[i]);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(histogram_quantile(&h, permille[i]), wanted[i]);
    histogram_fini(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_value_at),
        cmocka_unit_test(test_quantiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
