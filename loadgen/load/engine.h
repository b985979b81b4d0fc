/* What all loops of a run share. */
#ifndef S3_LOADGEN_LOAD_ENGINE_H
#define S3_LOADGEN_LOAD_ENGINE_H

#include "libcommon/err.h"
#include "loadgen/load/hosts.h"
#include "loadgen/load/payload.h"
#include "loadgen/net/conn.h"
#include "loadgen/net/names.h"
#include "loadgen/s3/credentials.h"
#include "loadgen/s3/s3op.h"
#include "loadgen/util/clock.h"

#include <stdatomic.h>
#include <stdint.h>

/* How a run is to be ended. */
enum engine_stop {
    ENGINE_RUN,
    ENGINE_STOP, /* no new requests; those in flight are finished */
    ENGINE_ABORT /* those in flight fail */
};

/* A host's name (Linux has up to 64 bytes), a dash and the number of a rank, with a NUL. */
#define ENGINE_CLIENT_BYTES 80

/* What requests to a host have in common. */
struct engine_host {
    char *endpoint; /* as the capture names it: http://host:port */
    char *name;     /* to connect to, and in the Host header */
    bool virtual_host;
    /* How far its clock is ahead of the run's, once it has refused our time; 0: it has not. */
    atomic_int_fast64_t time_offset_ns;
};

struct engine {
    struct s3op_style op_style;
    struct conn_style conn_style;
    struct names *names; /* by host; NULL: a proxy knows them */
    bool resolve_host;   /* a host for each address */
    bool insecure;       /* certificates of servers are not verified */
    const char *cacert;  /* authorities; NULL: the system's */
    struct hosts hosts;
    struct engine_host *host; /* hosts.n */
    struct payload payload;
    struct checksum checksum;
    struct credentials *credentials;  /* NULL: requests are not signed */
    char client[ENGINE_CLIENT_BYTES]; /* the id of this process, in rows and User-Agent */
    uint64_t seed;
    unsigned rank, n_ranks; /* this process, of how many of the run */
    bool deals_hosts;       /* round to the ranks */
    int64_t offset_ns;      /* wall clock less the run's clock */
    int64_t request_timeout_ns;
    size_t idle_max;         /* connections that a loop may keep idle */
    int event;               /* eventfd that wakes the thread which drives the crews; borrowed */
    atomic_int stop;         /* enum engine_stop */
    atomic_bool interrupted; /* by a signal: listings end with their page */
};

/* Sets up hosts, their addresses, TLS and payload, by the fields that the caller has filled in.
 * engine_fini in any case. */
bool engine_init(struct engine *g, const char *hosts, enum hosts_select select, struct err *e);
void engine_fini(struct engine *g);

/* The time that requests to a host are signed with, ns since 1970. */
static inline int64_t engine_sign_ns(const struct engine_host *h)
{
    int64_t offset_ns = atomic_load_explicit(&h->time_offset_ns, memory_order_relaxed);

    return offset_ns != 0 ? clock_now_ns() + offset_ns : clock_real_ns();
}

/* Adds to a counter that one thread alone changes. */
static inline void engine_count(atomic_int_fast64_t *n, int64_t by)
{
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

/* The number of this rank's own copy of a stream of random numbers. */
static inline uint64_t engine_stream(const struct engine *g, uint64_t stream)
{
    return stream + ((uint64_t)g->rank << 32);
}

#endif
