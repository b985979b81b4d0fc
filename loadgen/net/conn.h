/* A connection to a host. libcurl connects, through a proxy if there is one. From then on we send
 * and receive ourselves, and OpenSSL does TLS. A connection belongs to one thread and its epoll.
 *
 * We do not use libcurl's TLS: it makes an SSL_CTX for each connection. The CPU time of that would
 * show in short requests, even with cached certificates of authorities. */
#ifndef S3_LOADGEN_NET_CONN_H
#define S3_LOADGEN_NET_CONN_H

#include "libcommon/err.h"

#include <curl/curl.h>
#include <errno.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/types.h>

struct conn;

/* Results of conn_send and conn_recv: nothing can be done now; the connection broke. */
#define CONN_AGAIN (-1)
#define CONN_ERROR (-2)

/* How bytes travel over a connection: conn_plain, or tls_wire (tls.c). */
struct conn_wire {
    /* Continues the handshake. Returns 1: both sides are ready; CONN_AGAIN: call it again after one
     * of *events; 0: the peer closed the connection; CONN_ERROR: *e or c->local_errno says why. */
    ssize_t (*shake_hands)(struct conn *c, uint32_t *events, struct err *e);
    ssize_t (*send)(struct conn *c, const void *data, size_t n, struct err *e);
    ssize_t (*recv)(struct conn *c, void *buf, size_t n, struct err *e);
    ssize_t (*skip)(struct conn *c, void *buf, size_t n, struct err *e);
    void (*end)(struct conn *c); /* call it before the socket is closed */
    bool buffers;                /* may keep received bytes that epoll does not report */
};
extern const struct conn_wire conn_plain;

/* TLS on established connections, by OpenSSL. One SSL_CTX serves all connections of a run, so that
 * the authorities' certificates are read once. */

/* Makes the context of a run. The authorities come from the file `cacert`; NULL: from the system,
 * or from SSL_CERT_FILE and SSL_CERT_DIR. The caller frees it with SSL_CTX_free. NULL on failure:
 * *e says why. */
SSL_CTX *tls_context(bool insecure, const char *cacert, struct err *e);

/* Verifies that the certificate is for c->name. Resumes *c->session, which belongs to one thread,
 * and stores the next session there. */
extern const struct conn_wire tls_wire;

/* The settings that all connections of a run share. */
struct conn_style {
    const struct conn_wire *wire;
    SSL_CTX *context;   /* for tls_wire; NULL: no TLS, and the default port is 80 */
    bool no_proxy;      /* ignore proxies in the environment */
    const char *proxy;  /* in libcurl's form; "": none */
    bool insecure;      /* do not verify the servers' certificates */
    const char *cacert; /* file of authorities; NULL: the system's */
    int64_t connect_timeout_ns;
};

/* Sets up libcurl, and keeps passwords of proxies out of core dumps. Call it first, before there
 * are other threads; curl_global_cleanup undoes it. Returns false if out of memory. */
bool conn_global_init(void);

#define CONN_PROXY_MAX 256

/* Returns the name of the environment variable that sets a proxy, and writes the proxy without user
 * and password to `text`. NULL: there is none. libcurl itself obeys the variable no_proxy. */
const char *conn_proxy(bool tls, bool no_proxy, char text[static CONN_PROXY_MAX]);

/* Whether libcurl would go to host[:port] through a proxy: no_proxy does not except it. */
bool conn_uses_proxy(const char *host);

/* The most libcurl handles kept for reuse. Making one takes longer than connecting. */
#define CONN_SPARES_MAX 16

/* Opens the connections of a loop, with libcurl. */
struct conn_dialer {
    const struct conn_style *style; /* borrowed */
    int epoll;
    CURLM *multi;
    CURL *spare[CONN_SPARES_MAX];
    size_t n_spares;
    int64_t due_ns; /* when to call libcurl; CLOCK_NEVER: not at all */
    int n_opened;   /* sockets that this call of libcurl opened and has not asked to watch */
    bool stuck;     /* an address failed, and libcurl would wait before it tries the next */
};

/* Call conn_dialer_fini in any case, once all its connections are closed. */
bool conn_dialer_init(struct conn_dialer *d, const struct conn_style *style, int epoll,
                      struct err *e);
void conn_dialer_fini(struct conn_dialer *d);

enum conn_state { CONN_CONNECTING, CONN_READY, CONN_FAILED, CONN_CLOSED };

struct conn {
    enum conn_state state;
    struct conn *next, **link; /* for the owner's list: what it points to, and what points to it */
    struct worker *user;       /* NULL: the connection is idle */
    uint32_t host;             /* index of the host */
    int64_t idle_since_ns;     /* 0: it was never idle */
    int64_t due_ns;            /* time-out of the handshake; CLOCK_NEVER: none */
    int fd;                    /* file descriptor of the socket to wait for, once ready; -1: none */
    char message[CURL_ERROR_SIZE]; /* why the connection failed */
    int local_errno;               /* error on this machine, not at the host; 0: none */

    /* Private. */
    struct conn_dialer *dialer;
    const struct conn_wire *wire;
    const char *name;
    SSL_SESSION **session;
    SSL *ssl;   /* tls_wire only; NULL: the handshake has not begun */
    CURL *easy; /* NULL: libcurl has finished */
    struct curl_slist *route;
    int64_t opened_ns;
    uint32_t watched;       /* the events set in epoll */
    int low_water;          /* SO_RCVLOWAT */
    uint32_t n_retransmits; /* retransmits already counted */
    int end_errno;          /* why the connection ended; EPIPE: the peer closed it; 0: it did not */
};

/* Begins to connect to `name` (host[:port]), which is borrowed. `route` has its addresses, from
 * names_route; NULL: libcurl looks up the name. *session is the TLS session to resume, or NULL; the
 * new session replaces it. The data.ptr of epoll events is the connection. Returns NULL on failure:
 * *e says why. */
struct conn *conn_open(struct conn_dialer *d, const char *name, const char *route, uint32_t host,
                       SSL_SESSION **session, struct err *e);

/* Closes the connection. Free it once all events fetched from epoll are handled. */
void conn_close(struct conn *c);
void conn_free(struct conn *c);

/* True if an event concerns a socket of libcurl: pass it to conn_dialer_act. */
static inline bool conn_is_dialers(const struct epoll_event *event)
{
    return (event->data.u64 & 1) != 0;
}

/* Continues connecting after an epoll event or, with NULL, because d->due_ns has come. Afterwards
 * call conn_dialer_next until it returns NULL: it returns the connections that are ready, begin a
 * handshake or have failed. */
void conn_dialer_act(struct conn_dialer *d, const struct epoll_event *event);
struct conn *conn_dialer_next(struct conn_dialer *d);

/* Continue a handshake after an event; fail it if now_ns is c->due_ns or later. */
void conn_shake_hands(struct conn *c);
void conn_on_timer(struct conn *c, int64_t now_ns);

static inline bool conn_lacked_descriptor(const struct conn *c)
{
    return c->local_errno == EMFILE || c->local_errno == ENFILE;
}

/* Sends up to n bytes. Returns how many were sent; CONN_AGAIN; or CONN_ERROR (*e says why). */
static inline ssize_t conn_send(struct conn *c, const void *data, size_t n, struct err *e)
{
    return c->wire->send(c, data, n, e);
}

/* Receives up to n bytes. Returns how many; 0: the peer closed the connection; CONN_AGAIN; or
 * CONN_ERROR (*e says why). */
static inline ssize_t conn_recv(struct conn *c, void *buf, size_t n, struct err *e)
{
    return c->wire->recv(c, buf, n, e);
}

/* As conn_recv, of bytes that are only counted: `buf` may get them or stay as it is. The kernel
 * then need not copy them. */
static inline ssize_t conn_skip(struct conn *c, void *buf, size_t n, struct err *e)
{
    return c->wire->skip(c, buf, n, e);
}

/* Records why the connection ended. Later causes are ignored, since a broken connection then reads
 * as closed. */
static inline void conn_note_end(struct conn *c, int end_errno)
{
    c->end_errno = c->end_errno == 0 ? end_errno : c->end_errno;
}

/* True if the peer closed or reset the connection after it had been idle at least once. */
static inline bool conn_ended_reused(const struct conn *c)
{
    return c->idle_since_ns != 0 && (c->end_errno == EPIPE || c->end_errno == ECONNRESET);
}

/* True if conn_recv may leave bytes that epoll does not report. */
static inline bool conn_must_drain(const struct conn *c)
{
    return c->wire->buffers;
}

/* True if conn_recv has left such bytes. */
static inline bool conn_has_more(const struct conn *c)
{
    return c->wire->buffers && SSL_has_pending(c->ssl);
}

/* Sets whether epoll reports that the connection is writable. */
void conn_want_write(struct conn *c, bool want);

/* Announces that `rest` more bytes of a body will come, so that the next event waits for many of
 * them; 0: report any byte. Call it only after the body's first byte, whose time must be exact. */
void conn_expect(struct conn *c, uint64_t rest);

/* Returns the number of TCP segments retransmitted since the last call, including those of the
 * handshake. */
uint32_t conn_new_retransmits(struct conn *c);

/* True if an idle connection can be used: the peer has not closed it. */
bool conn_is_alive(struct conn *c);

#endif
