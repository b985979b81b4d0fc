/* The event loop of one thread. It runs workers when epoll reports events of their connections. */
#ifndef S3_LOADGEN_LOAD_LOOP_H
#define S3_LOADGEN_LOAD_LOOP_H

#include "loadgen/load/engine.h"
#include "loadgen/load/recorder.h"

#include <stdbool.h>

/* Bounds for the clocks of servers, from their Date headers. */

/* Bounds for a host's clock: it is ahead of ours by more than lower_ns and less than upper_ns. This
 * is true for servers that make each Date when they send it. */
struct date_bracket {
    char text[32];        /* the latest Date */
    int64_t date_ns;      /* time of the latest Date */
    bool ticks;           /* two Dates in a row were one second apart */
    int64_t last_send_ns; /* when the last request with this Date was sent, wall clock */
    int64_t lower_ns, upper_ns, at_ns; /* the bounds, and the time they are for, wall clock */
};

/* Makes n brackets without any bounds; the caller frees them. NULL: out of memory. */
struct date_bracket *dates_new(size_t n);

/* Takes into account a Date that was read at now_ns, in the answer to a request sent at send_ns
 * (wall clock). */
void dates_saw(struct date_bracket *d, int64_t send_ns, int64_t now_ns, const char *text, size_t n);

/* Narrows the bounds by those of another loop for the same clock. */
void dates_join(struct date_bracket *all, const struct date_bracket *d);

/* Finishes the bounds. If no two Dates of a server were one second apart, its Dates may be old, so
 * the upper bound is raised. Returns false if nothing is known, or if the bounds contradict each
 * other, as with old Dates. */
bool dates_settle(struct date_bracket *d);

/* The connections of a loop that are being established or are idle. */

struct pool {
    struct engine *engine;
    struct conn_dialer dialer;
    struct conn **idle;                /* by host: a list, most recently used first */
    SSL_SESSION **sessions;            /* by host: the latest TLS session; NULL: none */
    size_t n_idle, n_idle_max, n_open; /* connections; idle ones at most; all */
    bool looks;         /* check idle connections before use: a server has closed one */
    int64_t connect_ns; /* do not connect before: this machine failed to; 0: no failure */
    struct conn *connecting;
    int64_t check_ns;  /* when to look for those that take too long */
    struct conn *dead; /* freed once no event can refer to them */

    /* Other threads read these. */
    atomic_int_fast64_t n_connecting, n_connects;
    atomic_int_fast64_t n_retransmits; /* of TCP segments; brought up to date once a second */
};

/* `epoll`, which is borrowed, watches the connections. Call pool_fini in any case. */
bool pool_init(struct pool *p, struct engine *g, int epoll, unsigned n_workers, struct err *e);
void pool_fini(struct pool *p);

/* Returns a connection to a host for a worker: an idle one, unless it must be `fresh`, or a new one
 * that is being established. NULL: *e says why. */
struct conn *pool_take(struct pool *p, struct worker *user, uint32_t host, bool fresh,
                       struct err *e);

/* Takes back a connection at now_ns. Keeps or closes it. */
void pool_give(struct pool *p, struct conn *c, bool keep, int64_t now_ns);

/* Closes the connection that has been idle for longest. Returns false if none is idle. */
bool pool_drop_idle(struct pool *p);

/* Records that a connection has been established. */
void pool_connected(struct pool *p, struct conn *c);

/* Counts the segments that a connection, or all idle ones, have retransmitted since the last
 * count. */
void pool_count_retransmits(struct pool *p, struct conn *c);
void pool_count_idle(struct pool *p);

/* Handles an event of an idle connection: closes it unless it is still usable. */
void pool_look(struct pool *p, struct conn *c);

/* Frees the closed connections. Call it only when all events fetched so far are handled. */
void pool_free_dead(struct pool *p);

/* The waiting workers of a loop. They wait for the next turn, for a request's due time, for an
 * object or a host, or for an answer. */

struct worker;

struct queue {
    struct worker *again; /* workers to run in the next turn, in order */
    struct worker **again_end;
    struct worker *waiting; /* sorted by due_ns */
    struct worker **waiting_end;
    struct worker *parked;
    int64_t parked_due_ns; /* when parked workers try again */
    int64_t timeout_ns;    /* not later than the first deadline of a request */
    unsigned n_active;     /* workers that have not ended */
};

void queue_init(struct queue *q);

/* Lets the worker run in the next turn. */
void queue_again(struct queue *q, struct worker *w);

/* Lets the worker wait until its due_ns, which must not be before those of other waiting workers.
 */
void queue_wait(struct queue *q, struct worker *w);

/* Lets the worker wait until an object or a host may be available. */
void queue_park(struct queue *q, struct worker *w);

/* Sets the time at which the worker's request fails. */
void queue_set_deadline(struct queue *q, struct worker *w, int64_t deadline_ns);

/* Remove and return the next worker that asked to run again; the next one due by now_ns. NULL:
 * none. */
struct worker *queue_next(struct queue *q);
struct worker *queue_due(struct queue *q, int64_t now_ns);

/* Removes all parked workers and returns them as a list linked by `next`. */
struct worker *queue_unpark(struct queue *q);

/* Returns when the first worker is due; 0: now. */
int64_t queue_due_ns(const struct queue *q);

/* The most bytes of one read, and the most read for one worker per turn. */
#define LOOP_READ_BYTES (512 * 1024)

struct worker;
struct worker_result;

enum phase_next {
    PHASE_OP,   /* *op is the worker's next request */
    PHASE_WAIT, /* nothing to do at the moment */
    PHASE_END   /* nothing more to do */
};

/* A phase of a run: says what workers do. All loops call its functions at once. */
struct phase {
    /* Fills in the next request; `op` is zeroed but for `recorded` (true) and n_objects (1). */
    enum phase_next (*next)(void *ctx, struct worker *w, struct s3op *op);
    /* Reports that a request has ended; `op` is as `next` left it. */
    void (*done)(void *ctx, struct worker *w, const struct s3op *op, const struct worker_result *r);
    void *ctx;

    int64_t start_ns;                   /* by the run's clock */
    int64_t end_ns;                     /* no request begins from then on; CLOCK_NEVER: no end */
    double rate;                        /* open loop: requests per second; 0: closed loop */
    uint64_t first_ticket, ticket_step; /* open loop: this rank's first request, and step */
    uint64_t max_tickets;               /* open loop: this rank's requests; UINT64_MAX: no limit */
    bool closes; /* an ended loop closes idle connections; no measured phase may follow */
    atomic_uint_fast64_t n_tickets; /* requests that got a due time */
};

/* A time when a loop should have run but did not: s3load or its machine was stopped. */
#define LOOP_MAX_STOPS 32
struct loop_stop {
    int64_t start_ns, length_ns;
};

struct loop {
    int epoll;
    int wake; /* eventfd that wakes the loop */
    struct worker *workers;
    unsigned n_workers;
    int64_t turned_ns; /* the time at the last turn */
    int64_t count_ns;  /* when retransmits are counted next */
    struct loop_stop stops[LOOP_MAX_STOPS];
    unsigned n_stops;
    int stop_seen; /* the value of the engine's stop that the loop has reacted to */

    /* Used by the workers. */
    struct engine *engine;
    struct phase *phase; /* set by the crew; borrowed */
    struct pool pool;
    struct queue queue;
    struct date_bracket *dates; /* by host */
    struct recorder_port port;
    bool recording;
    struct sigv4 signer;
    EVP_MD *md5;
    char *buf;          /* LOOP_READ_BYTES */
    char *head;         /* S3OP_HEAD_MAX: of the request that is being built */
    int64_t now_ns;     /* time of the latest read */
    size_t n_digested;  /* cost of digests in this turn, in bytes */
    struct err error;   /* why a phase failed; "": no failure */
    struct err failure; /* scratch space for the failure of one call */

    /* Other threads read these. */
    atomic_int_fast64_t cpu_ns; /* CPU time of the phase's thread */
    /* Its waits for a CPU, brought up to date once a second. -1: unknown. */
    atomic_int_fast64_t waited_ns;
    atomic_int_fast64_t n_running;
    atomic_int_fast64_t n_resent;  /* requests with a row */
    atomic_int_fast64_t digest_ns; /* time to make and digest payloads before requests begin */
};

/* Makes a loop with n_workers workers, numbered from first_thread. With `recorder` NULL it records
 * nothing. */
bool loop_init(struct loop *l, struct engine *g, unsigned index, struct recorder *recorder,
               uint32_t first_thread, unsigned n_workers, struct err *e);
void loop_fini(struct loop *l);

/* Runs l->phase until all workers have ended. If it fails, l->error says why. */
void loop_run(struct loop *l);

/* Wakes a sleeping loop so that it looks at engine.stop. Any thread may call it. */
void loop_wake(struct loop *l);

#endif
