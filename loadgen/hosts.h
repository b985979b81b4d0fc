/* The hosts of --host and the choice of one for each request. */
#ifndef S3_HOSTS_H
#define S3_HOSTS_H

#include "err.h"
#include "rng.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define HOSTS_MAX 65536

/* For so long a host that cannot be connected to is passed over. */
#define HOSTS_DOWN_NS INT64_C(1000000000)

/* No host to choose: all are down. */
#define HOSTS_NONE SIZE_MAX

struct host {
    char *name;         /* host or host:port as the user wrote it, IPv6 addresses in brackets */
    uint64_t n_running; /* guarded by hosts.lock, as is idle_since_ns */
    int64_t idle_since_ns;
    int64_t down_until_ns; /* it could not be connected to; 0: up */
    int64_t down_since_ns;
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
    atomic_size_t n_down;
    pthread_mutex_t lock;
    bool no_memory; /* that is why hosts_init failed */
};

/* Parses a comma-separated list in which {A...B} anywhere in host or port stands for the numbers A
 * to B (several ranges multiply; with leading zeros in A all have its width). Refuses URLs, empty
 * entries, bad ports and more than HOSTS_MAX hosts. The order in which unused hosts are first
 * chosen when weighed comes from `rng`. */
bool hosts_init(struct hosts *h, const char *list, enum hosts_select select, struct rng *rng,
                struct err *e);
void hosts_fini(struct hosts *h);

/* The host of the next request at now_ns (any clock that does not go back), as an index into
 * h->host, and counts it as running there. Hosts that are down are passed over; HOSTS_NONE if all
 * are. For any number of threads, as are the following. */
size_t hosts_pick(struct hosts *h, int64_t now_ns);

/* A request to host i ended. */
void hosts_release(struct hosts *h, size_t i, int64_t now_ns);

/* Host i could not be connected to; or it could. */
void hosts_set_down(struct hosts *h, size_t i, int64_t now_ns);
void hosts_set_up(struct hosts *h, size_t i);

/* Since when no host could be connected to; INT64_MAX if one can. */
int64_t hosts_all_down_since(struct hosts *h);

#endif
