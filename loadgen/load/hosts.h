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

/* If there is no other host, one that could not be connected to is tried again so much later, by
 * one request at a time: it is seen soon when it is back. */
#define HOSTS_PAUSE_NS INT64_C(100000000)

/* No host can be chosen now: none has an idle connection, none may be connected to. */
#define HOSTS_NONE SIZE_MAX

struct conn;

struct host {
    char *name;         /* host or host:port as the user wrote it, IPv6 addresses in brackets */
    char *named;        /* the name whose address `name` is; NULL: the user wrote `name` */
    uint64_t n_running; /* guarded by hosts.lock, as is idle_since_ns */
    int64_t idle_since_ns;
    int64_t retry_ns;         /* when to connect again, since it failed; 0: it did not fail */
    int64_t failing_since_ns; /* since then no connection to it was in use */
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
    int64_t try_ns; /* a try that lasts longer has failed; set by the caller */
    pthread_mutex_t lock;
    size_t line;    /* of the list, from 1, in which hosts_init failed */
    bool no_memory; /* that is why hosts_init failed */
};

/* Parses a list with commas, or of lines, of which it skips empty ones and those that begin with
 * '#'. {A...B} anywhere in a host or port stands for the numbers A to B; several ranges multiply;
 * with leading zeros in A all numbers have its width. Refuses URLs, empty entries, bad ports and
 * more than HOSTS_MAX hosts. HOSTS_WEIGHED chooses unused hosts in an order that `rng` gives. */
bool hosts_init(struct hosts *h, const char *list, enum hosts_select select, struct rng *rng,
                struct err *e);
/* Looks up all names, and replaces each by one host for each of its addresses. */
bool hosts_resolve(struct hosts *h, bool tls, struct rng *rng, struct err *e);
/* Keeps the hosts of one rank: every n_ranks-th. With fewer hosts than ranks, ranks share one. */
void hosts_deal(struct hosts *h, size_t rank, size_t n_ranks);
void hosts_fini(struct hosts *h);

/* Chooses the host of a request that begins at now_ns (by any clock that does not go back), and
 * counts the request as running there. Returns an index into h->host, or HOSTS_NONE. A host with
 * idle[i] != NULL, an idle connection of the caller (idle may be NULL), can always be chosen;
 * others only with may_connect, and a host that failed only when it is to be tried again. For any
 * number of threads, as are the following. */
size_t hosts_pick(struct hosts *h, struct conn *const *idle, bool may_connect, int64_t now_ns);

/* Notes that a request to host i ended. */
void hosts_release(struct hosts *h, size_t i, int64_t now_ns);

/* Note that host i could not be connected to; that it could; that a connection to it was in use
 * until now. The last does not mean that it takes further connections: it may be at its limit. */
void hosts_cannot_connect(struct hosts *h, size_t i, int64_t now_ns);
void hosts_connected(struct hosts *h, size_t i);
void hosts_was_in_use(struct hosts *h, size_t i, int64_t now_ns);

/* Since when no host can be connected to and no connection was given back; INT64_MAX: one can. The
 * caller must know whether connections are in use now. */
int64_t hosts_all_down_since(struct hosts *h);

#endif
