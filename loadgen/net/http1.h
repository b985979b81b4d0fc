/* A strict, incremental reader of HTTP/1.1 responses (RFC 9112). The caller reads from the
 * connection into its own buffer and feeds the bytes, split anywhere. Headers and pieces of the
 * body are passed on as slices of that buffer. The reader allocates nothing.
 *
 * It accepts bodies with a Content-Length, chunked bodies, bodies that end when the connection
 * closes, and responses without a body (HEAD, 1xx, 204, 304). The Content-Length of a chunked
 * body is ignored. Repeated Content-Lengths may be equal. It refuses what RFC 9112 lets a reader
 * refuse: bare LF, folded lines, spaces before a colon, different Content-Lengths, other codings.
 */
#ifndef S3_LOADGEN_NET_HTTP1_H
#define S3_LOADGEN_NET_HTTP1_H

#include "libcommon/err.h"

#include <stdint.h>

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

/* Called for each header of the final response, not for interim responses or trailers. The strings
 * are not terminated and live only during the call. The name is in lower case, the value trimmed.
 */
typedef void http1_header_fn(void *user, const char *name, size_t n_name, const char *value,
                             size_t n_value);

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
