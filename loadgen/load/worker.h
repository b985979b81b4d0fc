/* A worker runs one request at a time, as one `thread` of the capture; several workers share a
 * loop. A request is timed from when it is sent, or from when a connection for it is begun, to just
 * after its last byte was read: signing and digesting come before. */
#ifndef S3_LOADGEN_LOAD_WORKER_H
#define S3_LOADGEN_LOAD_WORKER_H

#include "loadgen/load/loop.h"
#include "loadgen/net/http1.h"
#include "loadgen/s3/s3op.h"
#include "loadgen/util/rng.h"

#include <stdint.h>

#define WORKER_ETAG_MAX    80
#define WORKER_VERSION_MAX 256

/* What came of a request. Times by the run's clock, CLOCK_NEVER: not reached. */
struct worker_result {
    int64_t start_ns, first_byte_ns, last_byte_ns, end_ns;
    uint64_t n_bytes; /* payload, as the capture has it */
    uint64_t n_objects;
    int status;                 /* of HTTP; 0: no response */
    bool skewed;                /* refused for our clock: signed by the server's from now on */
    bool cut;                   /* the connection ended before the response did */
    char error[600];            /* "": success */
    char etag[WORKER_ETAG_MAX]; /* "": none */
    char version[WORKER_VERSION_MAX];
    const struct xml *xml; /* the answer's document, for kinds that have one */
};

/* Whether the same request may succeed a moment later. */
static inline bool worker_may_pass(const struct worker_result *r)
{
    return r->cut || r->skewed || r->status == 0 || r->status == 408 || r->status == 429 ||
           (r->status >= 500 && r->status != 501);
}

enum worker_state {
    WORKER_IDLE,      /* to take the next request now */
    WORKER_WAITING,   /* for the time its next request is due */
    WORKER_PARKED,    /* for something to do, or for a host */
    WORKER_PREPARING, /* digests its payload */
    WORKER_CONNECTING,
    WORKER_SENDING, /* a response may come already */
    WORKER_RECEIVING,
    WORKER_ENDED /* has no more to do in this phase */
};

/* The answer to the present request, as far as it has come. */
struct worker_answer {
    bool uses_xml;   /* it is a document, unless it is an error */
    bool failed;     /* verification or a document: the rest is read, but not looked at */
    bool broken;     /* sending failed; an answer may still be there */
    bool has_begun;  /* a byte has come */
    bool keep;       /* the connection can be used again */
    bool range_fits; /* Content-Range is what was asked for */
    uint64_t n_read; /* of the body */
    uint64_t n_failed_keys;
    char error_text[200]; /* how an error's body begins */
    size_t n_error_text;
    char region[64]; /* that the bucket is in, if the server names it; "": it does not */
};

/* The body of the present request. Head and body go out in one piece: the head ends where the
 * body's chunk begins. */
struct worker_body {
    char *out;
    char *send, *send_end; /* what of it is to be sent next */
    uint64_t n_made;       /* bytes of the body that were put into out */
    uint64_t n_digested;
    EVP_MD_CTX *sha256_ctx, *md5_ctx;
    uint64_t crc;
    char md5[32]; /* Content-MD5 */
    char checksum[CHECKSUM_TEXT_SIZE];
    char hash[SIGV4_HASH_SIZE];
};

struct worker {
    struct loop *loop;
    uint32_t thread; /* number in the capture */
    uint64_t n_rows; /* so far: the seq of the present request */

    /* For the queue. */
    enum worker_state state;
    struct worker *next; /* of those that wait, or are parked */
    struct worker *next_again;
    bool queued;         /* to be run again in the loop's next turn */
    int64_t due_ns;      /* in an open loop */
    int64_t deadline_ns; /* the present request fails then */

    /* For the workload. */
    struct rng rng;
    int card; /* an operation dealt but not yet begun; -1: none */

    /* The present request. */
    struct s3op op;
    bool has_op;     /* parked with it */
    bool has_ticket; /* due_ns is set */
    bool resent;     /* it is sent for the second time */
    uint32_t host;
    struct conn *conn;
    struct worker_body body;
    struct worker_result result;

    /* Its answer. */
    struct http1 http;
    struct worker_answer answer;
    struct xml xml;
    struct pages pages; /* of a listing of several */
    struct err cause;   /* why the connection broke, or keys were not deleted */
};

/* `l` is borrowed; `thread` is the worker's number in the capture. worker_fini in any case. */
bool worker_init(struct worker *w, struct loop *l, uint32_t thread, struct err *e);
void worker_fini(struct worker *w);

/* Takes requests until one has to wait for something. */
void worker_run(struct worker *w);

/* The loop calls these to go on: the connection is ready or has failed; it has data, or room; a
 * digest goes on. */
void worker_on_connected(struct worker *w);
void worker_on_event(struct worker *w, bool readable, bool writable);
void worker_prepare(struct worker *w);

/* When request `ticket` of an open loop (from 0, of this rank) is due, by the run's clock;
 * CLOCK_NEVER: in more years than time has. */
int64_t worker_due_ns(const struct phase *phase, uint64_t ticket);

/* Ends the present request as failed. */
void worker_fail(struct worker *w, const char *why);

/* Whether a request is in flight. */
static inline bool worker_in_flight(const struct worker *w)
{
    return w->state == WORKER_CONNECTING || w->state == WORKER_SENDING ||
           w->state == WORKER_RECEIVING;
}

#endif
