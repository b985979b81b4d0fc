/* The role of each operation in its run. */
#include "analyze/summary/model/role.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define B ROLE_BENCHMARK
#define P ROLE_PHASE
#define N 4

/* Operations one after another, their lengths in seconds, and their roles. */
struct given {
    const char *op[N];
    int64_t s[N];
    enum role want[N];
};

static const struct given cases[] = {
    {{"PUT"}, {10}, {B}},
    {{"PUT", "GET"}, {5, 60}, {ROLE_PREPARATION, B}},
    {{"GET", "PUT"}, {60, 60}, {P, P}},
    {{"GET", "STAT"}, {60, 60}, {P, P}},
    {{"PUT", "GET", "DELETE"}, {30, 30, 30}, {P, P, P}},
    {{"PUT", "GET", "DELETE"}, {5, 60, 2}, {ROLE_PREPARATION, B, ROLE_CLEAN_UP}},
    {{"GET", "DELETE"}, {60, 2}, {B, ROLE_CLEAN_UP}},
    /* The run measured deletions. */
    {{"PUT", "DELETE"}, {60, 2}, {ROLE_PREPARATION, B}},
    {{"PUT", "GET", "STAT", "DELETE"}, {5, 60, 60, 2}, {P, P, P, ROLE_CLEAN_UP}},
};

static void test_one_after_another(void **state)
{
    (void)state;
    for (const struct given *g = cases; g < cases + sizeof cases / sizeof *cases; g++) {
        struct role_step steps[N];
        int64_t at_s = 0;
        size_t n = 0;

        for (; n < N && g->op[n] != NULL; at_s += g->s[n], n++)
            steps[n] =
                (struct role_step){.op = g->op[n], .start_ns = at_s, .end_ns = at_s + g->s[n]};
        role_assign(steps, n);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(steps[k].role, g->want[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_after_another)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
