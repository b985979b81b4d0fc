/* A library that tests of s3load preload into it (tests/cli/test_load_world.py and others). It
 * changes what s3load sees of its environment:
 *
 *   WORLD_AHEAD_NS=N          CLOCK_REALTIME is N ns ahead
 *   WORLD_DRIFT_PPM=N         all clocks run N ppm faster, since CLOCK_MONOTONIC was at
 *   WORLD_SINCE_NS=N
 *   WORLD_STEP=FILE           while FILE exists, CLOCK_REALTIME is an hour ahead
 *   WORLD_NAME=NAME=IP,IP...  the addresses of NAME
 *   WORLD_NO_DIGESTS=1        digests of large pieces fail
 *   WORLD_NO_SKIPS=1          the kernel does not know MSG_TRUNC
 *   WORLD_LOG=FILE            gets at the end: how many times NAME was looked up, the most digests
 * of large pieces that a thread made between two calls of epoll, and the bytes received with
 * MSG_TRUNC, which are not copied */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STEP_S      3600
#define NS_PER_S    INT64_C(1000000000)
#define LARGE_BYTES 65536

static atomic_uint n_lookups, most_digests;
static atomic_ulong n_skipped;
static _Thread_local unsigned n_digests;

static __attribute__((destructor)) void end(void)
{
    const char *path = getenv("WORLD_LOG");
    FILE *f = path != NULL ? fopen(path, "w") : NULL;

    if (f == NULL)
        return;
    fprintf(f, "lookups %u\ndigests %u\nskipped %lu\n", n_lookups, most_digests, n_skipped);
    fclose(f);
}

static int64_t number_in(const char *name)
{
    const char *value = getenv(name);

    return value != NULL ? strtoll(value, NULL, 10) : 0;
}

static void move(clockid_t clock, struct timespec *t)
{
    int64_t ppm = number_in("WORLD_DRIFT_PPM");
    int64_t ns = clock == CLOCK_REALTIME ? number_in("WORLD_AHEAD_NS") : 0;
    struct timespec now;

    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return;
    if (ppm != 0) {
        syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
        ns +=
            (now.tv_sec * NS_PER_S + now.tv_nsec - number_in("WORLD_SINCE_NS")) / 1000 * ppm / 1000;
    }
    ns += t->tv_nsec;
    t->tv_sec += ns / NS_PER_S;
    t->tv_nsec = ns % NS_PER_S;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    const char *step = getenv("WORLD_STEP");
    int result = (int)syscall(SYS_clock_gettime, clock, t);

    move(clock, t);
    if (clock == CLOCK_REALTIME && step != NULL && access(step, F_OK) == 0)
        t->tv_sec += STEP_S;
    return result;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **result)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
        dlsym(RTLD_NEXT, "getaddrinfo");
    const char *name = getenv("WORLD_NAME");
    size_t n = node != NULL ? strlen(node) : 0;
    struct addrinfo **end = result;
    char list[256];

    if (name == NULL || n == 0 || strncmp(name, node, n) != 0 || name[n] != '=')
        return real(node, service, hints, result);
    n_lookups++;
    snprintf(list, sizeof list, "%s", name + n + 1);
    for (char *rest = list, *address; (address = strsep(&rest, ",")) != NULL;) {
        int failed = real(address, service, hints, end);
        if (failed != 0)
            return failed;
        while (*end != NULL)
            end = &(*end)->ai_next;
    }
    return 0;
}

int epoll_pwait2(int epoll, struct epoll_event *events, int max, const struct timespec *timeout,
                 const sigset_t *mask)
{
    int (*real)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *) =
        dlsym(RTLD_NEXT, "epoll_pwait2");

    n_digests = 0;
    return real(epoll, events, max, timeout, mask);
}

int EVP_DigestUpdate(void *context, const void *data, size_t n)
{
    int (*real)(void *, const void *, size_t) = dlsym(RTLD_NEXT, "EVP_DigestUpdate");
    unsigned most = most_digests;

    if (n >= LARGE_BYTES && getenv("WORLD_NO_DIGESTS") != NULL)
        return 0;
    if (n >= LARGE_BYTES)
        n_digests++;
    while (n_digests > most && !atomic_compare_exchange_weak(&most_digests, &most, n_digests))
        ;
    return real(context, data, n);
}

ssize_t recv(int fd, void *data, size_t n, int flags)
{
    ssize_t (*real)(int, void *, size_t, int) = dlsym(RTLD_NEXT, "recv");
    bool skips = (flags & MSG_TRUNC) != 0;

    if (skips && getenv("WORLD_NO_SKIPS") != NULL) {
        errno = EINVAL;
        return -1;
    }
    ssize_t got = real(fd, data, n, flags);
    n_skipped += skips && got > 0 ? (unsigned long)got : 0;
    return got;
}
