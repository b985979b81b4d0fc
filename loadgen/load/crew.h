/* The event loops of a run. Each has a thread while a phase lasts. */
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

/* Returns how many loops to run for n_workers workers: n_threads or, if that is 0, one per CPU that
 * affinity and control group quotas let us use; never more loops than workers. */
unsigned crew_n_loops(unsigned n_workers, unsigned n_threads);

/* Makes the loops; workers are numbered from first_thread. `recorder` may be NULL. */
bool crew_init(struct crew *c, struct engine *g, struct recorder *recorder, unsigned n_loops,
               uint32_t first_thread, unsigned n_workers, struct err *e);
void crew_fini(struct crew *c);

/* Runs a phase to its end. Calls `tick` from the calling thread at each event, and after as many ms
 * as it last returned. `tick` can end the phase early with crew_stop. Returns false if a loop
 * failed: *e says why. */
bool crew_run(struct crew *c, struct phase *phase, int (*tick)(void *ctx), void *ctx,
              struct err *e);

/* Makes the loops record from now on, or stop recording. Call it only between phases. */
void crew_record(struct crew *c, bool on);

/* Does what engine_set_stop does, and wakes all loops. Any thread may call it. */
void crew_stop(struct crew *c, enum engine_stop stop);

/* Sums over all loops. Any thread may ask. */
struct crew_counts {
    int64_t n_running, n_connected; /* requests in flight; those with an established connection */
    int64_t n_connects;             /* connections opened so far */
    int64_t n_resent;               /* requests with a row that were sent twice */
    int64_t n_retransmits;          /* TCP segments that connections sent again */
    int64_t digest_ns;              /* time spent on digests of payloads before requests begin */
    int64_t waited_ns;              /* their waits for a CPU in this phase; negative: unknown */
    int64_t most_cpu_ns;            /* CPU time of the busiest loop in this phase */
};
struct crew_counts crew_counts(const struct crew *c);

#endif
