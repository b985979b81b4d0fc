/* The control groups of this process, and how many CPUs they let it use. */
#ifndef S3_LOADGEN_UTIL_CGROUPS_H
#define S3_LOADGEN_UTIL_CGROUPS_H

/* Calls `see` for the folder of each of our control groups that limits CPUs, and of its ancestors.
 * `groups` is a file that lists our groups, as /proc/self/cgroup does. `root` is where groups are
 * mounted (version 2; for version 1 in its folder cpu/). */
void cgroups_each(const char *groups, const char *root, void (*see)(void *ctx, const char *group),
                  void *ctx);

/* Returns how many CPUs the quotas of these groups allow, rounded up; UINT_MAX: no quota. */
unsigned cgroups_cpus(const char *groups, const char *root);

#endif
