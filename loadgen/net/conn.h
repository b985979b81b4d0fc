/* A connection to a host. libcurl connects, through a proxy if there is one. From then on we send
 * and receive ourselves, and OpenSSL does TLS. A connection belongs to one thread and its epoll.
 *
 * libcurl's own TLS makes an SSL_CTX for each connection: a connection and a small GET cost twice
 * the CPU time. */
#ifndef S3_LOADGEN_NET_CONN_H
#define S3_LOADGEN_NET_CONN_H

#include "libcommon/err.h"

#include <curl/curl.h>
#include <errno.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/types.h>

struct conn;

/* What conn_send and conn_recv return if nothing can be done now, and if the connection broke. */
#define CONN_AGAIN (-1)
#define CONN_ERROR (-2)

/* How bytes go over a connection: conn_plain, or tls_wire (tls.h). */
struct conn_wire {
    /* Goes on until both sides are ready: 1; CONN_AGAIN, when one of *events has come; 0: the peer
     * closed; CONN_ERROR, and *e or c->local_errno says why. */
    ssize_t (*shake_hands)(struct conn *c, uint32_t *events, struct err *e);
    ssize_t (*send)(struct conn *c, const void *data, size_t n, struct err *e);
    ssize_t (*recv)(struct conn *c, void *buf, size_t n, struct err *e);
    void (*end)(struct conn *c); /* before the socket is closed */
    bool buffers;                /* holds bytes that it has read and epoll tells nothing of */
};
extern const struct conn_wire conn_plain;

/* What all connections of a run have in common. */
struct conn_style {
    const struct conn_wire *wire;
    bool tls;          /* the port is 443 where none is given */
    SSL_CTX *context;  /* of tls_wire */
    bool no_proxy;     /* even if the environment names one */
    const char *proxy; /* as libcurl takes it; "": none */
    int64_t connect_timeout_ns;
};

/* Sets libcurl up, and keeps passwords of proxies out of core dumps. To be called first, before
 * there are other threads; curl_global_cleanup ends it. False: out of memory. */
bool conn_global_init(void);

#define CONN_PROXY_MAX 256

/* Returns the name of the variable that names a proxy, and writes the proxy without user and
 * password to text. NULL: there is none. libcurl itself obeys the variable no_proxy. */
const char *conn_proxy(bool tls, bool no_proxy, char text[static CONN_PROXY_MAX]);

/* How many of libcurl's handles are kept for further connections. To set one up takes longer than
 * to connect. */
#define CONN_SPARES_MAX 16

/* Connects for a loop, by libcurl. */
struct conn_dialer {
    const struct conn_style *style; /* borrowed */
    int epoll;
    CURLM *multi;
    CURL *spare[CONN_SPARES_MAX];
    size_t n_spares;
    int64_t due_ns; /* when libcurl wants to be called; CLOCK_NEVER: it does not */
};

/* conn_dialer_fini in any case, once its connections are closed. */
bool conn_dialer_init(struct conn_dialer *d, const struct conn_style *style, int epoll,
                      struct err *e);
void conn_dialer_fini(struct conn_dialer *d);

enum conn_state { CONN_CONNECTING, CONN_READY, CONN_FAILED, CONN_CLOSED };

struct conn {
    enum conn_state state;
    struct conn *next;     /* in the list that the owner keeps it in */
    struct worker *user;   /* NULL: idle */
    uint32_t host;         /* index */
    int64_t idle_since_ns; /* 0: it never was */
    int64_t due_ns;        /* the handshake has taken too long; CLOCK_NEVER: there is none */
    int fd;                /* ready: to wait for; -1: none */
    char message[CURL_ERROR_SIZE]; /* why it failed */
    int local_errno; /* what this machine lacked for it, while the host may be well; 0: nothing */

    /* Private. */
    struct conn_dialer *dialer;
    const struct conn_wire *wire;
    const char *name;
    SSL_SESSION **session;
    SSL *ssl;   /* of tls_wire; NULL: its handshake has not begun */
    CURL *easy; /* NULL: libcurl is done with it */
    struct curl_slist *route;
    int64_t opened_ns;
    uint32_t watched; /* epoll's events */
    int low_water;    /* SO_RCVLOWAT */
    int end_errno;    /* why it ended; EPIPE: the peer closed it; 0: it did not end */
};

/* Begins to connect to `name` (host[:port]), which is borrowed. `route` is its addresses, from
 * names_route; NULL: libcurl looks the name up. *session is the TLS session to resume, or NULL; the
 * next one takes its place. Events of epoll have the connection as data.ptr. NULL: *e says why. */
struct conn *conn_open(struct conn_dialer *d, const char *name, const char *route, uint32_t host,
                       SSL_SESSION **session, struct err *e);

/* Closes it; it must still be freed, after all events that were taken from epoll. */
void conn_close(struct conn *c);
void conn_free(struct conn *c);

/* Whether an event is of one of libcurl's sockets: for conn_dialer_act. */
static inline bool conn_is_dialers(const struct epoll_event *event)
{
    return (event->data.u64 & 1) != 0;
}

/* Goes on connecting, as epoll says or, with NULL, since d->due_ns has come. Afterwards
 * conn_dialer_next gives the connections that stand, shake hands or have failed, one a call; NULL:
 * no more. */
void conn_dialer_act(struct conn_dialer *d, const struct epoll_event *event);
struct conn *conn_dialer_next(struct conn_dialer *d);

/* An event of a connection that shakes hands; from due_ns on it fails. */
void conn_shake_hands(struct conn *c);
void conn_on_timer(struct conn *c, int64_t now_ns);

static inline bool conn_lacked_descriptor(const struct conn *c)
{
    return c->local_errno == EMFILE || c->local_errno == ENFILE;
}

/* Sends some of n bytes and returns how many; CONN_AGAIN; or CONN_ERROR, and *e says why. */
static inline ssize_t conn_send(struct conn *c, const void *data, size_t n, struct err *e)
{
    return c->wire->send(c, data, n, e);
}

/* Receives up to n bytes; 0: the peer closed; else as conn_send. */
static inline ssize_t conn_recv(struct conn *c, void *buf, size_t n, struct err *e)
{
    return c->wire->recv(c, buf, n, e);
}

/* Notes why it ended: the first cause alone, as what is broken reads as closed from then on. */
static inline void conn_note_end(struct conn *c, int end_errno)
{
    c->end_errno = c->end_errno == 0 ? end_errno : c->end_errno;
}

/* Whether the peer closed or reset it after it had been idle. */
static inline bool conn_ended_reused(const struct conn *c)
{
    return c->idle_since_ns != 0 && (c->end_errno == EPIPE || c->end_errno == ECONNRESET);
}

/* Whether conn_recv may leave bytes behind that epoll does not tell of. */
static inline bool conn_must_drain(const struct conn *c)
{
    return c->wire->buffers;
}

/* Whether it left some behind. */
static inline bool conn_has_more(const struct conn *c)
{
    return c->wire->buffers && SSL_has_pending(c->ssl);
}

/* Whether to be woken when it can be written to. */
void conn_want_write(struct conn *c, bool want);

/* Says that `rest` bytes of a body are to come: the next event waits for many of them. 0: for any.
 * To be called once the body's first byte has come, whose time must be true. */
void conn_expect(struct conn *c, uint64_t rest);

/* Whether an idle connection can be used: the peer has not closed it. */
bool conn_is_alive(struct conn *c);

#endif
