#include "loadgen/load/crew.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static void put(const char *root, const char *path, const char *text)
{
    char name[256];

    snprintf(name, sizeof name, "%s%s", root, path);
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void test_quota(void **state)
{
    (void)state;
    char root[] = "/tmp/test_crew.XXXXXX";
    char name[256];

    assert_non_null(mkdtemp(root));
    snprintf(name, sizeof name, "%s/a", root);
    assert_int_equal(mkdir(name, 0700), 0);
    strcat(name, "/b");
    assert_int_equal(mkdir(name, 0700), 0);
    assert_true(crew_quota_cpus(root, "/a/b") == UINT_MAX);
    put(root, "/a/b/cpu.max", "max 100000\n");
    assert_true(crew_quota_cpus(root, "/a/b") == UINT_MAX);
    /* One and a half are two; what is above bounds what is below. */
    put(root, "/a/b/cpu.max", "150000 100000\n");
    assert_int_equal(crew_quota_cpus(root, "/a/b"), 2);
    put(root, "/a/cpu.max", "50000 100000\n");
    assert_int_equal(crew_quota_cpus(root, "/a/b"), 1);
    put(root, "/a/cpu.max", "400000 100000\n");
    assert_int_equal(crew_quota_cpus(root, "/a/b"), 2);
    assert_int_equal(crew_quota_cpus(root, "/a"), 4);
    assert_true(crew_quota_cpus(root, "/") == UINT_MAX);

    const char *const files[] = {"/a/b/cpu.max", "/a/cpu.max", "/a/b", "/a", ""};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(name, sizeof name, "%s%s", root, files[i]);
        assert_int_equal(remove(name), 0);
    }
}

static void test_threads(void **state)
{
    (void)state;
    assert_int_equal(crew_n_loops(8, 3), 3);
    assert_int_equal(crew_n_loops(2, 3), 2);
    assert_int_equal(crew_n_loops(1, 0), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quota),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
