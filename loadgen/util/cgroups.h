/* The control groups of this process: how many CPUs they allow, and how often they stopped it.
 * /proc and /sys are in the folder `root`, which is "" except in tests. */
#ifndef S3_LOADGEN_UTIL_CGROUPS_H
#define S3_LOADGEN_UTIL_CGROUPS_H

#include <stdint.h>

/* Returns how many CPUs the quotas of our control groups allow, rounded up; UINT_MAX: no quota. */
unsigned cgroups_cpus(const char *root);

/* How often, and for how long, quotas stopped threads: sums over CPUs and groups. -1: unknown. */
struct cgroups_throttling {
    int64_t n, ns;
};
struct cgroups_throttling cgroups_throttled(const char *root);

#endif
