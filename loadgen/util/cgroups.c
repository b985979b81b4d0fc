#include "loadgen/util/cgroups.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Reads up to two numbers from a file of a control group. Returns how many it read. */
static int read_values(const char *group, const char *file, long long *a, long long *b)
{
    char path[8300];

    snprintf(path, sizeof path, "%s/%s", group, file);
    FILE *f = fopen(path, "re");
    int n = f != NULL ? fscanf(f, "%lld %lld", a, b) : 0;
    if (f != NULL)
        fclose(f);
    return n;
}

/* Returns how many CPUs one control group allows, rounded up. No limit is -1 in version 1, "max" in
 * version 2. */
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

void cgroups_each(const char *groups, const char *root, void (*see)(void *ctx, const char *group),
                  void *ctx)
{
    char line[4096];
    char group[8200];
    FILE *f = fopen(groups, "re");

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
        size_t n_mount = strlen(root) + (has_cpu ? strlen("/cpu") : 0);
        snprintf(group, sizeof group, "%s%s%.*s", root, has_cpu ? "/cpu" : "",
                 (int)strcspn(path + 1, "\n"), path + 1);
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

unsigned cgroups_cpus(const char *groups, const char *root)
{
    unsigned least = UINT_MAX;

    cgroups_each(groups, root, take_least, &least);
    return least;
}
