#include "loadgen/util/util.h"

#include "libcommon/int64.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool kernel_text(const char *root, const char *path, char *text, size_t size)
{
    char name[8300];

    snprintf(name, sizeof name, "%s%s", root, path);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n > 0)
        text[n] = '\0';
    return n > 0;
}

int64_t kernel_number(const char *root, const char *path, const char *key)
{
    char text[4096];
    int64_t value = -1;
    const char *at = kernel_text(root, path, text, sizeof text) ? strstr(text, key) : NULL;

    return at != NULL && sscanf(at + strlen(key), "%" SCNd64, &value) == 1 ? value : -1;
}

/* Returns how many CPUs one control group allows, rounded up. "No limit" is -1 in version 1 and
 * "max" in version 2. */
static unsigned cpus_of(const char *group)
{
    char text[64];
    int64_t quota = 0, period = 0;

    if (!kernel_text(group, "/cpu.max", text, sizeof text) ||
        sscanf(text, "%" SCNd64 " %" SCNd64, &quota, &period) != 2) {
        quota = kernel_number(group, "/cpu.cfs_quota_us", "");
        period = kernel_number(group, "/cpu.cfs_period_us", "");
    }
    if (quota <= 0 || period <= 0)
        return UINT_MAX;
    int64_t cpus = (quota - 1) / period + 1;
    return cpus < UINT_MAX ? (unsigned)cpus : UINT_MAX;
}

/* Takes into account the group with this folder. */
static void add(struct cgroups *all, const char *group)
{
    unsigned cpus = cpus_of(group);
    int64_t n = kernel_number(group, "/cpu.stat", "nr_throttled ");
    int64_t us = kernel_number(group, "/cpu.stat", "throttled_usec ");
    int64_t ns = us < 0 ? kernel_number(group, "/cpu.stat", "throttled_time ") /* version 1 */
                 : us <= INT64_MAX / 1000 ? us * 1000
                                          : INT64_MAX;

    all->cpus = cpus < all->cpus ? cpus : all->cpus;
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
