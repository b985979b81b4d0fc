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
#include <sys/types.h>

/* libcurl has two sockets open when it tries IPv6 and IPv4 at once, and one for its resolver. */
#define CONN_SOCKETS_MAX 8

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

struct conn;

/* One of libcurl's sockets while it connects. */
struct conn_socket {
    struct conn *conn;
    int fd; /* -1: unused */
};

enum conn_state { CONN_CONNECTING, CONN_READY, CONN_FAILED, CONN_CLOSED };

struct conn {
    enum conn_state state;
    struct conn *next;     /* in the list that the owner keeps it in */
    struct worker *user;   /* NULL: idle */
    uint32_t host;         /* index */
    int64_t idle_since_ns; /* 0: it never was */
    int fd;                /* ready: to wait for; -1: none */

    /* Private. */
    const struct conn_style *style;
    const char *name;
    SSL_SESSION **session;
    SSL *ssl; /* NULL: plain, or not yet */
    CURL *easy;
    CURLM *multi;
    struct curl_slist *route;
    int epoll;
    int64_t opened_ns;
    int64_t due_ns; /* when libcurl wants to be called, or the handshake has taken too long */
    bool wants_write;
    int low_water; /* SO_RCVLOWAT */
    int end_errno; /* how it came to an end; EPIPE: in order; 0: it did not */
    struct conn_socket sockets[CONN_SOCKETS_MAX];
    int local_errno; /* why this machine could not open it; 0: the host's fault, or the net's */
    char message[CURL_ERROR_SIZE];
};

/* What conn_send and conn_recv return if nothing can be done now. */
#define CONN_AGAIN (-1)
#define CONN_ERROR (-2)

/* Begins to connect to `name` (host[:port]), which is borrowed as `style` is, by `route`
 * (as names_route writes it; NULL: libcurl looks the name up). *session is the TLS
 * session to resume, or NULL, and a place for the next one. While it connects, events of epoll
 * whose data.ptr is a struct conn_socket with its lowest bit set go to conn_on_socket; from
 * conn_due_ns on, conn_on_timer is due. Afterwards events have the connection itself as data.ptr.
 * NULL: *e says why. */
struct conn *conn_open(const struct conn_style *style, const char *name, const char *route,
                       uint32_t host, SSL_SESSION **session, int epoll, struct err *e);

/* Closes it; it must still be freed, after all events that were taken from epoll. */
void conn_close(struct conn *c);
void conn_free(struct conn *c);

/* Go on connecting; the state tells what came of it. */
void conn_on_socket(struct conn_socket *s, uint32_t epoll_events);
void conn_on_timer(struct conn *c, int64_t now_ns);

/* CLOCK_NEVER: no timer. */
static inline int64_t conn_due_ns(const struct conn *c)
{
    return c->due_ns;
}

/* Why it failed. */
const char *conn_message(const struct conn *c);

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

/* Whether to be woken when it can be written to. */
void conn_want_write(struct conn *c, bool want);

/* `rest` bytes of a body are to come: waits for as many as are worth a wakeup. 0: for any. Only to
 * be called once a byte of the body has come, so that its time is true. */
void conn_expect(struct conn *c, uint64_t rest);

/* Whether an idle connection can be used: the peer has not closed it. */
bool conn_is_alive(struct conn *c);

#endif
