#include "loadgen/net/interface.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Finds our own address on the way to another one: connects a UDP socket, which sends nothing, and
 * reads the local address that the kernel chose. */
static bool local_address(const char *address, struct sockaddr_storage *local)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_DGRAM};
    struct addrinfo *to = NULL;
    socklen_t n = sizeof *local;

    if (getaddrinfo(address, "9", &hints, &to) != 0)
        return false;
    int fd = socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool ok = fd >= 0 && connect(fd, to->ai_addr, to->ai_addrlen) == 0 &&
              getsockname(fd, (struct sockaddr *)local, &n) == 0;
    if (fd >= 0)
        close(fd);
    freeaddrinfo(to);
    return ok;
}

static bool same_address(const struct sockaddr *a, const struct sockaddr_storage *b)
{
    if (a == NULL || a->sa_family != b->ss_family)
        return false;
    return a->sa_family == AF_INET
               ? memcmp(&((const struct sockaddr_in *)a)->sin_addr,
                        &((const struct sockaddr_in *)b)->sin_addr, sizeof(struct in_addr)) == 0
               : memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                        &((const struct sockaddr_in6 *)b)->sin6_addr, sizeof(struct in6_addr)) == 0;
}

bool interface_to(const char *address, char name[static IF_NAMESIZE])
{
    struct sockaddr_storage local;
    struct ifaddrs *all = NULL;

    name[0] = '\0';
    if (!local_address(address, &local) || getifaddrs(&all) != 0)
        return false;
    for (const struct ifaddrs *i = all; i != NULL && name[0] == '\0'; i = i->ifa_next)
        if (same_address(i->ifa_addr, &local))
            snprintf(name, IF_NAMESIZE, "%s", i->ifa_name);
    freeifaddrs(all);
    return name[0] != '\0';
}
