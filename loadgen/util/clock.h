/* Time. Only CLOCK_MONOTONIC measures a run. Times in the capture are this time plus a constant
 * offset, which is taken when the run begins, so that a stepped wall clock cannot distort them.
 * Requests are signed with the time of the wall clock, because servers compare it with theirs. */
#ifndef S3_LOADGEN_UTIL_CLOCK_H
#define S3_LOADGEN_UTIL_CLOCK_H

#include "libcommon/units.h"

#include <pthread.h>
#include <time.h>

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

/* CPU time (user and system) of the calling thread in ns. */
static inline int64_t clock_thread_cpu_ns(void)
{
    return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
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

/* Makes a condition whose waits are timed by CLOCK_MONOTONIC. */
void clock_cond_init(pthread_cond_t *c);

/* Waits for the condition with the lock held, at most until until_ns; CLOCK_NEVER: without a
 * time-out. Returns false after a time-out. */
bool clock_cond_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ns);

/* Returns CLOCK_REALTIME - CLOCK_MONOTONIC in ns, from the closest of several pairs of readings. */
int64_t clock_offset_ns(void);

#endif
