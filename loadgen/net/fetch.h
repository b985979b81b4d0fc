/* One HTTP request of another service than the S3 API, with libcurl. It may take its time. */
#ifndef S3_LOADGEN_NET_FETCH_H
#define S3_LOADGEN_NET_FETCH_H

#include "libcommon/err.h"
#include "loadgen/net/conn.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct fetch {
    const char *method; /* "GET", or "POST" without a body */
    const char *url;
    const char *headers; /* lines, each "name: value\r\n"; "": none */
    const char *route;   /* of names_route; NULL: libcurl looks up the name */
    const struct conn_style *style;
    bool insecure;
    const char *cacert;
    long patience_s;            /* it fails if nothing comes for so long */
    uint64_t max_bytes;         /* it fails if the body is larger */
    FILE *to;                   /* gets the body, of an error too */
    bool (*goes_on)(void *ctx); /* asked at least once a second; false: it fails */
    void *ctx;
};

/* Does the request. *status is that of the answer. False: there is no whole answer, and *e says
 * why. Any thread. */
bool fetch(const struct fetch *f, int *status, struct err *e);

#endif
