#include "loadgen/load/load.h"

#include "libcommon/mem.h"

#include <stdlib.h>

/* Idle connections above this number, plus one per host, are closed. */
#define IDLE_PER_WORKER 2

/* A connection that is being established takes so many file descriptors more than an open one:
 * libcurl's pair to wake itself up, and a copy of the socket. */
#define CONNECTING_MORE 3

bool pool_init(struct pool *p, struct engine *g, int epoll, unsigned n_workers, struct err *e)
{
    *p = (struct pool){.engine = g, .n_idle_max = g->hosts.n + (size_t)IDLE_PER_WORKER * n_workers};
    return mem_cleared(&p->idle, g->hosts.n, e) && mem_cleared(&p->sessions, g->hosts.n, e) &&
           conn_dialer_init(&p->dialer, &g->conn_style, epoll, e);
}

void pool_count_retransmits(struct pool *p, struct conn *c)
{
    engine_count(&p->n_retransmits, conn_new_retransmits(c));
}

void pool_count_idle(struct pool *p)
{
    struct conn *c;

    for (size_t i = 0; i < p->engine->hosts.n; i++)
        LIST_FOREACH(c, &p->idle[i], link)
    pool_count_retransmits(p, c);
}

static void bury(struct pool *p, struct conn *c)
{
    pool_count_retransmits(p, c);
    conn_close(c);
    c->user = NULL;
    LIST_INSERT_HEAD(&p->dead, c, link);
    p->n_open--;
}

void pool_free_dead(struct pool *p)
{
    for (struct conn *c; (c = LIST_FIRST(&p->dead)) != NULL;) {
        LIST_REMOVE(c, link);
        free(c);
    }
}

void pool_fini(struct pool *p)
{
    for (size_t i = 0; p->idle != NULL && i < p->engine->hosts.n; i++)
        for (struct conn *c; (c = LIST_FIRST(&p->idle[i])) != NULL;) {
            LIST_REMOVE(c, link);
            bury(p, c);
        }
    pool_free_dead(p);
    conn_dialer_fini(&p->dialer);
    for (size_t i = 0; p->sessions != NULL && i < p->engine->hosts.n; i++)
        SSL_SESSION_free(p->sessions[i]);
    free(p->idle);
    free(p->sessions);
}

struct conn *pool_take(struct pool *p, struct worker *user, uint32_t host, bool fresh,
                       struct err *e)
{
    struct conn *c = NULL;

    while (!fresh && (c = LIST_FIRST(&p->idle[host])) != NULL) {
        LIST_REMOVE(c, link);
        p->n_idle--;
        if (!p->looks || conn_is_alive(c)) {
            c->user = user;
            return c;
        }
        bury(p, c);
    }
    /* After a connection failed for a reason on this machine, only one worker at a time retries. */
    if (p->connect_ns != 0)
        p->connect_ns = clock_now_ns() + HOSTS_PAUSE_NS;
    struct engine *g = p->engine;
    while (p->n_open + 1 + CONNECTING_MORE * ((size_t)p->n_connecting + 1) > g->n_descriptors &&
           pool_drop_idle(p))
        ;
    char route[NAMES_ROUTE_MAX];
    bool known = g->names != NULL && names_route(g->names, host, route);
    c = conn_open(&p->dialer, g->hosts.host[host].peer, known ? route : NULL, host,
                  &p->sessions[host], e);
    if (c == NULL)
        return NULL;
    p->n_open++;
    engine_count(&p->n_connects, 1);
    engine_count(&p->n_connecting, 1);
    c->user = user;
    LIST_INSERT_HEAD(&p->connecting, c, link);
    return c;
}

bool pool_drop_idle(struct pool *p)
{
    struct conn *oldest = NULL;

    for (size_t i = 0; p->n_idle > 0 && i < p->engine->hosts.n; i++) {
        struct conn *last = LIST_FIRST(&p->idle[i]);
        while (last != NULL && LIST_NEXT(last, link) != NULL)
            last = LIST_NEXT(last, link);
        if (last != NULL && (oldest == NULL || last->idle_since_ns < oldest->idle_since_ns))
            oldest = last;
    }
    if (oldest == NULL)
        return false;
    LIST_REMOVE(oldest, link);
    p->n_idle--;
    bury(p, oldest);
    return true;
}

static void end_connecting(struct pool *p, struct conn *c)
{
    LIST_REMOVE(c, link);
    engine_count(&p->n_connecting, -1);
}

void pool_connected(struct pool *p, struct conn *c)
{
    end_connecting(p, c);
    p->connect_ns = 0;
}

void pool_look(struct pool *p, struct conn *c)
{
    if (c->state != CONN_READY || conn_is_alive(c))
        return;
    LIST_REMOVE(c, link);
    p->n_idle--;
    p->looks = true;
    bury(p, c);
}

void pool_give(struct pool *p, struct conn *c, bool keep, int64_t now_ns)
{
    if (c->state == CONN_CONNECTING || c->state == CONN_FAILED)
        end_connecting(p, c);
    /* A TLS connection may hold bytes already read from the socket, such as a close_notify: epoll
     * does not report them. */
    if (!keep || c->state != CONN_READY ||
        (c->wire->buffers && SSL_has_pending(c->ssl) && !conn_is_alive(c))) {
        bury(p, c);
        return;
    }
    c->user = NULL;
    c->idle_since_ns = now_ns;
    LIST_INSERT_HEAD(&p->idle[c->host], c, link);
    if (++p->n_idle > p->n_idle_max)
        pool_drop_idle(p);
}
