/* A worker runs one request at a time, and is one `thread` of the capture. Several workers share a
 * loop. A request's time begins when the request is sent, or when its connection is begun, and ends
 * just after its last byte was read. Signing and digesting are done before. */
#ifndef S3_LOADGEN_LOAD_WORKER_H
#define S3_LOADGEN_LOAD_WORKER_H

#include "loadgen/load/loop.h"
#include "loadgen/net/http1.h"
#include "loadgen/s3/s3op.h"
#include "loadgen/util/rng.h"

#define WORKER_ETAG_MAX    80
#define WORKER_VERSION_MAX 256

/* The result of a request. Times are by the run's clock; CLOCK_NEVER: not reached. Texts come last
 * here and below: of many workers each request would else fetch them into the cache, to clear
 * them. */
struct worker_result {
    int64_t start_ns, first_byte_ns, last_byte_ns, end_ns;
    uint64_t n_bytes; /* payload, as in the capture */
    uint64_t n_objects;
    int status;            /* HTTP status; 0: no response */
    bool skewed;           /* refused because of our clock: from now on the server's time is used */
    bool cut;              /* the connection ended before the response was complete */
    bool timed_out;        /* no complete response came within --request-timeout */
    const struct xml *xml; /* the answer as a document, for kinds that have one */
    char error[600];       /* "": success */
    char etag[WORKER_ETAG_MAX]; /* "": none */
    char version[WORKER_VERSION_MAX];
};

/* True if the same request may succeed a moment later. */
static inline bool worker_may_pass(const struct worker_result *r)
{
    return r->cut || r->skewed || r->status == 0 || r->status == 408 || r->status == 429 ||
           (r->status >= 500 && r->status != 501);
}

enum worker_state {
    WORKER_IDLE,      /* will take its next request */
    WORKER_WAITING,   /* waits until its next request is due */
    WORKER_PARKED,    /* waits for something to do, or for a host */
    WORKER_PREPARING, /* digests its payload */
    WORKER_CONNECTING,
    WORKER_SENDING, /* a response may already arrive */
    WORKER_RECEIVING,
    WORKER_ENDED /* nothing more to do in this phase */
};

/* The answer to the current request, so far. */
struct worker_answer {
    bool uses_xml;   /* the body is a document, or an error */
    bool failed;     /* verification or parsing failed: the rest is read but ignored */
    bool broken;     /* sending failed; an answer may still arrive */
    bool has_begun;  /* a byte has arrived */
    bool keep;       /* the connection can be used again */
    bool range_fits; /* Content-Range is the requested range */
    uint64_t n_read; /* bytes of the body */
    uint64_t n_failed_keys;
    size_t n_error_text;
    char region[64];      /* of the bucket, if the server names it; else "" */
    char elsewhere[128];  /* the server that a redirection names; else "" */
    char error_text[200]; /* beginning of an error's body */
};

/* The body of the current request. Head and body are sent in one piece: the head ends where the
 * body's chunk begins. */
struct worker_body {
    char *out;
    char *send, *send_end; /* part of `out` to be sent next */
    uint64_t n_made;       /* bytes of the body made so far */
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
    uint64_t n_rows; /* so far: the SEQ of the current request */

    /* Used by the queue. */
    enum worker_state state;
    struct worker *next; /* in the list of waiting or of parked workers */
    struct worker *next_again;
    bool queued;         /* will run again in the loop's next turn */
    int64_t due_ns;      /* open loop only */
    int64_t deadline_ns; /* when the current request fails */

    /* Used by the workload. */
    struct rng rng;
    int card; /* an operation that was dealt but not begun; -1: none */

    /* The current request. */
    struct s3op op;
    bool has_op;     /* it is parked with this request */
    bool has_ticket; /* due_ns is set */
    bool resent;     /* the request is sent for the second time */
    uint32_t host;
    struct conn *conn;
    struct worker_body body;
    struct worker_result result;

    /* The answer to it. The large buffers of readers come last, as few requests use them. */
    struct worker_answer answer;
    struct http1 http;
    struct xml xml;
    struct pages pages; /* of a listing with several pages */
    struct err cause;   /* why the connection broke, or why keys were not deleted */
};

/* Makes a worker; `l` is borrowed; `thread` is its number in the capture. Call worker_fini in any
 * case. */
bool worker_init(struct worker *w, struct loop *l, uint32_t thread, struct err *e);
void worker_fini(struct worker *w);

/* Takes requests until one must wait for something. */
void worker_run(struct worker *w);

/* The loop calls these: the connection is established or has failed; it is readable or writable;
 * there is more to digest. */
void worker_on_connected(struct worker *w);
void worker_on_event(struct worker *w, bool readable, bool writable);
void worker_prepare(struct worker *w);

/* Returns when request `ticket` of an open loop (numbered from 0 in this rank) is due, by the run's
 * clock; CLOCK_NEVER: beyond the range of the clock. */
int64_t worker_due_ns(const struct phase *phase, uint64_t ticket);

/* Ends the current request as failed. */
void worker_fail(struct worker *w, const char *why);

/* Judges the answer to a worker's request. The verdict says what to do; ending the request is the
 * caller's task. */

enum answer {
    ANSWER_MORE,      /* the answer is not complete */
    ANSWER_DONE,      /* the worker's result and `keep` are set */
    ANSWER_NEXT_PAGE, /* as ANSWER_DONE, but the listing continues with another page */
    ANSWER_BROKEN     /* the connection ended too early, or sent no HTTP: http.err says what */
};

/* Prepares for the answer to a request, or for the next page of a listing. On failure the result
 * has an error. */
bool answer_expect(struct worker *w);

/* Takes n bytes of the answer; n = 0: the connection has ended. */
enum answer answer_feed(struct worker *w, const char *data, size_t n);

/* Returns how many bytes to receive next, at most LOOP_READ_BYTES. *skip: they are only counted, as
 * they are of a body of known length that nobody verifies. */
size_t answer_wants(const struct worker *w, bool *skip);

/* Sets the result of a request whose connection broke. */
void answer_break(struct worker *w, const char *why);

/* Makes the request fail. Later errors are ignored, since the first one is the cause. Always
 * returns false. */
bool answer_set_error(struct worker *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Returns the pages of the current listing. */
static inline struct pages *answer_pages(struct worker *w)
{
    return w->op.pages != NULL ? w->op.pages : &w->pages;
}

/* True if a request is in flight. */
static inline bool worker_in_flight(const struct worker *w)
{
    return w->state == WORKER_CONNECTING || w->state == WORKER_SENDING ||
           w->state == WORKER_RECEIVING;
}

#endif
