/* The addresses of the hosts' names. A thread looks all of them up once a minute: no request waits
 * for a name server, unless none has answered yet.
 *
 * libcurl's own cache lets a request wait whenever an entry has expired, looks a name up once for
 * each connection that waits, and begins with the same address each time. */
#ifndef S3_LOADGEN_NET_NAMES_H
#define S3_LOADGEN_NET_NAMES_H

#include "libcommon/err.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>

/* The most addresses of a name that are used. */
#define NAMES_ADDRESSES_MAX 32

/* The longest host, with a NUL. */
#define NAMES_HOST_MAX 280

/* The text that names_route writes. */
#define NAMES_ROUTE_MAX 2048

/* A name and its addresses. */
struct name {
    char host[NAMES_HOST_MAX];
    char port[8];
    char address[NAMES_ADDRESSES_MAX][INET6_ADDRSTRLEN];
    size_t n, n_first; /* addresses; those of the preferred family, which come first */
    size_t next;       /* of these: where the next connection begins */
    bool fixed;        /* not to be looked up */
};

/* Takes host[:port] apart: the host without brackets, and returns the port, NULL: none. */
const char *name_split(const char *text, char host[static NAMES_HOST_MAX]);

/* Takes host[:port] apart. What is an address itself is fixed, and has none here. */
void name_init(struct name *name, const char *text, bool tls);

/* Looks it up. False: *e says why, and what was known stays. */
bool name_look_up(struct name *name, struct err *e);

struct names;

/* How names are looked up. */
struct names_style {
    bool (*look_up)(struct name *name, struct err *e);
    int64_t again_ns; /* from one round of lookups to the next */
    int64_t wait_ns;  /* names_open waits so long for the first round */
};

/* What a run sets beside wait_ns. */
#define NAMES_STYLE .look_up = name_look_up, .again_ns = INT64_C(60000000000)

/* Begins to look n names up. `name` is from malloc, and belongs to the callee even if that fails.
 * NULL: *e says why. */
struct names *names_open(struct name *name, size_t n, struct names_style style, struct err *e);
void names_close(struct names *names);

/* Writes the addresses of name i as CURLOPT_RESOLVE wants them. Each call begins with another one
 * of the preferred family. False: none is known. For any number of threads. */
bool names_route(struct names *names, size_t i, char route[static NAMES_ROUTE_MAX]);

#endif
