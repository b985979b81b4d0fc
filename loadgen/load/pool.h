/* The connections of a loop that are being established or are idle. */
#ifndef S3_LOADGEN_LOAD_POOL_H
#define S3_LOADGEN_LOAD_POOL_H

#include "loadgen/load/engine.h"

struct pool {
    struct engine *engine;
    struct conn_dialer dialer;
    struct conn **idle;     /* by host: a list, most recently used first */
    SSL_SESSION **sessions; /* by host: the latest TLS session; NULL: none */
    size_t n_idle, n_idle_max;
    bool looks;         /* check idle connections before use: a server has closed one */
    int64_t connect_ns; /* do not connect before: this machine failed to; 0: no failure */
    struct conn *connecting;
    struct conn *dead; /* freed once no event can refer to them */

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

#endif
