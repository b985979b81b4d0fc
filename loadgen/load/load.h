/* The event loops of a run, their workers, and what these share. */
#ifndef S3_LOADGEN_LOAD_LOAD_H
#define S3_LOADGEN_LOAD_LOAD_H

#include "loadgen/load/hosts.h"
#include "loadgen/load/recorder.h"
#include "loadgen/s3/s3.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

/* The contents of objects: random bytes that depend on the object's seed, can be made at any
 * offset, and cost no more than a copy. No 64 KiB occur twice, in one object or in two, so that a
 * server gains nothing from compression or deduplication. */

struct payload {
    uint64_t *words; /* one block of random numbers */
};

/* Makes the block, which the caller frees. Returns false if out of memory. */
bool payload_init(struct payload *p, struct err *e);

/* Writes bytes offset .. offset + n - 1 of the object with this seed to buf. */
void payload_fill(const struct payload *p, uint64_t seed, uint64_t offset, void *buf, size_t n);

/* True if the n bytes at data are bytes offset .. offset + n - 1 of the object with this seed. */
bool payload_matches(const struct payload *p, uint64_t seed, uint64_t offset, const void *data,
                     size_t n);

/* Returns the seed of object `id` of a run. */
uint64_t payload_seed(uint64_t run_seed, uint64_t id);

/* The state and settings that all loops of a run share. */

/* How far a run is to be stopped. */
enum engine_stop {
    ENGINE_RUN,
    ENGINE_STOP, /* no new requests; those in flight finish */
    ENGINE_ABORT /* requests in flight fail */
};

/* Room for a host name (up to 64 bytes on Linux), a dash, the number of a rank, and a NUL. */
#define ENGINE_CLIENT_BYTES 80

struct engine {
    struct s3op_style op_style;
    struct conn_style conn_style;
    const char *proxied_by;     /* variable that names a proxy which is used; NULL: none */
    char proxy[CONN_PROXY_MAX]; /* without user and password */
    struct names *names;        /* by host; NULL: a proxy looks up the names */
    bool resolve_host;          /* each address counts as a host */
    const char *root;           /* folder of /proc and /sys; "" except in tests */
    struct hosts hosts;
    struct payload payload;
    struct checksum checksum;
    const char *keys[3];              /* access key (NULL: do not sign), secret key, token */
    char client[ENGINE_CLIENT_BYTES]; /* name of this process in rows and User-Agent */
    uint64_t seed;
    unsigned rank, n_ranks; /* number of this process; number of processes */
    bool deals_hosts;       /* each rank gets its own part of the hosts */
    int64_t offset_ns;      /* wall clock minus the run's clock */
    int64_t request_timeout_ns;
    size_t n_descriptors;    /* file descriptors that the connections of a loop may take */
    int event;               /* eventfd that wakes the thread that drives the crews; borrowed */
    atomic_int stop;         /* enum engine_stop */
    atomic_bool interrupted; /* by a signal: listings end after the current page */
};

/* Sets up hosts, their addresses, TLS and payload. The caller has filled in the other members. Call
 * engine_fini in any case. False: *e says why. */
bool engine_init(struct engine *g, const char *hosts, enum hosts_select select, struct err *e);
void engine_fini(struct engine *g);

/* Sets g->stop, unless it is already at a later stage. Any thread may call it. */
void engine_set_stop(struct engine *g, enum engine_stop stop);

/* Returns the time for signatures of requests to a host, in ns since 1970. */
static inline int64_t engine_sign_ns(const struct host *h)
{
    int64_t offset_ns = atomic_load_explicit(&h->time_offset_ns, memory_order_relaxed);

    return offset_ns != 0 ? clock_now_ns() + offset_ns : clock_real_ns();
}

/* Adds to a counter that only one thread changes. */
static inline void engine_count(atomic_int_fast64_t *n, int64_t by)
{
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

/* Returns this rank's variant of the number of a stream of random numbers. */
static inline uint64_t engine_stream(const struct engine *g, uint64_t stream)
{
    return stream + ((uint64_t)g->rank << 32);
}

/* Bounds for the clocks of servers, from their Date headers. */

/* Bounds for a host's clock: it is ahead of ours by more than lower_ns and less than upper_ns. This
 * is true for servers that make each Date when they send it. Starts as zeros: no bounds. */
struct date_bracket {
    char text[32];        /* the latest Date */
    int64_t date_ns;      /* time of the latest Date */
    bool ticks;           /* two Dates in a row were one second apart */
    int64_t last_send_ns; /* when the last request with this Date was sent, wall clock */
    int64_t lower_ns, upper_ns, at_ns; /* the bounds, and the time they are for, wall clock; at_ns
                                        * 0: there are none */
};

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

struct worker;

struct pool {
    struct engine *engine;
    struct conn_dialer dialer;
    struct conn_list *idle;            /* by host, most recently used first */
    SSL_SESSION **sessions;            /* by host: the latest TLS session; NULL: none */
    size_t n_idle, n_idle_max, n_open; /* connections; idle ones at most; all */
    bool looks;         /* check idle connections before use: a server has closed one */
    int64_t connect_ns; /* do not connect before: this machine failed to; 0: no failure */
    struct conn_list connecting;
    int64_t check_ns;      /* when to look for those that take too long */
    struct conn_list dead; /* freed once no event can refer to them */

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
STAILQ_HEAD(worker_list, worker);
struct queue {
    struct worker_list again;   /* workers to run in the next turn, in order */
    struct worker_list waiting; /* sorted by due_ns */
    struct worker_list parked;  /* until an object or a host may be available */
    int64_t parked_due_ns;      /* when parked workers try again */
    int64_t timeout_ns;         /* not later than the first deadline of a request */
    unsigned n_active;          /* workers that have not ended */
};

/* The event loop of one thread. It runs workers when epoll reports events of their connections. */

/* The most bytes of one read, and the most read for one worker per turn. */
#define LOOP_READ_BYTES (512 * 1024)

/* Bodies are made, digested and sent in pieces of this size; room for one, after a head. */
#define WORKER_CHUNK_BYTES (256 * 1024)
#define WORKER_OUT_BYTES   (S3OP_HEAD_MAX + WORKER_CHUNK_BYTES)

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
    int wake; /* eventfd that wakes the loop, so that it looks at engine.stop */
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
    struct crew *crew;   /* set by the crew, with the thread that runs the phase */
    pthread_t thread;
    struct pool pool;
    struct queue queue;
    struct date_bracket *dates; /* by host */
    struct recorder_port port;
    bool recording;
    struct sigv4 signer;
    EVP_MD *md5;
    char *buf;          /* LOOP_READ_BYTES */
    char *head;         /* S3OP_HEAD_MAX: of the request that is being built */
    char *out;          /* WORKER_OUT_BYTES: that request, if its body is one piece */
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

/* Let a worker run in the next turn of its loop; wait until an object or a host may be available;
 * end. */
void loop_again(struct worker *w);
void loop_park(struct worker *w);
void loop_end(struct worker *w);

/* Returns when request `ticket` of an open loop (numbered from 0 in this rank) is due, by the run's
 * clock; CLOCK_NEVER: beyond the range of the clock. */
int64_t loop_due_ns(const struct phase *phase, uint64_t ticket);

/* Gives the worker a due time if it has none. Returns false if it must wait, or has ended. */
bool loop_is_due(struct worker *w, int64_t now_ns);

/* A worker runs one request at a time, and is one `thread` of the capture. Several workers share a
 * loop. A request's time begins when the request is sent, or when its connection is begun, and ends
 * just after its last byte was read. Signing and digesting are done before. */

/* The result of a request. Times are by the run's clock; CLOCK_NEVER: not reached. Texts come last
 * here and below: of many workers each request would else fetch them into the cache, to clear
 * them. */
struct worker_result {
    int64_t start_ns, first_byte_ns, last_byte_ns, end_ns;
    uint64_t n_bytes; /* payload, as in the capture */
    uint64_t n_objects;
    int status;         /* HTTP status; 0: no response */
    uint64_t n_refused; /* keys of a batch that the server says it did not delete */
    bool busy;          /* the body says so, for a key of a batch, or behind a status of success */
    bool skewed;        /* refused because of our clock: from now on the server's time is used */
    bool cut;           /* the connection ended before the response was complete */
    bool timed_out;     /* no complete response came within --request-timeout */
    const struct xml *xml; /* the answer as a document, for kinds that have one */
    char error[600];       /* "": success */
    char etag[80];         /* "": none */
    char version[256];
};

/* True if the same request may succeed a moment later. */
static inline bool worker_may_pass(const struct worker_result *r)
{
    return r->cut || r->busy || r->skewed || r->status == 0 || r->status == 408 ||
           r->status == 429 || (r->status >= 500 && r->status != 501);
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
    size_t n_error_text;
    char region[64];      /* of the bucket, if the server names it; else "" */
    char elsewhere[128];  /* the server that a redirection names; else "" */
    char error_text[200]; /* beginning of an error's body */
};

/* The body of the current request. Head and body are sent in one piece: the head ends where the
 * body's chunk begins. */
struct worker_body {
    char *out;             /* WORKER_OUT_BYTES */
    char *send, *send_end; /* to be sent next: in `out`, or in loop->out or loop->head */
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
    STAILQ_ENTRY(worker) next; /* in the list of waiting or of parked workers */
    STAILQ_ENTRY(worker) next_again;
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

/* The event loops of a run. Each has a thread while a phase lasts. */

struct crew {
    struct engine *engine;
    struct loop *loops;
    unsigned n_loops;
    atomic_uint n_busy;
};

/* Returns how many loops to run for n_workers workers: n_threads or, if that is 0, one per CPU that
 * affinity and control group quotas let us use; never more loops than workers. */
unsigned crew_n_loops(unsigned n_workers, unsigned n_threads);

/* Makes the loops; workers are numbered from first_thread. `recorder` may be NULL. */
bool crew_init(struct crew *c, struct engine *g, struct recorder *recorder, unsigned n_loops,
               uint32_t first_thread, unsigned n_workers, struct err *e);
void crew_fini(struct crew *c);

/* Runs a phase to its end. Calls `tick` from the calling thread at each event, and after as many ms
 * as it last returned. `tick` can end the phase early with crew_stop. Returns false if a loop
 * failed: *e says why. */
bool crew_run(struct crew *c, struct phase *phase, int (*tick)(void *ctx), void *ctx,
              struct err *e);

/* Makes the loops record from now on, or stop recording. Call it only between phases. */
void crew_record(struct crew *c, bool on);

/* Does what engine_set_stop does, and wakes all loops. Any thread may call it. */
void crew_stop(struct crew *c, enum engine_stop stop);

/* Sums over all loops. Any thread may ask. */
struct crew_counts {
    int64_t n_running, n_connected; /* requests in flight; those with an established connection */
    int64_t n_connects;             /* connections opened so far */
    int64_t n_resent;               /* requests with a row that were sent twice */
    int64_t n_retransmits;          /* TCP segments that connections sent again */
    int64_t digest_ns;              /* time spent on digests of payloads before requests begin */
    int64_t waited_ns;              /* their waits for a CPU in this phase; negative: unknown */
    int64_t most_cpu_ns;            /* CPU time of the busiest loop in this phase */
};
struct crew_counts crew_counts(const struct crew *c);

#endif
