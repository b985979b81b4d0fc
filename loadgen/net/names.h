/* The addresses of the host names. A thread looks up all names once a minute, so no request waits
 * for a name server, unless none has answered yet.
 *
 * libcurl's own cache makes a request wait whenever an entry has expired, looks up a name once for
 * each waiting connection, and begins with the same address until the entry expires. */
#ifndef S3_LOADGEN_NET_NAMES_H
#define S3_LOADGEN_NET_NAMES_H

#include "libcommon/err.h"

#include <arpa/inet.h>
#include <stdint.h>

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

#endif
