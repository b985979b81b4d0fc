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

/* Calls `see` for the folder of each of our control groups that limits CPUs, and of its ancestors.
 * Version 2 has one mounted folder, version 1 has one for each controller. */
static void each_group(const char *root, void (*see)(void *ctx, const char *group), void *ctx)
{
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
            see(ctx, group);
            slash = strrchr(group + n_mount, '/');
            if (slash != NULL)
                *slash = '\0';
        }
    }
    if (f != NULL)
        fclose(f);
}

static void take_least(void *ctx, const char *group)
{
    unsigned *least = ctx;
    unsigned n = cpus_of(group);

    *least = n < *least ? n : *least;
}

unsigned cgroups_cpus(const char *root)
{
    unsigned least = UINT_MAX;

    each_group(root, take_least, &least);
    return least;
}

static void add_throttling(void *ctx, const char *group)
{
    struct cgroups_throttling *sum = ctx;
    int64_t value, n = -1, ns = -1;
    char key[64];
    FILE *f = open_file(group, "cpu.stat");

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
    sum->n = int64_add_clamped(n, int64_max(0, sum->n));
    sum->ns = int64_add_clamped(ns, int64_max(0, sum->ns));
}

struct cgroups_throttling cgroups_throttled(const char *root)
{
    struct cgroups_throttling sum = {-1, -1};

    each_group(root, add_throttling, &sum);
    return sum;
}
