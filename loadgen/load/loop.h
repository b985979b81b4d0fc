/* One thread's event loop: epoll, connections, workers, signer and batch of rows of its own. */
#ifndef S3_LOADGEN_LOAD_LOOP_H
#define S3_LOADGEN_LOAD_LOOP_H

#include "loadgen/load/engine.h"
#include "loadgen/load/recorder.h"
#include "loadgen/load/worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/* A read takes so much; also what is read for one worker before others have their turn. */
#define LOOP_READ_BYTES (512 * 1024)

enum phase_next {
    PHASE_OP,   /* *op is the worker's next request */
    PHASE_WAIT, /* there is nothing to do just now */
    PHASE_END   /* the worker has no more to do */
};

/* A part of a run: what workers do. The functions are called from all loops at once. */
struct phase {
    /* op comes zeroed but for its strings. */
    enum phase_next (*next)(void *ctx, struct worker *w, struct s3op *op);
    /* A request has ended; `op` as next left it. */
    void (*done)(void *ctx, struct worker *w, const struct s3op *op, const struct worker_result *r);
    void *ctx;

    int64_t start_ns;               /* by the run's clock */
    int64_t end_ns;                 /* no request begins from then on; CLOCK_NEVER: none */
    double rate;                    /* requests per second in an open loop; 0: closed */
    atomic_uint_fast64_t n_tickets; /* requests that were given a due time */
};

/* What the Date headers of a host say of its clock: it is ahead of ours by more than lower_ns and
 * less than upper_ns. */
struct loop_date {
    char text[32];
    int64_t date_ns;      /* of it */
    int64_t last_send_ns; /* of the last request answered with it, wall clock */
    int64_t lower_ns, upper_ns;
};

struct loop {
    struct engine *engine;
    unsigned index;
    int epoll;
    int wake; /* eventfd: something changed outside */
    struct sigv4 signer;
    unsigned signer_version; /* of the credentials in it */
    EVP_MD *md5;
    struct recorder_port port;
    bool recording;
    char *buf;         /* LOOP_READ_BYTES */
    int64_t now_ns;    /* of the latest read */
    size_t n_digested; /* bytes, in this turn */
    struct worker *workers;
    unsigned n_workers;
    unsigned n_active; /* workers that have not ended */
    struct phase *phase;

    struct conn **idle;     /* a list for each host, the last used first */
    SSL_SESSION **sessions; /* for each host, the latest; NULL: none */
    size_t n_idle;
    bool looks;         /* at idle connections before use: a server closed one */
    int64_t connect_ns; /* this machine could not open a connection: not before; 0: it could */
    struct conn *connecting;
    struct conn *dead;    /* to be freed when no event can name them */
    struct worker *again; /* to be run in the next turn, in order */
    struct worker **again_end;
    struct worker *waiting; /* in order of due_ns */
    struct worker **waiting_end;
    struct worker *parked;
    int64_t parked_due_ns;   /* when to try those again */
    int64_t timeout_ns;      /* no deadline is earlier */
    int stop_seen;           /* the engine's stop that was acted on */
    struct loop_date *dates; /* by host */
    struct err error;        /* ends the loop */

    /* For other threads to read. */
    atomic_int_fast64_t n_running, n_connecting, n_connects;
    atomic_int_fast64_t n_resent;  /* requests of rows */
    atomic_int_fast64_t cpu_ns;    /* of the phase's thread */
    atomic_int_fast64_t digest_ns; /* making and digesting payloads before requests begin */
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

/* Adds to a counter that the loop's own thread alone changes. */
static inline void loop_count(atomic_int_fast64_t *n, int64_t by)
{
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

/* For workers. */
void loop_again(struct loop *l, struct worker *w);
void loop_wait(struct loop *l, struct worker *w);
void loop_park(struct loop *l, struct worker *w);

/* An idle connection to the host, unless the worker's request was sent on one already, or one that
 * is being made; NULL: *e says why. */
struct conn *loop_take_conn(struct loop *l, struct worker *w, uint32_t host, struct err *e);

/* Closes the connection that has been idle for longest; false: none is idle. */
bool loop_drop_idle(struct loop *l);

/* Gives a connection back, to be kept or closed. */
void loop_give_conn(struct loop *l, struct conn *c, bool keep);

/* A request has a deadline. */
void loop_set_deadline(struct loop *l, struct worker *w, int64_t deadline_ns);

/* A Date header came in answer to a request sent at send_ns (the run's clock). */
void loop_saw_date(struct loop *l, uint32_t host, int64_t send_ns, const char *text, size_t n);

#endif
