/* The connections of a loop: those that are being made, those that are idle. */
#ifndef S3_LOADGEN_LOAD_POOL_H
#define S3_LOADGEN_LOAD_POOL_H

#include "loadgen/load/engine.h"

struct pool {
    struct engine *engine;
    struct conn_dialer dialer;
    struct conn **idle;     /* a list for each host, the last used first */
    SSL_SESSION **sessions; /* for each host, the latest; NULL: none */
    size_t n_idle, n_idle_max;
    bool looks;         /* at idle connections before use, since a server has closed one */
    int64_t connect_ns; /* not to connect before, since this machine could not; 0: it could */
    struct conn *connecting;
    struct conn *dead; /* to be freed when no event can name them */

    /* For other threads to read. */
    atomic_int_fast64_t n_connecting, n_connects;
};

/* Connections are watched by `epoll`, which stays the caller's. pool_fini in any case. */
bool pool_init(struct pool *p, struct engine *g, int epoll, unsigned n_workers, struct err *e);
void pool_fini(struct pool *p);

/* A connection to the host for a worker: an idle one, unless it must be `fresh`, or a new one that
 * is being made. NULL: *e says why. */
struct conn *pool_take(struct pool *p, struct worker *user, uint32_t host, bool fresh,
                       struct err *e);

/* Gives a connection back at now_ns, to be kept or closed. */
void pool_give(struct pool *p, struct conn *c, bool keep, int64_t now_ns);

/* Closes the connection that has been idle for longest; false: none is idle. */
bool pool_drop_idle(struct pool *p);

/* Notes that a connection that was being made stands. */
void pool_stands(struct pool *p, struct conn *c);

/* Closes an idle connection that an event came for, unless it can still be used. */
void pool_look(struct pool *p, struct conn *c);

/* Frees the closed connections. Events that were fetched before must have been handled. */
void pool_free_dead(struct pool *p);

#endif
