/* SIGINT, SIGTERM and SIGHUP: the first ends the run in order, the second ends it at once, the
 * third ends the process. Signals within a second count as one: timeout(1) sends two, and so does a
 * terminal that is closed. */
#ifndef S3_LOADGEN_RUN_SIGNALS_H
#define S3_LOADGEN_RUN_SIGNALS_H

#include "loadgen/load/crew.h"
#include "loadgen/util/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

/* Signals within this time count as one. */
#define SIGNALS_ONE_NS NS_PER_S

struct signals {
    pthread_t thread;
    bool started;
    sigset_t set;
    atomic_int first; /* the signal that came first; 0: none */
    atomic_int n;     /* how many came */
    int64_t last_ns;  /* time of the last of them */
    pthread_mutex_t lock;
    bool finishing; /* protected by lock: the run is cleaning up; one signal does not stop it */
    struct crew *control;        /* a signal stops this crew */
    _Atomic(struct crew *) crew; /* and this one; NULL: there is none yet */
    _Atomic(const char *) left;  /* what SIGQUIT prints; NULL: nothing */
};

/* Starts a thread that takes the signals. Call it before other threads start. */
bool signals_init(struct signals *s, struct crew *control, struct err *e);
void signals_fini(struct signals *s);

/* Begins to clean up: clears the engine's stop, which then takes a second signal to set. Returns
 * false if a second signal has already come, and nothing more is to be done. */
bool signals_let_finish(struct signals *s);

#endif
