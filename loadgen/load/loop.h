/* The event loop of one thread. It runs workers when epoll reports events of their connections. */
#ifndef S3_LOADGEN_LOAD_LOOP_H
#define S3_LOADGEN_LOAD_LOOP_H

#include "loadgen/load/dates.h"
#include "loadgen/load/pool.h"
#include "loadgen/load/queue.h"
#include "loadgen/load/recorder.h"

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
    unsigned signer_version; /* version of the signer's credentials */
    EVP_MD *md5;
    char *buf;          /* LOOP_READ_BYTES */
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
