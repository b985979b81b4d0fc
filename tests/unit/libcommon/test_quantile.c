/* The rule for quantiles (docs/how-the-numbers-are-made.md, section 5), on its example, for
 * indexes and for picked values. */
#include "analyze/stats/picker.h"
#include "libcommon/quantile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_index(void **state)
{
    static const int v[] = {15, 20, 35, 40, 50};

    (void)state;
    assert_int_equal(v[quantile_index(5, 300)], 35);
    assert_int_equal(v[quantile_index(5, 400)], 35);
    assert_int_equal(v[quantile_index(5, 500)], 40);
    assert_int_equal(quantile_index(100, 990) + 1, 100);
    assert_int_equal(quantile_index(1, 0), 0);
    assert_int_equal(quantile_index(1, 1000), 0);
    assert_int_equal(quantile_index(1000, 999), 999);
    assert_int_equal(quantile_index(SIZE_MAX, 500), SIZE_MAX / 2 + 1);
}

static void test_picked(void **state)
{
    static const unsigned permille[] = {0, 300, 500, 900, 1000};
    static const int64_t wanted[] = {15, 35, 40, 50, 50};
    int64_t v[] = {50, 15, 40, 20, 35}, found[5];

    (void)state;
    picker_quantiles(v, 5, permille, 5, found);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(found[i], wanted[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_index), cmocka_unit_test(test_picked)};

    return cmocka_run_group_tests_name("quantile", tests, NULL, NULL);
}
