/* A strict, incremental reader of HTTP/1.1 responses (RFC 9112). The caller reads from the
 * connection into a buffer of its own and feeds what it read, split anywhere. Headers and pieces of
 * the body are handed out as slices of that buffer. Nothing is allocated.
 *
 * Accepted are bodies by Content-Length, chunked, until the connection closes, and none (HEAD, 1xx,
 * 204, 304). What RFC 9112 lets a reader refuse is refused: bare LF, folded lines, spaces before a
 * colon, both Content-Length and Transfer-Encoding, repeated Content-Length, other codings. */
#ifndef S3_LOADGEN_NET_HTTP1_H
#define S3_LOADGEN_NET_HTTP1_H

#include "libcommon/err.h"

#include <stdint.h>

/* Limits; beyond each is an error. */
#define HTTP1_LINE_MAX    8192  /* a status, header, chunk-size or trailer line, without CR LF */
#define HTTP1_HEAD_MAX    65536 /* all lines before a body, and apart from them all after it */
#define HTTP1_INTERIM_MAX 16    /* 1xx responses before the final one */

#define HTTP1_UNKNOWN UINT64_MAX

enum http1_end {
    HTTP1_MORE, /* all input is used up, the response is not complete */
    HTTP1_DONE, /* the response is complete */
    HTTP1_ERROR /* not HTTP/1.1 as above: `err` says why; the connection is of no more use */
};

/* Called for each header of the final response (not of interim ones, not for trailers). The strings
 * are not terminated and live only during the call; the name is in lower case, the value trimmed.
 */
typedef void http1_header_fn(void *user, const char *name, size_t n_name, const char *value,
                             size_t n_value);

/* Called for each piece of the body, of n > 0 bytes; all that comes before it is known by then. */
typedef void http1_body_fn(void *user, const char *data, size_t n);

struct http1 {
    /* Of the response so far; final once a piece of the body or the end has come. */
    int status;              /* 100..999; 0: not known yet */
    uint64_t content_length; /* of the header, with HEAD too; HTTP1_UNKNOWN: none */
    bool keep_alive;         /* the connection can be used again after HTTP1_DONE */

    /* Private. */
    struct http1_progress {
        http1_header_fn *on_header;
        http1_body_fn *on_body;
        void *user;
        uint64_t rest; /* bytes to come of the body or chunk */
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
    char line[HTTP1_LINE_MAX + 1]; /* with a CR; only lines split between two calls come here */
};

/* Begins with the response to a request; head_only: the request is a HEAD. `user` is for
 * both functions. The struct needs nothing else, before or after. */
void http1_start(struct http1 *h, bool head_only, http1_header_fn *on_header,
                 http1_body_fn *on_body, void *user);

/* Takes the n bytes at data, up to the end of the response; *used becomes how many that were. Bytes
 * left over at HTTP1_DONE are not part of the response: as nothing was asked for, the connection
 * should be closed. */
enum http1_end http1_feed(struct http1 *h, const char *data, size_t n, size_t *used);

/* The peer closed the connection: HTTP1_DONE if that ends the body, else HTTP1_ERROR. */
enum http1_end http1_close(struct http1 *h);

/* How many bytes are still to come of a body that has begun and has a Content-Length; else
 * HTTP1_UNKNOWN. */
uint64_t http1_rest(const struct http1 *h);

#endif
