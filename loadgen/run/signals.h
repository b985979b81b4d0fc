/* SIGINT, SIGTERM and SIGHUP: the first ends the run in order, the second at once, the third the
 * process. Those within a second of another are one with it: timeout(1) sends two, and so does a
 * terminal that is closed. */
#ifndef S3_LOADGEN_RUN_SIGNALS_H
#define S3_LOADGEN_RUN_SIGNALS_H

#include "loadgen/load/crew.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

struct signals {
    pthread_t thread;
    bool started;
    sigset_t set;
    atomic_int first; /* the signal that came first; 0: none */
    atomic_int n;     /* how many came */
    int64_t last_ns;  /* when the last of them did */
    pthread_mutex_t lock;
    bool finishing;       /* guarded by lock: an orderly end runs, and the first signal lets it */
    struct crew *control; /* to stop */
    _Atomic(struct crew *) crew; /* likewise; NULL: none yet */
    _Atomic(const char *) left;  /* lines for who ends the process at once; NULL: nothing is left */
};

/* From here on the signals come to a thread of their own; to be called before other threads start.
 */
bool signals_init(struct signals *s, struct crew *control, struct err *e);
void signals_fini(struct signals *s);

/* Lets work begin that belongs to an orderly end, after the first signal or none: clears the
 * engine's stop, and the first signal no longer sets it. False: a second one has come, nothing more
 * is to be done. */
bool signals_let_finish(struct signals *s);

#endif
