/* The state and settings that all loops of a run share. */
#ifndef S3_LOADGEN_LOAD_ENGINE_H
#define S3_LOADGEN_LOAD_ENGINE_H

#include "loadgen/load/hosts.h"
#include "loadgen/net/conn.h"
#include "loadgen/net/names.h"
#include "loadgen/s3/s3op.h"
#include "loadgen/util/clock.h"

/* The contents of objects: random bytes that depend on the object's seed, can be made at any
 * offset, and cost no more than a copy. No 64 KiB occur twice, in one object or in two, so that a
 * server gains nothing from compression or deduplication. */

struct payload {
    uint64_t *words; /* one block of random numbers */
};

/* Makes the block. Returns false if out of memory. */
bool payload_init(struct payload *p, struct err *e);
void payload_fini(struct payload *p);

/* Writes bytes offset .. offset + n - 1 of the object with this seed to buf. */
void payload_fill(const struct payload *p, uint64_t seed, uint64_t offset, void *buf, size_t n);

/* True if the n bytes at data are bytes offset .. offset + n - 1 of the object with this seed. */
bool payload_matches(const struct payload *p, uint64_t seed, uint64_t offset, const void *data,
                     size_t n);

/* Returns the seed of object `id` of a run. */
uint64_t payload_seed(uint64_t run_seed, uint64_t id);

/* How far a run is to be stopped. */
enum engine_stop {
    ENGINE_RUN,
    ENGINE_STOP, /* no new requests; those in flight finish */
    ENGINE_ABORT /* requests in flight fail */
};

/* Room for a host name (up to 64 bytes on Linux), a dash, the number of a rank, and a NUL. */
#define ENGINE_CLIENT_BYTES 80

/* Data that all requests to a host share. */
struct engine_host {
    char *endpoint; /* its name in the capture: http://host:port */
    char *name;     /* for the connection */
    char *header;   /* the Host header */
    bool virtual_host;
    /* How far the host's clock is ahead of the run's clock. Set once the host has refused our time;
     * before that it is 0. */
    atomic_int_fast64_t time_offset_ns;
};

struct engine {
    struct s3op_style op_style;
    struct conn_style conn_style;
    const char *proxied_by;     /* variable that names a proxy which is used; NULL: none */
    char proxy[CONN_PROXY_MAX]; /* without user and password */
    struct names *names;        /* by host; NULL: a proxy looks up the names */
    bool resolve_host;          /* each address counts as a host */
    const char *root;           /* folder of /proc and /sys; "" except in tests */
    struct hosts hosts;
    struct engine_host *host; /* hosts.n of them */
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
static inline int64_t engine_sign_ns(const struct engine_host *h)
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

#endif
