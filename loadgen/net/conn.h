/* A connection to a host. libcurl resolves, connects and goes through proxies; from then on TLS is
 * OpenSSL's, and we send and receive ourselves. Belongs to one thread and its epoll.
 *
 * libcurl's own TLS would make an SSL_CTX, and read the authorities' certificates, for each
 * connection. */
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

/* What all connections of a run have in common. */
struct conn_style {
    bool tls;
    SSL_CTX *context;  /* where tls */
    bool no_proxy;     /* whatever the environment says */
    const char *proxy; /* where libcurl finds it; "": none */
    int64_t connect_timeout_ns;
};

/* Sets libcurl up; passwords of proxies, which the environment has, leave core dumps. Before
 * anything else of here, without other threads; curl_global_cleanup ends it. False: out of memory.
 */
bool conn_global_init(void);

#define CONN_PROXY_MAX 256

/* The proxy that the environment names, as libcurl takes it, without user and password, in text;
 * the variable's name, or NULL: there is none. Which hosts no_proxy excepts, libcurl knows. */
const char *conn_proxy(bool tls, bool no_proxy, char text[static CONN_PROXY_MAX]);

/* So many of libcurl's handles are kept between connections. */
#define CONN_SPARES_MAX 16

/* What connects for a loop: libcurl, whose handles serve again, since to set them up takes longer
 * than to connect. */
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

    /* Private. */
    struct conn_dialer *dialer;
    const char *name;
    SSL_SESSION **session;
    SSL *ssl;   /* NULL: plain, or not yet */
    CURL *easy; /* NULL: libcurl has no part in it, or no more */
    struct curl_slist *route;
    int64_t opened_ns;
    uint32_t watched; /* epoll's events */
    int low_water;    /* SO_RCVLOWAT */
    int end_errno;    /* how it came to an end; EPIPE: in order; 0: it did not */
    int local_errno;  /* why this machine could not open it; 0: the host's fault, or the net's */
};

/* What conn_send and conn_recv return if nothing can be done now. */
#define CONN_AGAIN (-1)
#define CONN_ERROR (-2)

/* Begins to connect to `name` (host[:port]), which is borrowed, by `route` (as names_route writes
 * it; NULL: libcurl looks the name up). *session is the TLS session to resume, or NULL, and a place
 * for the next one. Events of epoll have the connection as data.ptr, those of libcurl's sockets a
 * tag in data.u64. NULL: *e says why. */
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

/* Whether it failed for want of something here: of descriptors, of ports, of memory. The host need
 * not be at fault. */
static inline bool conn_failed_here(const struct conn *c)
{
    return c->local_errno != 0;
}

static inline bool conn_lacked_descriptor(const struct conn *c)
{
    return c->local_errno == EMFILE || c->local_errno == ENFILE;
}

/* Sends some of n bytes; CONN_AGAIN; or CONN_ERROR, and *e says why. */
ssize_t conn_send(struct conn *c, const void *data, size_t n, struct err *e);

/* Receives up to n bytes; 0: the peer closed; else as conn_send. */
ssize_t conn_recv(struct conn *c, void *buf, size_t n, struct err *e);

/* Whether the peer closed or reset it after it had been idle. */
static inline bool conn_ended_reused(const struct conn *c)
{
    return c->idle_since_ns != 0 && (c->end_errno == EPIPE || c->end_errno == ECONNRESET);
}

/* Whether a read may leave bytes behind that epoll does not tell of. */
static inline bool conn_must_drain(const struct conn *c)
{
    return c->ssl != NULL;
}

/* Whether bytes have come behind those that conn_recv gave. */
static inline bool conn_has_more(const struct conn *c)
{
    return c->ssl != NULL && SSL_has_pending(c->ssl);
}

/* Whether to be woken when it can be written to. */
void conn_want_write(struct conn *c, bool want);

/* `rest` bytes of a body are to come: waits for as many as are worth a wakeup. 0: for any. Only to
 * be called once a byte of the body has come, so that its time is true. */
void conn_expect(struct conn *c, uint64_t rest);

/* Whether an idle connection can be used: the peer has not closed it. */
bool conn_is_alive(struct conn *c);

#endif
