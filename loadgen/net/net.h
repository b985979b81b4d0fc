#ifndef S3_LOADGEN_NET_NET_H
#define S3_LOADGEN_NET_NET_H

#include "libcommon/err.h"
#include "libcommon/slice.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/types.h>

/* The addresses of the host names. A thread looks up all names once a minute, so no request waits
 * for a name server, unless none has answered yet.
 *
 * libcurl's own cache makes a request wait whenever an entry has expired, looks up a name once for
 * each waiting connection, and begins with the same address until the entry expires. */

/* The most addresses used per name. */
#define NAMES_ADDRESSES_MAX 32

/* Room for the longest host, with a NUL. */
#define NAMES_HOST_MAX 280

/* Room for the text that names_route writes. */
#define NAMES_ROUTE_MAX 2048

/* A name and its addresses. */
struct name {
    char host[NAMES_HOST_MAX];
    char port[8];
    char address[NAMES_ADDRESSES_MAX][INET6_ADDRSTRLEN];
    size_t n, n_first; /* n addresses; the first n_first are of the preferred family */
    size_t next; /* index of the address, modulo n_first, that the next connection tries first */
    bool fixed;  /* the host is an address: no lookup */
};

/* Splits host[:port] or host[/path]. Writes the host without brackets to `host`. Returns the port;
 * NULL: there is no port. */
const char *name_split(const char *text, char host[static NAMES_HOST_MAX]);

/* Makes the Host header of host[:port]: without a standard port, as SDKs and curl do, and without
 * the zone of an IPv6 address (RFC 6874). The caller frees it. */
bool name_in_header(const char *text, bool tls, char **header, struct err *e);

/* Splits host[:port]. If the host is an address, the name is fixed and gets no address here. */
void name_init(struct name *name, const char *text, bool tls);

/* Looks up the name. On failure *e says why, and the old addresses stay. */
bool name_look_up(struct name *name, struct err *e);

struct names;

/* How names are looked up. */
struct names_style {
    bool (*look_up)(struct name *name, struct err *e);
    int64_t again_ns; /* pause between two rounds of lookups */
    int64_t wait_ns;  /* names_open waits this long for the first round */
};

/* All members but wait_ns, as a run sets them. */
#define NAMES_STYLE .look_up = name_look_up, .again_ns = INT64_C(60000000000)

/* Starts looking up n names. Takes ownership of `name`, which must be from malloc, even on failure.
 * Returns NULL on failure: *e says why. */
struct names *names_open(struct name *name, size_t n, struct names_style style, struct err *e);
void names_close(struct names *names);

/* Writes the addresses of name i in the form of CURLOPT_RESOLVE. Each call begins with the next
 * address of the preferred family. Returns false if no address is known. Any thread may call it. */
bool names_route(struct names *names, size_t i, char route[static NAMES_ROUTE_MAX]);

/* A connection to a host. libcurl connects, through a proxy if there is one. From then on we send
 * and receive ourselves, and OpenSSL does TLS. A connection belongs to one thread and its epoll.
 *
 * We do not use libcurl's TLS: it makes an SSL_CTX for each connection. The CPU time of that would
 * show in short requests, even with cached certificates of authorities. */

struct conn;
LIST_HEAD(conn_list, conn);

/* Results of sending and receiving: nothing can be done now; the connection broke. */
#define CONN_AGAIN (-1)
#define CONN_ERROR (-2)

/* How bytes travel over a connection: conn_plain, or tls_wire (tls.c). */
struct conn_wire {
    /* Continues the handshake; NULL: there is none. Returns 1: both sides are ready; CONN_AGAIN:
     * call it again after one of *events; 0: the peer closed the connection; CONN_ERROR: *e or
     * c->local_errno says why. */
    ssize_t (*shake_hands)(struct conn *c, uint32_t *events, struct err *e);
    /* Sends up to n bytes. Returns how many were sent; CONN_AGAIN; or CONN_ERROR (*e says why). */
    ssize_t (*send)(struct conn *c, const void *data, size_t n, struct err *e);
    /* Receives up to n bytes. Returns how many; 0: the peer closed the connection; CONN_AGAIN; or
     * CONN_ERROR (*e says why). */
    ssize_t (*recv)(struct conn *c, void *buf, size_t n, struct err *e);
    /* As recv, of bytes that are only counted: `buf` may get them or stay as it is. The kernel then
     * need not copy them. */
    ssize_t (*skip)(struct conn *c, void *buf, size_t n, struct err *e);
    void (*end)(struct conn *c); /* NULL, or to be called before the socket is closed */
    bool buffers; /* recv may leave bytes that epoll does not report: SSL_has_pending tells */
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
    SSL_CTX *context;   /* for tls_wire; NULL: no TLS (conn_plain), and the default port is 80 */
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
    LIST_ENTRY(conn) link; /* for the owner's list */
    struct worker *user;   /* NULL: the connection is idle */
    uint32_t host;         /* index of the host */
    int64_t idle_since_ns; /* 0: it was never idle */
    int64_t due_ns;        /* time-out of the handshake; CLOCK_NEVER: none */
    int fd;                /* file descriptor of the socket to wait for, once ready; -1: none */
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

/* Closes the connection. The caller frees it once all events fetched from epoll are handled. */
void conn_close(struct conn *c);

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

/* A strict, incremental reader of HTTP/1.1 responses (RFC 9112). The caller reads from the
 * connection into its own buffer and feeds the bytes, split anywhere. Headers and pieces of the
 * body are passed on as slices of that buffer. The reader allocates nothing.
 *
 * It accepts bodies with a Content-Length, chunked bodies, bodies that end when the connection
 * closes, and responses without a body (HEAD, 1xx, 204, 304). The Content-Length of a chunked
 * body is ignored. Repeated Content-Lengths may be equal. It refuses what RFC 9112 lets a reader
 * refuse: bare LF, folded lines, spaces before a colon, different Content-Lengths, other codings.
 */

/* Limits; more is an error. */
#define HTTP1_LINE_MAX    8192  /* a status, header, chunk-size or trailer line, without CR LF */
#define HTTP1_HEAD_MAX    65536 /* all lines before a body; and again all after it */
#define HTTP1_INTERIM_MAX 16    /* 1xx responses before the final one */

#define HTTP1_UNKNOWN UINT64_MAX

/* The error if plain HTTP was sent to a TLS port. */
#define HTTP1_SPEAKS_TLS "the server speaks TLS: --tls is missing"

enum http1_end {
    HTTP1_MORE, /* all input is consumed; the response is not complete */
    HTTP1_DONE, /* the response is complete */
    HTTP1_ERROR /* not acceptable HTTP/1.1: `err` says why; drop the connection */
};

/* Called for each header of the final response, not for interim responses or trailers. The texts
 * live only during the call. The name is in lower case, the value trimmed. */
typedef void http1_header_fn(void *user, struct slice name, struct slice value);

/* Called for each piece of the body, n > 0 bytes. By then status and headers are known. */
typedef void http1_body_fn(void *user, const char *data, size_t n);

struct http1 {
    /* The response so far. Final once a piece of the body, or the end of the response, has come. */
    int status;              /* 100..999; 0: not known yet */
    uint64_t content_length; /* from the header, also for HEAD; HTTP1_UNKNOWN: none */
    bool keep_alive;         /* the connection can be used again after HTTP1_DONE */

    /* Private. */
    struct http1_progress {
        http1_header_fn *on_header;
        http1_body_fn *on_body;
        void *user;
        uint64_t rest; /* bytes of the body or chunk still to come */
        uint64_t n_body;
        size_t n_head;
        size_t n_line;
        int n_interim;
        uint8_t state;
        bool head_only;
        bool chunked;
        bool http_1_0;
    } at;

    struct err err;                /* set after HTTP1_ERROR */
    char line[HTTP1_LINE_MAX + 1]; /* a line that is split between two calls, with its CR */
};

/* Starts reading the response to a request; head_only: to a HEAD request. Both functions get
 * `user`. The struct needs no other set-up, and no clean-up. */
void http1_start(struct http1 *h, bool head_only, http1_header_fn *on_header,
                 http1_body_fn *on_body, void *user);

/* Takes the n bytes at data, up to the end of the response, and sets *used to how many it took.
 * Bytes left over at HTTP1_DONE are not part of the response. Nobody requested them, so close the
 * connection. */
enum http1_end http1_feed(struct http1 *h, const char *data, size_t n, size_t *used);

/* Handles that the peer closed the connection. Returns HTTP1_DONE if that ends the body, else
 * HTTP1_ERROR. */
enum http1_end http1_close(struct http1 *h);

/* Returns how many bytes of the body are still to come, if it has a Content-Length and has begun;
 * else HTTP1_UNKNOWN. */
uint64_t http1_rest(const struct http1 *h);

#endif
