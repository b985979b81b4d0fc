/* Time. A run is measured by CLOCK_MONOTONIC alone; what is recorded is that time plus one offset,
 * taken when the run began, so that a stepped wall clock cannot bend it. Requests are signed with
 * the wall clock, as servers compare it with theirs. */
#ifndef S3_LOADGEN_UTIL_CLOCK_H
#define S3_LOADGEN_UTIL_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define CLOCK_NS_PER_S  INT64_C(1000000000)
#define CLOCK_NS_PER_MS INT64_C(1000000)

/* Later than any time. */
#define CLOCK_NEVER INT64_MAX

static inline int64_t clock_read_ns(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return t.tv_sec * CLOCK_NS_PER_S + t.tv_nsec;
}

/* CLOCK_MONOTONIC in ns. */
static inline int64_t clock_now_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC);
}

/* CLOCK_REALTIME in ns since 1970: what the world takes for the time now. */
static inline int64_t clock_real_ns(void)
{
    return clock_read_ns(CLOCK_REALTIME);
}

/* CPU time (user and system) of the calling thread in ns. */
static inline int64_t clock_thread_cpu_ns(void)
{
    return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Waits for less than a second. */
static inline void clock_sleep_ns(int64_t ns)
{
    nanosleep(&(const struct timespec){0, ns}, NULL);
}

static inline int64_t clock_earlier(int64_t a_ns, int64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

/* A condition whose waits end by CLOCK_MONOTONIC. */
void clock_cond_init(pthread_cond_t *c);

/* Waits for it with the lock held, at most until then; CLOCK_NEVER: as long as it takes. False: the
 * time has come. */
bool clock_cond_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ns);

/* CLOCK_REALTIME less CLOCK_MONOTONIC in ns, from the closest of several pairs of readings. */
int64_t clock_offset_ns(void);

#endif
