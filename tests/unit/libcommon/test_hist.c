/* libcommon/hist: bucket arithmetic; selection against a full sort. */
#include "analyze/stats/picker.h"
#include "libcommon/hist.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static void test_vector_16(void **state)
{
    (void)state;
    assert_int_equal(hist_index(2047), 2047);
    assert_int_equal(hist_index(2048), 2048);
    assert_int_equal(hist_index(4096), 3072);
    assert_int_equal(hist_index(1000000), 11169);
    assert_int_equal(hist_lower(11169), 999936);
    assert_int_equal(hist_upper(11169), 1000447);
    assert_int_equal(hist_index(123456789), 18267);
    assert_int_equal(hist_index(HIST_MAX_VALUE), HIST_N_COUNTERS - 1);
    assert_int_equal(hist_index(HIST_MAX_VALUE + 1), HIST_N_COUNTERS);
    assert_int_equal(hist_index(INT64_MAX), HIST_N_INDEXES - 1);
    assert_int_equal(hist_index(-1), 0);
    assert_int_equal(hist_index(INT64_MIN), 0);
}

/* Buckets cover the non-negative numbers without gap or overlap, each at most 1/1024 wide. */
static void test_buckets_tile(void **state)
{
    (void)state;
    int64_t next = 0;
    for (size_t i = 0; i < HIST_N_INDEXES; i++) {
        int64_t lower = hist_lower(i), upper = hist_upper(i);
        assert_int_equal(lower, next);
        assert_true(upper >= lower);
        assert_true((upper - lower + 1) <= (lower < 2048 ? 1 : lower / 1024));
        assert_int_equal(hist_index(lower), i);
        assert_int_equal(hist_index(upper), i);
        next = upper == INT64_MAX ? 0 : upper + 1;
    }
    assert_int_equal(next, 0);
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 11;
}

static int compare_int64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

enum shape {
    SPREAD,
    SMALL_VALUES,
    ONE_BUCKET,
    EQUAL,
    WITH_NEGATIVES,
    ASCENDING,
    FAR_APART,
    HUGE_VALUES
};

static int64_t draw(enum shape shape, size_t i, uint64_t *seed)
{
    uint64_t r = next_random(seed);
    switch (shape) {
    case SPREAD:
        return (int64_t)(r >> (r % 50));
    case SMALL_VALUES:
        return (int64_t)(r % 3000);
    case ONE_BUCKET:
        return (INT64_C(1) << 40) + (int64_t)(r % (1 << 30));
    case EQUAL:
        return 123456789;
    case WITH_NEGATIVES:
        return (int64_t)(r % 100001) - 50000;
    case ASCENDING:
        return (int64_t)i * 1000;
    case FAR_APART:
        return (int64_t)r;
    default:
        return INT64_MAX - (int64_t)(r % 5);
    }
}

static void test_select_is_a_sort(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 2, 31, 33, 64, 65, 4095, 4096, 30000};
    uint64_t seed = 1;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (enum shape shape = SPREAD; shape <= HUGE_VALUES; shape++) {
            size_t n = sizes[s];
            int64_t *v = malloc(n * sizeof *v), *sorted = malloc(n * sizeof *v);
            assert_true(v != NULL && sorted != NULL);
            for (size_t i = 0; i < n; i++)
                v[i] = draw(shape, i, &seed);
            memcpy(sorted, v, n * sizeof *v);
            qsort(sorted, n, sizeof *v, compare_int64);
            size_t ranks[40];
            int64_t found[40];
            for (size_t i = 0; i < 40; i++)
                ranks[i] = next_random(&seed) % n;
            ranks[3] = 0;
            ranks[5] = n - 1;
            ranks[7] = ranks[9]; /* a repeat */
            picker_select(v, n, ranks, 40, found);
            for (size_t i = 0; i < 40; i++)
                assert_int_equal(found[i], sorted[ranks[i]]);
            free(v);
            free(sorted);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vector_16),
        cmocka_unit_test(test_buckets_tile),
        cmocka_unit_test(test_select_is_a_sort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
