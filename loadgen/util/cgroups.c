#include "loadgen/util/util.h"

#include "libcommon/int64.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static FILE *open_file(const char *group, const char *file)
{
    char path[8300];

    snprintf(path, sizeof path, "%s/%s", group, file);
    return fopen(path, "re");
}

/* Reads up to two numbers from a file of a control group. Returns how many it read. */
static int read_values(const char *group, const char *file, long long *a, long long *b)
{
    FILE *f = open_file(group, file);

    int n = f != NULL ? fscanf(f, "%lld %lld", a, b) : 0;
    if (f != NULL)
        fclose(f);
    return n;
}

/* Returns how many CPUs one control group allows, rounded up. "No limit" is -1 in version 1 and
 * "max" in version 2. */
static unsigned cpus_of(const char *group)
{
    long long quota = 0;
    long long period = 0;
    long long none = 0;
    bool known = read_values(group, "cpu.max", &quota, &period) == 2 ||
                 (read_values(group, "cpu.cfs_quota_us", &quota, &none) == 1 &&
                  read_values(group, "cpu.cfs_period_us", &period, &none) == 1);

    if (!known || quota <= 0 || period <= 0)
        return UINT_MAX;
    long long cpus = (quota - 1) / period + 1;
    return cpus < UINT_MAX ? (unsigned)cpus : UINT_MAX;
}

/* Takes into account the group with this folder. */
static void add(struct cgroups *all, const char *group)
{
    unsigned cpus = cpus_of(group);
    int64_t value, n = -1, ns = -1;
    char key[64];
    FILE *f = open_file(group, "cpu.stat");

    all->cpus = cpus < all->cpus ? cpus : all->cpus;
    while (f != NULL && fscanf(f, "%63s %" SCNd64, key, &value) == 2) {
        if (strcmp(key, "nr_throttled") == 0)
            n = value;
        else if (strcmp(key, "throttled_time") == 0) /* version 1 */
            ns = value;
        else if (strcmp(key, "throttled_usec") == 0 && value >= 0)
            ns = value <= INT64_MAX / 1000 ? value * 1000 : INT64_MAX;
    }
    if (f != NULL)
        fclose(f);
    if (n < 0 || ns < 0)
        return;
    all->n_throttled = int64_add_clamped(n, int64_max(0, all->n_throttled));
    all->throttled_ns = int64_add_clamped(ns, int64_max(0, all->throttled_ns));
}

/* Version 2 has one mounted folder, version 1 has one for each controller. */
struct cgroups cgroups_read(const char *root)
{
    struct cgroups all = {UINT_MAX, -1, -1};
    char line[4096];
    char group[8200];

    snprintf(group, sizeof group, "%s/proc/self/cgroup", root);
    FILE *f = fopen(group, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        /* ID:CONTROLLERS:PATH; version 2 has no controllers here */
        char *list = strchr(line, ':');
        char *path = list != NULL ? strchr(list + 1, ':') : NULL;
        if (path == NULL)
            continue;
        *list = *path = ',';
        bool has_cpu = memmem(list, (size_t)(path + 1 - list), ",cpu,", 5) != NULL;
        if (!has_cpu && path != list + 1)
            continue;
        const char *mount = has_cpu ? "/sys/fs/cgroup/cpu" : "/sys/fs/cgroup";
        size_t n_mount = strlen(root) + strlen(mount);
        snprintf(group, sizeof group, "%s%s%.*s", root, mount, (int)strcspn(path + 1, "\n"),
                 path + 1);
        /* the group, then its ancestors */
        for (char *slash = group; slash != NULL;) {
            add(&all, group);
            slash = strrchr(group + n_mount, '/');
            if (slash != NULL)
                *slash = '\0';
        }
    }
    if (f != NULL)
        fclose(f);
    return all;
}
