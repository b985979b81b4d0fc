#include "loadgen/ranks/ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static char *const HEAD[] = {"s3analyze", "merge", NULL};

static void expect(char **words, const char *const *expected)
{
    assert_non_null(words);
    for (; *expected != NULL; words++, expected++)
        assert_string_equal(*words, *expected);
    assert_null(*words);
}

static void test_parts_where_they_were_made(void **state)
{
    (void)state;
    char **words = parts_command(HEAD, "a/run.csv.zst", "a/run.csv.zst", 2);

    expect(words, (const char *const[]){"s3analyze", "merge", "a/run.rank-0.csv.zst",
                                        "a/run.rank-1.csv.zst", NULL});
    free(words);
}

static void test_gathered_parts(void **state)
{
    (void)state;
    char **words = parts_command(HEAD, "/long/er/run.csv.zst", "f/run.csv.zst", 3);

    expect(words, (const char *const[]){"s3analyze", "merge", "/long/er/run.rank-0.csv.zst",
                                        "f/run.rank-1.csv.zst", "f/run.rank-2.csv.zst", NULL});
    free(words);
    words = parts_command(HEAD, "r.csv.zst", "r.csv.zst.parts-abcdef/r.csv.zst", 2);
    expect(words, (const char *const[]){"s3analyze", "merge", "r.rank-0.csv.zst",
                                        "r.csv.zst.parts-abcdef/r.rank-1.csv.zst", NULL});
    free(words);
}

static void fill(void *ctx, struct ranks_figures *mine)
{
    mine->max[TEAM_STATUS] = *(const int *)ctx;
}

static void test_one_rank_meets_itself(void **state)
{
    (void)state;
    int status = 3;
    struct team t = {.size = 1, .fill = fill, .ctx = &status};
    struct err e = {0};

    assert_true(team_meet(&t, true, &e));
    assert_int_equal(t.all.max[TEAM_STATUS], 3);
    assert_false(team_meet(&t, err_set(&e, "its own failure"), &e));
    assert_string_equal(e.msg, "its own failure");
    status = 4;
    assert_true(team_poll(&t));
    assert_int_equal(t.all.max[TEAM_STATUS], 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_where_they_were_made),
        cmocka_unit_test(test_gathered_parts),
        cmocka_unit_test(test_one_rank_meets_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
