#include "loadgen/load/load.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_threads(void **state)
{
    (void)state;
    assert_int_equal(crew_n_loops(8, 3), 3);
    assert_int_equal(crew_n_loops(2, 3), 2);
    assert_int_equal(crew_n_loops(1, 0), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
