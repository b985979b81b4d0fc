/* The loops of a run, a thread for each while a phase lasts. */
#ifndef S3_LOADGEN_LOAD_CREW_H
#define S3_LOADGEN_LOAD_CREW_H

#include "loadgen/load/loop.h"

#include <stdatomic.h>

struct crew {
    struct engine *engine;
    struct loop *loops;
    unsigned n_loops;
    atomic_uint n_busy;
};

/* How many loops to run for so many workers: n_threads, or with 0 one for each CPU that we may use
 * by our affinity and the quotas of our control groups; never more than workers. */
unsigned crew_n_loops(unsigned n_workers, unsigned n_threads);

/* How many CPUs the quotas of our control groups, and of the groups above them, allow: rounded up;
 * UINT_MAX: there is no quota. The file `groups` lists our groups as /proc/self/cgroup does; `root`
 * is where groups are mounted (version 2, and cpu/ of version 1). */
unsigned crew_quota_cpus(const char *groups, const char *root);

/* `recorder` may be NULL; workers are numbered from first_thread on. */
bool crew_init(struct crew *c, struct engine *g, struct recorder *recorder, unsigned n_loops,
               uint32_t first_thread, unsigned n_workers, struct err *e);
void crew_fini(struct crew *c);

/* Runs a phase to its end; `tick` is called from the calling thread, at each event and when as many
 * milliseconds as it last returned are over. It ends the phase early through crew_stop. False: a
 * loop broke off, *e says why. */
bool crew_run(struct crew *c, struct phase *phase, int (*tick)(void *ctx), void *ctx,
              struct err *e);

/* Has the loops record nothing from here on; to be called between phases. */
void crew_end_recording(struct crew *c);

/* Sets the engine's stop, unless it is further already, and wakes all loops. Any thread. */
void crew_stop(struct crew *c, enum engine_stop stop);

/* Of all loops. Any thread. */
struct crew_counts {
    int64_t n_running, n_connected; /* requests in flight; those whose connection stands */
    int64_t n_connects;             /* connections opened so far */
    int64_t n_resent;               /* requests of rows that were sent twice */
    int64_t digest_ns;              /* spent on digests of payloads */
    int64_t most_cpu_ns;            /* CPU time of the busiest loop in this phase */
};
struct crew_counts crew_counts(const struct crew *c);

#endif
