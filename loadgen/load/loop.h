/* The event loop of one thread: it runs workers when epoll tells of their connections. */
#ifndef S3_LOADGEN_LOAD_LOOP_H
#define S3_LOADGEN_LOAD_LOOP_H

#include "loadgen/load/dates.h"
#include "loadgen/load/pool.h"
#include "loadgen/load/queue.h"
#include "loadgen/load/recorder.h"

/* One read takes at most so many bytes, and no more are read for one worker in its turn. */
#define LOOP_READ_BYTES (512 * 1024)

struct worker;
struct worker_result;

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

    int64_t start_ns;                   /* by the run's clock */
    int64_t end_ns;                     /* no request begins from then on; CLOCK_NEVER: none */
    double rate;                        /* requests per second in an open loop; 0: closed */
    uint64_t first_ticket, ticket_step; /* of an open loop, which requests this rank makes */
    bool closes; /* a loop that has ended closes its connections: none is measured afterwards */
    atomic_uint_fast64_t n_tickets; /* requests that were given a due time */
};

/* When a loop did not run though it had to: s3load or its machine was stopped. */
#define LOOP_MAX_STOPS 32
struct loop_stop {
    int64_t start_ns, length_ns;
};

struct loop {
    int epoll;
    int wake; /* eventfd: something changed outside */
    struct worker *workers;
    unsigned n_workers;
    int64_t turned_ns; /* when its last turn looked at the clock */
    struct loop_stop stops[LOOP_MAX_STOPS];
    unsigned n_stops;
    int stop_seen; /* the engine's stop that was acted on */

    /* For its workers. */
    struct engine *engine;
    struct phase *phase; /* set by the crew; borrowed */
    struct pool pool;
    struct queue queue;
    struct date_bracket *dates; /* by host */
    struct recorder_port port;
    bool recording;
    struct sigv4 signer;
    unsigned signer_version; /* of the credentials in it */
    EVP_MD *md5;
    char *buf;          /* LOOP_READ_BYTES */
    int64_t now_ns;     /* of the latest read */
    size_t n_digested;  /* bytes, in this turn */
    struct err error;   /* why a phase broke off; "": it did not */
    struct err failure; /* of one request, for a moment */

    /* For other threads to read. */
    atomic_int_fast64_t cpu_ns; /* of the phase's thread */
    atomic_int_fast64_t n_running;
    atomic_int_fast64_t n_resent;  /* requests of rows */
    atomic_int_fast64_t digest_ns; /* making and digesting payloads before requests begin */
};

/* A loop with n_workers workers, numbered from first_thread on. `recorder` NULL: nothing is
 * recorded. */
bool loop_init(struct loop *l, struct engine *g, unsigned index, struct recorder *recorder,
               uint32_t first_thread, unsigned n_workers, struct err *e);
void loop_fini(struct loop *l);

/* Runs l->phase until all workers have ended; l->error says why it broke off. */
void loop_run(struct loop *l);

/* Makes a loop that sleeps look at engine.stop. Any thread may call it. */
void loop_wake(struct loop *l);

#endif
