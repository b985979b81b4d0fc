/* A library that tests/cli/faults.py preloads into our programs. It makes one system call or
 * allocation fail:
 *
 *   FAULT=KIND:N    the Nth call of this kind fails, FAULT=KIND:N+ all from the Nth on
 *   FAULT_LOG=FILE  gets "KIND CALLS" for each kind at the end
 *   FAULT_RESOLVE_S=N  names are looked up for N seconds, and not found
 *
 * It does not affect programs that ours run, nor calls that libc makes within itself (such as
 * stdio's writes). A read that fails by `end` finds the file shorter than it was. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

enum kind {
    FAULT_MALLOC,
    FAULT_MMAP,
    FAULT_READ,
    FAULT_END,
    FAULT_WRITE,
    FAULT_SHORT_WRITE,
    FAULT_SYNC,
    FAULT_RENAME,
    FAULT_OPEN,
    FAULT_THREAD,
    N_KINDS
};

static const char *const names[N_KINDS] = {"malloc",      "mmap", "read",   "end",  "write",
                                           "short-write", "sync", "rename", "open", "thread"};

static atomic_ulong n_calls[N_KINDS];
static enum kind kind = N_KINDS;
static unsigned long nth;
static bool and_on;
static bool active; /* within main: calls that load and unload the program do not fail */
static int (*program_main)(int argc, char **argv, char **env);

static void read_fault(void)
{
    const char *fault = getenv("FAULT");
    const char *colon = fault != NULL ? strchr(fault, ':') : NULL;

    for (int k = 0; colon != NULL && k < N_KINDS; k++)
        if (strlen(names[k]) == (size_t)(colon - fault) &&
            strncmp(fault, names[k], (size_t)(colon - fault)) == 0)
            kind = (enum kind)k;
    if (colon != NULL) {
        char *end;
        nth = strtoul(colon + 1, &end, 10);
        and_on = *end == '+';
    }
}

static int run_main(int argc, char **argv, char **env)
{
    read_fault();
    unsetenv("LD_PRELOAD");
    active = true;
    int status = program_main(argc, argv, env);
    active = false;
    return status;
}

static __attribute__((destructor)) void end(void)
{
    const char *path = getenv("FAULT_LOG");

    active = false;
    FILE *f = path != NULL ? fopen(path, "w") : NULL;
    if (f == NULL)
        return;
    for (int k = 0; k < N_KINDS; k++)
        fprintf(f, "%s %lu\n", names[k], (unsigned long)n_calls[k]);
    fclose(f);
}

/* Whether the code is in a library that does not survive a failure (OpenSSL 3.0 takes a lock that
 * it could not make). */
static bool is_spared(const void *code)
{
    Dl_info info;

    return dladdr(code, &info) != 0 && info.dli_fname != NULL &&
           (strstr(info.dli_fname, "libcrypto") != NULL ||
            strstr(info.dli_fname, "libssl") != NULL);
}

/* Counts a call from `caller`; true: the call must fail, and errno is set. */
static bool fails(enum kind k, int error, const void *caller)
{
    if (!active)
        return false;
    unsigned long n = atomic_fetch_add(&n_calls[k], 1) + 1;
    if (k != kind || (and_on ? n < nth : n != nth))
        return false;
    if (is_spared(caller))
        return false;
    errno = error;
    return true;
}

/* Returns the function that this library replaces. */
static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* Every program's start calls this function. */
int __libc_start_main(int (*entry)(int, char **, char **), int argc, char **argv,
                      void (*init)(void), void (*fini)(void), void (*rtld_fini)(void), void *stack)
{
    int (*real)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
                void (*)(void), void *) = next("__libc_start_main");

    program_main = entry;
    return real(run_main, argc, argv, init, fini, rtld_fini, stack);
}

/* ---- Memory ---- */

/* glibc's own functions; dlsym may allocate memory. */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t count, size_t n);
void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
    return fails(FAULT_MALLOC, ENOMEM, __builtin_return_address(0)) ? NULL : __libc_malloc(n);
}

void *calloc(size_t count, size_t n)
{
    return fails(FAULT_MALLOC, ENOMEM, __builtin_return_address(0)) ? NULL
                                                                    : __libc_calloc(count, n);
}

void *realloc(void *p, size_t n)
{
    return fails(FAULT_MALLOC, ENOMEM, __builtin_return_address(0)) ? NULL : __libc_realloc(p, n);
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    static void *(*real)(void *, size_t, int, int, int, off_t);

    if (real == NULL)
        real = next("mmap");
    return fails(FAULT_MMAP, ENOMEM, __builtin_return_address(0))
               ? MAP_FAILED
               : real(at, n, protection, flags, fd, offset);
}

/* ---- Files ---- */

ssize_t read(int fd, void *buf, size_t n)
{
    static ssize_t (*real)(int, void *, size_t);

    if (real == NULL)
        real = next("read");
    if (fails(FAULT_READ, EIO, __builtin_return_address(0)))
        return -1;
    return fails(FAULT_END, 0, __builtin_return_address(0)) ? 0 : real(fd, buf, n);
}

ssize_t pread(int fd, void *buf, size_t n, off_t at)
{
    static ssize_t (*real)(int, void *, size_t, off_t);

    if (real == NULL)
        real = next("pread");
    if (fails(FAULT_READ, EIO, __builtin_return_address(0)))
        return -1;
    return fails(FAULT_END, 0, __builtin_return_address(0)) ? 0 : real(fd, buf, n, at);
}

ssize_t write(int fd, const void *buf, size_t n)
{
    static ssize_t (*real)(int, const void *, size_t);

    if (real == NULL)
        real = next("write");
    if (fails(FAULT_WRITE, ENOSPC, __builtin_return_address(0)))
        return -1;
    return real(fd, buf,
                fails(FAULT_SHORT_WRITE, 0, __builtin_return_address(0)) && n > 1 ? n / 2 : n);
}

int fsync(int fd)
{
    static int (*real)(int);

    if (real == NULL)
        real = next("fsync");
    return fails(FAULT_SYNC, EIO, __builtin_return_address(0)) ? -1 : real(fd);
}

int fdatasync(int fd)
{
    static int (*real)(int);

    if (real == NULL)
        real = next("fdatasync");
    return fails(FAULT_SYNC, EIO, __builtin_return_address(0)) ? -1 : real(fd);
}

int rename(const char *from, const char *to)
{
    static int (*real)(const char *, const char *);

    if (real == NULL)
        real = next("rename");
    return fails(FAULT_RENAME, EACCES, __builtin_return_address(0)) ? -1 : real(from, to);
}

int open(const char *path, int flags, ...)
{
    static int (*real)(const char *, int, ...);
    va_list args;

    if (real == NULL)
        real = next("open");
    va_start(args, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(args, mode_t) : 0;
    va_end(args);
    return fails(FAULT_OPEN, EMFILE, __builtin_return_address(0)) ? -1 : real(path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    static FILE *(*real)(const char *, const char *);

    if (real == NULL)
        real = next("fopen");
    return fails(FAULT_OPEN, EMFILE, __builtin_return_address(0)) ? NULL : real(path, mode);
}

/* ---- Names ---- */

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **result)
{
    static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    const char *seconds = getenv("FAULT_RESOLVE_S");

    if (seconds != NULL && (hints == NULL || !(hints->ai_flags & AI_NUMERICHOST))) {
        sleep((unsigned)strtoul(seconds, NULL, 10));
        return EAI_AGAIN;
    }
    if (real == NULL)
        real = next("getaddrinfo");
    return real(node, service, hints, result);
}

/* ---- Threads ---- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    if (real == NULL)
        real = next("pthread_create");
    return fails(FAULT_THREAD, EAGAIN, __builtin_return_address(0))
               ? EAGAIN
               : real(thread, attr, start, arg);
}
