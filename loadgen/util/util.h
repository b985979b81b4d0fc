#ifndef S3_LOADGEN_UTIL_UTIL_H
#define S3_LOADGEN_UTIL_UTIL_H

#include "libcommon/err.h"
#include "libcommon/units.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* Time. Only CLOCK_MONOTONIC measures a run. Times in the capture are this time plus a constant
 * offset, which is taken when the run begins, so that a stepped wall clock cannot distort them.
 * Requests are signed with the time of the wall clock, because servers compare it with theirs. */

/* Later than any time. */
#define CLOCK_NEVER INT64_MAX

static inline int64_t clock_read_ns(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* CLOCK_MONOTONIC in ns. */
static inline int64_t clock_now_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC);
}

/* CLOCK_REALTIME in ns since 1970: the wall clock. */
static inline int64_t clock_real_ns(void)
{
    return clock_read_ns(CLOCK_REALTIME);
}

/* How long the calling thread ran, and how long it was ready to run and had no CPU, in ns, by
 * /proc/thread-self/schedstat below `root` ("" except in tests). -1: unknown. */
struct clock_share {
    int64_t ran_ns, waited_ns;
};
struct clock_share clock_thread_share(const char *root);

/* Sleeps for ns, which must be less than a second. */
static inline void clock_sleep_ns(int64_t ns)
{
    nanosleep(&(const struct timespec){0, ns}, NULL);
}

/* Waits for the condition with the lock held, at most until until_ns; CLOCK_NEVER: without a
 * time-out. Returns false after a time-out. */
bool clock_cond_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ns);

/* Returns CLOCK_REALTIME - CLOCK_MONOTONIC in ns, from the closest of several pairs of readings. */
int64_t clock_offset_ns(void);

/* Seeded random numbers with many independent streams, by SplitMix64 (splitmix.h). Do not use them
 * for secrets. */

struct rng {
    uint64_t at;
};

/* Starts stream `stream` of `seed`. Equal arguments give equal numbers on any machine. Each stream
 * begins at a place of its own in the generator's one sequence of 2^64 numbers. */
void rng_init(struct rng *r, uint64_t seed, uint64_t stream);

/* Returns a number uniform on 0..2^64-1. */
uint64_t rng_next(struct rng *r);

/* Returns a number uniform on 0..n-1, without bias; 0 if n is 0. */
uint64_t rng_below(struct rng *r, uint64_t n);

/* Returns a number uniform on [0, 1), a multiple of 2^-53. */
double rng_unit(struct rng *r);

/* Text that grows, or that fills a given buffer. Once an addition does not fit, `failed` is set and
 * nothing more is added. */

struct strbuf {
    char *s; /* n bytes and a NUL; NULL if nothing was added yet */
    size_t n;
    size_t cap;
    bool failed; /* out of memory, or the buffer is full */
    bool fixed;  /* s is the caller's */
};

/* Returns an empty strbuf in a borrowed buffer of size >= 1. Other strbufs start as zeros. */
struct strbuf strbuf_on(char *buffer, size_t size);
void strbuf_fini(struct strbuf *b);

/* Empties the text but keeps its memory. */
void strbuf_clear(struct strbuf *b);

/* Makes room for n more bytes and a NUL. Returns false, and sets `failed`, if there is none. */
bool strbuf_grow(struct strbuf *b, size_t n);

static inline bool strbuf_reserve(struct strbuf *b, size_t n)
{
    return (b->cap - b->n > n && !b->failed) || strbuf_grow(b, n);
}

static inline void strbuf_put(struct strbuf *b, const char *data, size_t n)
{
    if (!strbuf_reserve(b, n))
        return;
    memcpy(b->s + b->n, data, n);
    b->n += n;
    b->s[b->n] = '\0';
}

static inline void strbuf_puts(struct strbuf *b, const char *s)
{
    strbuf_put(b, s, strlen(s));
}

/* Adds all texts; NULL ends them. */
void strbuf_add(struct strbuf *b, ...) __attribute__((sentinel));

/* Replaces the text. */
static inline void strbuf_set(struct strbuf *b, const char *data, size_t n)
{
    strbuf_clear(b);
    strbuf_put(b, data, n);
}

void strbuf_printf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Adds n bytes as XML text: & < > " ' and TAB, LF, CR become references. XML has no form for other
 * bytes below space: if there is one, adds nothing and returns false. */
bool strbuf_xml(struct strbuf *b, const char *s, size_t n);
bool strbuf_fits_xml(const char *s, size_t n);

/* What the kernel reports in files of /proc and /sys, below `root` ("" except in tests). Read the
 * first bytes of a file (false: it cannot be read, and `text` is unchanged); the number behind the
 * first `key` in it (-1: unknown). */
bool kernel_text(const char *root, const char *path, char *text, size_t size);
int64_t kernel_number(const char *root, const char *path, const char *key);

/* What the control groups of this process, and their ancestors, do to its CPUs. /proc and /sys are
 * in the folder `root`, which is "" except in tests. */
struct cgroups {
    unsigned cpus; /* the least quota, rounded up; UINT_MAX: there is none */
    /* How often, and for how long, quotas stopped threads: sums over CPUs and groups. -1:
     * unknown. */
    int64_t n_throttled, throttled_ns;
};
struct cgroups cgroups_read(const char *root);

/* Runs s3analyze from the folder of this program. */

/* Whether s3analyze is there. If not, *e says that `what` needs it. */
bool sibling_is_there(const char *what, struct err *e);

/* Takes the variables that may hold a secret out of the environment: those with KEY, SECRET, TOKEN
 * or PASS in their names, in any case, and URLs with a password. */
void sibling_drop_secrets(void);

/* For a child: becomes a command of s3analyze, without secrets in its environment, or exits with
 * status 127. `words` ends with NULL. */
_Noreturn void sibling_become(char *const *words);

/* Runs such a command. Standard output goes to the file descriptor `to`, or SIBLING_NOWHERE. While
 * the command runs, `tick` is called repeatedly; it returns in how many ms (less than 1,000) to
 * call it next. Returns the exit status of the command; -1: there is no such program, or a signal
 * ended it. */
#define SIBLING_NOWHERE (-1)
int sibling_run(char *const *words, int to, int (*tick)(void *ctx), void *ctx);

#endif
