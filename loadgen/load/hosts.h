/* The hosts of --host and the choice of one for each request. */
#ifndef S3_LOADGEN_LOAD_HOSTS_H
#define S3_LOADGEN_LOAD_HOSTS_H

#include "libcommon/err.h"
#include "loadgen/util/rng.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define HOSTS_MAX 65536

/* A host that could not be connected to is tried again so much later, by one request at a time, if
 * there is no other, so that it is seen soon when it is back. */
#define HOSTS_PAUSE_NS INT64_C(100000000)

/* No host to choose: none has an idle connection, none is to be connected to now. */
#define HOSTS_NONE SIZE_MAX

struct conn;

struct host {
    char *name;         /* host or host:port as the user wrote it, IPv6 addresses in brackets */
    char *named;        /* what that is an address of; NULL: it is what the user wrote */
    uint64_t n_running; /* guarded by hosts.lock, as is idle_since_ns */
    int64_t idle_since_ns;
    int64_t retry_ns;         /* it could not be connected to: when to try again; 0: it could */
    int64_t failing_since_ns; /* from then on no connection to it was in use */
};

enum hosts_select {
    HOSTS_WEIGHED,   /* fewest requests running, then the longest idle */
    HOSTS_ROUNDROBIN /* in turn */
};

struct hosts {
    struct host *host; /* n of them, in the order of the list, the last range fastest */
    size_t n;
    enum hosts_select select;
    size_t next; /* guarded by lock */
    atomic_size_t n_failing;
    int64_t try_ns; /* a try that has not ended after so long has failed; set by the caller */
    pthread_mutex_t lock;
    size_t line;    /* of the list, from 1, in which hosts_init failed */
    bool no_memory; /* that is why hosts_init failed */
};

/* Parses a list, by commas or in lines (of which those are skipped that are empty or begin with
 * '#'), in which {A...B} anywhere in host or port stands for the numbers A
 * to B (several ranges multiply; with leading zeros in A all have its width). Refuses URLs, empty
 * entries, bad ports and more than HOSTS_MAX hosts. The order in which unused hosts are first
 * chosen when weighed comes from `rng`. */
bool hosts_init(struct hosts *h, const char *list, enum hosts_select select, struct rng *rng,
                struct err *e);
/* Puts a host for each address in the place of each name, which is looked up now. */
bool hosts_resolve(struct hosts *h, bool tls, struct rng *rng, struct err *e);
/* Keeps the part of one rank, of those dealt round: every n_ranks-th; where there are fewer hosts
 * than ranks, one, which others have too. */
void hosts_deal(struct hosts *h, size_t rank, size_t n_ranks);
void hosts_fini(struct hosts *h);

/* The host of the next request at now_ns (any clock that does not go back), as an index into
 * h->host, and counts it as running there. A host that could not be connected to is chosen where
 * idle[i] tells that the caller has a connection to it (idle may be NULL: none), or else when it is
 * to be tried again; with may_connect false, idle connections are all there is. HOSTS_NONE: no such
 * host. For any number of threads, as are the following. */
size_t hosts_pick(struct hosts *h, struct conn *const *idle, bool may_connect, int64_t now_ns);

/* Notes that a request to host i ended. */
void hosts_release(struct hosts *h, size_t i, int64_t now_ns);

/* Host i could not be connected to; or it could; or a connection to it was in use until now, which
 * does not make it one that can be connected to: a server may have reached its limit. */
void hosts_cannot_connect(struct hosts *h, size_t i, int64_t now_ns);
void hosts_connected(struct hosts *h, size_t i);
void hosts_was_in_use(struct hosts *h, size_t i, int64_t now_ns);

/* Since when no host can be connected to, and no connection was given back; INT64_MAX if one can.
 * Whether connections are in use now the caller must know. */
int64_t hosts_all_down_since(struct hosts *h);

#endif
