/* What a loop lends its workers: connections, a queue, a signer, buffers; and the phase that they
 * work on. */
#ifndef S3_LOADGEN_LOAD_SERVICES_H
#define S3_LOADGEN_LOAD_SERVICES_H

#include "loadgen/load/dates.h"
#include "loadgen/load/pool.h"
#include "loadgen/load/queue.h"
#include "loadgen/load/recorder.h"

/* One read takes at most so many bytes, and no more are read for one worker in its turn. */
#define SERVICES_READ_BYTES (512 * 1024)

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

struct services {
    struct engine *engine;
    struct phase *phase;
    struct pool pool;
    struct queue queue;
    struct date_bracket *dates; /* by host */
    struct recorder_port port;
    bool recording;
    struct sigv4 signer;
    unsigned signer_version; /* of the credentials in it */
    EVP_MD *md5;
    char *buf;          /* SERVICES_READ_BYTES */
    int64_t now_ns;     /* of the latest read */
    size_t n_digested;  /* bytes, in this turn */
    struct err error;   /* ends the loop */
    struct err failure; /* of one request, for a moment */

    /* For other threads to read. */
    atomic_int_fast64_t n_running;
    atomic_int_fast64_t n_resent;  /* requests of rows */
    atomic_int_fast64_t digest_ns; /* making and digesting payloads before requests begin */
};

#endif
