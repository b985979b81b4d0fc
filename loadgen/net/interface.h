/* Which network interface leads to an address. */
#ifndef S3_LOADGEN_NET_INTERFACE_H
#define S3_LOADGEN_NET_INTERFACE_H

#include <net/if.h>
#include <stdbool.h>

/* Writes the name of the interface that leads to a numeric address. False: unknown, and the name is
 * "". */
bool interface_to(const char *address, char name[static IF_NAMESIZE]);

#endif
