/* The event loop of one thread: it runs workers when epoll tells of their connections. */
#ifndef S3_LOADGEN_LOAD_LOOP_H
#define S3_LOADGEN_LOAD_LOOP_H

#include "loadgen/load/services.h"
#include "loadgen/load/worker.h"

/* When a loop did not run though it had to: s3load or its machine was stopped. */
#define LOOP_MAX_STOPS 32
struct loop_stop {
    int64_t start_ns, length_ns;
};

struct loop {
    struct services services; /* for its workers */
    int epoll;
    int wake; /* eventfd: something changed outside */
    struct worker *workers;
    unsigned n_workers;
    int64_t turned_ns; /* when its last turn looked at the clock */
    struct loop_stop stops[LOOP_MAX_STOPS];
    unsigned n_stops;
    int stop_seen;              /* the engine's stop that was acted on */
    atomic_int_fast64_t cpu_ns; /* of the phase's thread; for other threads to read */
};

/* A loop with n_workers workers, numbered from first_thread on. `recorder` NULL: nothing is
 * recorded. */
bool loop_init(struct loop *l, struct engine *g, unsigned index, struct recorder *recorder,
               uint32_t first_thread, unsigned n_workers, struct err *e);
void loop_fini(struct loop *l);

/* Runs a phase until all workers have ended. False: *e says why it broke off. */
bool loop_run(struct loop *l, struct phase *phase, struct err *e);

/* Makes a loop that sleeps look at engine.stop. Any thread may call it. */
void loop_wake(struct loop *l);

#endif
