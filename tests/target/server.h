/* The ports of the target: HTTP by libmicrohttpd, faults, and the log of requests. */
#ifndef S3_SERVER_H
#define S3_SERVER_H

#include "libcommon/err.h"
#include "tests/target/fault.h"
#include "tests/target/s3.h"

#include <stdio.h>

struct server_options {
    const char *address;    /* to listen on: "127.0.0.1" */
    const char *log;        /* file; NULL: none */
    int64_t idle_timeout_s; /* time after which an idle connection is closed; 0: never */
    int64_t max_body_bytes;
    const char *cert_pem; /* NULL: plain HTTP */
    const char *key_pem;
};

/* Shared by all ports. */
struct server {
    struct server_options options;
    struct s3 s3;
    struct faults faults;
    FILE *log;
    atomic_bool stopping;
};

struct server_port {
    struct server *server;
    int index;
    unsigned port;
    struct MHD_Daemon *daemon;
};

/* Opens the log. The server must not move afterwards. The caller sets up `s3` (except its store)
 * and `faults`. */
bool server_init(struct server *s, const struct server_options *options, struct err *e);
void server_fini(struct server *s);

/* Listens on `port`; 0: on a free one. Sets p->port. */
bool server_listen(struct server_port *p, struct server *s, int index, unsigned port,
                   struct err *e);
void server_close(struct server_port *p);

#endif
