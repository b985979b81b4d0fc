/* One HTTP request to a service other than the S3 API, with libcurl. The call blocks. */
#ifndef S3_LOADGEN_NET_FETCH_H
#define S3_LOADGEN_NET_FETCH_H

#include "loadgen/net/conn.h"

#include <stdio.h>

struct fetch {
    const char *method; /* "GET", or "POST" without a body */
    const char *url;
    const char *headers; /* lines, each "name: value\r\n"; "": none */
    const char *route;   /* from names_route; NULL: libcurl looks up the name */
    const struct conn_style *style;
    long patience_s;    /* the request fails if hardly any bytes come for this time. It fails in any
                         * case after 10 times as long. */
    uint64_t max_bytes; /* the request fails if the body is larger */
    FILE *to;           /* receives the body, that of an error too */
    bool (*goes_on)(void *ctx); /* called at least once a second; false: the request fails */
    void *ctx;
};

/* Does the request. *status is the HTTP status. False: the answer is not complete, and *e says why.
 * Any thread may call it. */
bool fetch(const struct fetch *f, int *status, struct err *e);

#endif
