#include "loadgen/util/util.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

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

#define MOUNT "/sys/fs/cgroup"

static unsigned quota(const char *root, const char *groups)
{
    put(root, "/proc/self/cgroup", groups);
    return cgroups_read(root).cpus;
}

static void in_folders(const char *const *folders, void (*test)(const char *root))
{
    char root[] = "/tmp/test_cgroups.XXXXXX";
    char name[256];

    assert_non_null(mkdtemp(root));
    snprintf(name, sizeof name, "mkdir -p %s/proc/self %s" MOUNT, root, root);
    assert_int_equal(system(name), 0);
    for (; *folders != NULL; folders++) {
        snprintf(name, sizeof name, "%s" MOUNT "%s", root, *folders);
        assert_int_equal(mkdir(name, 0700), 0);
    }
    test(root);
    snprintf(name, sizeof name, "rm -r %s", root);
    assert_int_equal(system(name), 0);
}

static void version_2(const char *root)
{
    assert_true(quota(root, "0::/a/b\n") == UINT_MAX);
    put(root, MOUNT "/a/b/cpu.max", "max 100000\n");
    assert_true(quota(root, "0::/a/b\n") == UINT_MAX);
    /* One and a half CPUs count as two; the quota of an ancestor limits its descendants. */
    put(root, MOUNT "/a/b/cpu.max", "150000 100000\n");
    assert_int_equal(quota(root, "0::/a/b\n"), 2);
    put(root, MOUNT "/a/cpu.max", "50000 100000\n");
    assert_int_equal(quota(root, "0::/a/b\n"), 1);
    put(root, MOUNT "/a/cpu.max", "400000 100000\n");
    assert_int_equal(quota(root, "0::/a/b\n"), 2);
    assert_int_equal(quota(root, "0::/a\n"), 4);
    assert_true(quota(root, "0::/\n") == UINT_MAX);
    assert_true(quota(root, "1\n\n") == UINT_MAX);
}

/* The group of a container is not visible inside it: its quota is at the mount point. */
static void version_1(const char *root)
{
    static const char groups[] = "3:cpuset:/a\n4:cpu,cpuacct:/a\n1:name=systemd:/a\n0::/a\n";

    put(root, MOUNT "/cpu/a/cpu.cfs_quota_us", "-1\n");
    put(root, MOUNT "/cpu/a/cpu.cfs_period_us", "100000\n");
    assert_true(quota(root, groups) == UINT_MAX);
    put(root, MOUNT "/cpu/a/cpu.cfs_quota_us", "250000\n");
    assert_int_equal(quota(root, groups), 3);
    put(root, MOUNT "/cpu/cpu.cfs_quota_us", "100000\n");
    put(root, MOUNT "/cpu/cpu.cfs_period_us", "100000\n");
    assert_int_equal(quota(root, groups), 1);
    assert_int_equal(quota(root, "4:cpuacct,cpu:/not/seen\n"), 1);
    assert_true(quota(root, "3:cpuset:/a\n") == UINT_MAX);

    put(root, "/proc/self/cgroup", groups);
    assert_int_equal(cgroups_read(root).n_throttled, -1);
    put(root, MOUNT "/cpu/a/cpu.stat", "nr_periods 9\nnr_throttled 3\nthrottled_time 70\n");
    put(root, MOUNT "/cpu/cpu.stat", "nr_periods 9\nnr_throttled 2\nthrottled_time 5\n");
    assert_int_equal(cgroups_read(root).n_throttled, 5);
    assert_int_equal(cgroups_read(root).throttled_ns, 75);
}

static void test_quota(void **state)
{
    (void)state;
    in_folders((const char *const[]){"/a", "/a/b", NULL}, version_2);
    in_folders((const char *const[]){"/cpu", "/cpu/a", NULL}, version_1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quota),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
