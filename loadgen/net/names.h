/* Names of hosts and their addresses, looked up once a minute for the run by a thread of its own:
 * no request waits for a name server, but where none has answered yet. */
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

/* A name and where it leads; `fixed`: this is not looked up. */
struct name {
    char host[NAMES_HOST_MAX];
    char port[8];
    char address[NAMES_ADDRESSES_MAX][INET6_ADDRSTRLEN];
    size_t n, n_first; /* addresses; those of the preferred family, which come first */
    size_t next;
    bool fixed;
};

/* Takes host[:port] apart: the host without brackets, and returns the port, NULL: none. */
const char *name_split(const char *text, char host[static NAMES_HOST_MAX]);

/* Takes host[:port] apart. An address is fixed, without a way to it. */
void name_init(struct name *name, const char *text, bool tls);

/* Looks it up; what was known stays where that fails. False: *e says why. */
bool name_look_up(struct name *name, struct err *e);

struct names;

/* How names are looked up. */
struct names_style {
    bool (*look_up)(struct name *name, struct err *e);
    int64_t again_ns; /* after so long once more */
    int64_t wait_ns;  /* the first answers are waited for up to so long */
};

/* What a run does, but for wait_ns. */
#define NAMES_STYLE .look_up = name_look_up, .again_ns = INT64_C(60000000000)

/* Looks n names up. `name` is from malloc, and taken, on failure too. NULL: *e says why. */
struct names *names_open(struct name *name, size_t n, struct names_style style, struct err *e);
void names_close(struct names *names);

/* Where name i leads, as CURLOPT_RESOLVE wants it; each call begins with the next of its addresses
 * of the preferred family. False: not known. For any number of threads. */
bool names_route(struct names *names, size_t i, char route[static NAMES_ROUTE_MAX]);

#endif
