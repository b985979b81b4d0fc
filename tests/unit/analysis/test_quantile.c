/* The report's rank rule (docs/how-the-numbers-are-made.md, section 5) on the vector V6 of its
 * section 12, which tells it from the rule of the statistics. */
#include "analyze/analysis/analysis_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_v6_report(void **state)
{
    static const int v[] = {15, 20, 35, 40, 50};

    (void)state;
    assert_int_equal(v[analysis_quantile_index(5, 30)], 35);
    assert_int_equal(v[analysis_quantile_index(5, 40)], 35);
    assert_int_equal(v[analysis_quantile_index(5, 50)], 40);
    assert_int_equal(analysis_quantile_index(100, 99) + 1, 100);
    assert_int_equal(analysis_quantile_index(1, 0), 0);
    assert_int_equal(analysis_quantile_index(1, 100), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_v6_report)};

    return cmocka_run_group_tests_name("quantile", tests, NULL, NULL);
}
