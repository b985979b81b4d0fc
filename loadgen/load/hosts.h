/* The hosts of --host, and the choice of a host for each request. */
#ifndef S3_LOADGEN_LOAD_HOSTS_H
#define S3_LOADGEN_LOAD_HOSTS_H

#include "libcommon/err.h"
#include "loadgen/net/net.h"
#include "loadgen/util/util.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define HOSTS_MAX 65536

/* If no host can be connected to, one request at a time retries each host after this time, so its
 * return is noticed soon. */
#define HOSTS_PAUSE_NS INT64_C(100000000)

/* No host can be chosen now: none has an idle connection, and none may be connected to. */
#define HOSTS_NONE SIZE_MAX

struct host {
    char *name;  /* host or host:port as given by the user; IPv6 addresses in brackets */
    char *named; /* the host name that `name` is an address of; NULL: the user gave `name` */
    /* Set by engine_init. */
    char *endpoint; /* its name in the capture: http://host:port */
    char *peer;     /* its name for the connection, with the bucket if virtual_host */
    char *header;   /* the Host header */
    bool virtual_host;
    /* How far the host's clock is ahead of the run's clock. Set once the host has refused our time;
     * before that it is 0. */
    atomic_int_fast64_t time_offset_ns;
    uint64_t n_running; /* protected by hosts.lock, like idle_since_ns */
    int64_t idle_since_ns;
    int64_t retry_ns;         /* when to connect again after a failure; 0: it did not fail */
    int64_t failing_since_ns; /* the first failure, or a later use of a connection */
    /* The hosts form a binary heap, with the best one at place 0. */
    uint32_t place; /* of this host in the heap */
    uint32_t heap;  /* of host[p]: the index of the host at place p */
};

enum hosts_select {
    HOSTS_WEIGHED,   /* fewest running requests first, then longest idle */
    HOSTS_ROUNDROBIN /* in turn */
};

struct hosts {
    struct host *host; /* n of them in the order of the list; the last range varies fastest */
    size_t n;
    enum hosts_select select;
    size_t next; /* protected by lock */
    atomic_size_t n_failing;
    int64_t try_ns; /* time after which an attempt to connect counts as failed; set by the caller */
    pthread_mutex_t lock;
    size_t line; /* line of the list, from 1, at which hosts_init failed */
};

/* Parses a list separated by commas or by lines; skips lines that are empty or begin with '#'.
 * {A...B} anywhere in a host or port means the numbers A to B; several ranges multiply. If A has
 * leading zeros, all numbers have its width. Refuses URLs, empty entries, bad ports, and more than
 * HOSTS_MAX hosts: sets e->is_usage. With HOSTS_WEIGHED, `rng` decides the order of unused hosts.
 */
bool hosts_init(struct hosts *h, const char *list, enum hosts_select select, struct rng *rng,
                struct err *e);

/* Looks up all names. Replaces each host by one host per address. */
bool hosts_resolve(struct hosts *h, bool tls, struct rng *rng, struct err *e);

/* Keeps only the hosts of one rank: every n_ranks-th. With fewer hosts than ranks, ranks share
 * hosts. */
void hosts_deal(struct hosts *h, size_t rank, size_t n_ranks);

void hosts_fini(struct hosts *h);

/* Chooses the host of a request that begins at now_ns (any monotonic clock), and counts the request
 * as running there. Returns an index into h->host, or HOSTS_NONE. A host with an idle connection of
 * the caller, in idle[i], can always be chosen (idle may be NULL). Other hosts need
 * may_connect and, after a failure, must be due for a retry. Any thread may call this and the
 * functions below. */
size_t hosts_pick(struct hosts *h, const struct conn_list *idle, bool may_connect, int64_t now_ns);

/* Reports that a request to host i ended. */
void hosts_release(struct hosts *h, size_t i, int64_t now_ns);

/* Report about host i: the connection failed; the connection succeeded; a connection to it was in
 * use until now. The last one does not mean that the host accepts new connections: it may be at its
 * limit. */
void hosts_cannot_connect(struct hosts *h, size_t i, int64_t now_ns);
void hosts_connected(struct hosts *h, size_t i);
void hosts_was_in_use(struct hosts *h, size_t i, int64_t now_ns);

/* Returns since when no host could be connected to and no connection was in use; INT64_MAX: a host
 * can be connected to. The caller must know whether connections are in use now. */
int64_t hosts_all_down_since(struct hosts *h);

#endif
