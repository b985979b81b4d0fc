#include "loadgen/load/crew.h"

#include "libcommon/mem.h"

#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

/* Reads up to two numbers from a file of a control group. Returns how many it read. */
static int read_values(const char *group, const char *file, long long *a, long long *b)
{
    char path[8300];

    snprintf(path, sizeof path, "%s/%s", group, file);
    FILE *f = fopen(path, "re");
    int n = f != NULL ? fscanf(f, "%lld %lld", a, b) : 0;
    if (f != NULL)
        fclose(f);
    return n;
}

/* Returns how many CPUs one control group allows, rounded up. No limit is -1 in version 1, "max" in
 * version 2. */
static unsigned cpus_of(const char *group)
{
    long long quota = 0;
    long long period = 0;
    long long none = 0;
    bool known = read_values(group, "cpu.max", &quota, &period) == 2 ||
                 (read_values(group, "cpu.cfs_quota_us", &quota, &none) == 1 &&
                  read_values(group, "cpu.cfs_period_us", &period, &none) == 1);

    if (!known || quota <= 0 || period <= 0)
        return UINT_MAX;
    long long cpus = (quota - 1) / period + 1;
    return cpus < UINT_MAX ? (unsigned)cpus : UINT_MAX;
}

void crew_each_group(const char *groups, const char *root,
                     void (*see)(void *ctx, const char *group), void *ctx)
{
    char line[4096];
    char group[8200];
    FILE *f = fopen(groups, "re");

    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        /* ID:CONTROLLERS:PATH; version 2 has no controllers here */
        char *list = strchr(line, ':');
        char *path = list != NULL ? strchr(list + 1, ':') : NULL;
        if (path == NULL)
            continue;
        *list = *path = ',';
        bool has_cpu = memmem(list, (size_t)(path + 1 - list), ",cpu,", 5) != NULL;
        if (!has_cpu && path != list + 1)
            continue;
        size_t n_mount = strlen(root) + (has_cpu ? strlen("/cpu") : 0);
        snprintf(group, sizeof group, "%s%s%.*s", root, has_cpu ? "/cpu" : "",
                 (int)strcspn(path + 1, "\n"), path + 1);
        /* the group, then its ancestors */
        for (char *slash = group; slash != NULL;) {
            see(ctx, group);
            slash = strrchr(group + n_mount, '/');
            if (slash != NULL)
                *slash = '\0';
        }
    }
    if (f != NULL)
        fclose(f);
}

static void take_least(void *ctx, const char *group)
{
    unsigned *least = ctx;
    unsigned n = cpus_of(group);

    *least = n < *least ? n : *least;
}

unsigned crew_quota_cpus(const char *groups, const char *root)
{
    unsigned least = UINT_MAX;

    crew_each_group(groups, root, take_least, &least);
    return least;
}

unsigned crew_n_loops(unsigned n_workers, unsigned n_threads)
{
    cpu_set_t cpus;
    unsigned n = 1;

    if (n_threads > 0)
        return n_threads < n_workers ? n_threads : n_workers;
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        n = (unsigned)CPU_COUNT(&cpus);
    unsigned quota = crew_quota_cpus("/proc/self/cgroup", "/sys/fs/cgroup");
    n = n < quota ? n : quota;
    return n < n_workers ? n : n_workers;
}

bool crew_init(struct crew *c, struct engine *g, struct recorder *recorder, unsigned n_loops,
               uint32_t first_thread, unsigned n_workers, struct err *e)
{
    *c = (struct crew){.engine = g};
    if (!mem_cleared(&c->loops, n_loops, e))
        return false;
    for (; c->n_loops < n_loops; c->n_loops++) {
        unsigned i = c->n_loops;
        unsigned n = n_workers / n_loops + (i < n_workers % n_loops);

        if (!loop_init(&c->loops[i], g, i, recorder, first_thread, n, e)) {
            crew_fini(c);
            return false;
        }
        first_thread += n;
    }
    return true;
}

void crew_fini(struct crew *c)
{
    for (unsigned i = 0; i < c->n_loops; i++)
        loop_fini(&c->loops[i]);
    free(c->loops);
    *c = (struct crew){0};
}

void crew_record(struct crew *c, bool on)
{
    for (unsigned i = 0; i < c->n_loops; i++)
        c->loops[i].recording = on;
}

void crew_stop(struct crew *c, enum engine_stop stop)
{
    int old = atomic_load(&c->engine->stop);

    while (old < (int)stop && !atomic_compare_exchange_weak(&c->engine->stop, &old, (int)stop))
        ;
    for (unsigned i = 0; i < c->n_loops; i++)
        loop_wake(&c->loops[i]);
    eventfd_write(c->engine->event, 1);
}

struct thread {
    pthread_t id;
    struct crew *crew;
    struct loop *loop;
};

static void *run_loop(void *user)
{
    struct thread *t = user;

    loop_run(t->loop);
    atomic_fetch_sub(&t->crew->n_busy, 1);
    eventfd_write(t->crew->engine->event, 1);
    return NULL;
}

bool crew_run(struct crew *c, struct phase *phase, int (*tick)(void *ctx), void *ctx, struct err *e)
{
    struct thread *threads = NULL;
    unsigned n = 0;
    bool ok = mem_cleared(&threads, c->n_loops, e);

    atomic_store(&c->n_busy, 0);
    for (; ok && n < c->n_loops; n++) {
        threads[n] = (struct thread){.crew = c, .loop = &c->loops[n]};
        c->loops[n].phase = phase;
        atomic_store(&c->loops[n].cpu_ns, 0);
        atomic_fetch_add(&c->n_busy, 1);
        int failed = pthread_create(&threads[n].id, NULL, run_loop, &threads[n]);
        if (failed != 0) {
            atomic_fetch_sub(&c->n_busy, 1);
            ok = err_errno(e, failed, "cannot start a thread");
            crew_stop(c, ENGINE_ABORT);
            break;
        }
    }
    for (int wait_ms = 0; atomic_load(&c->n_busy) > 0; wait_ms = tick(ctx)) {
        struct pollfd p = {.fd = c->engine->event, .events = POLLIN};
        eventfd_t value;

        if (poll(&p, 1, wait_ms) > 0)
            eventfd_read(c->engine->event, &value);
    }
    for (unsigned i = 0; i < n; i++) {
        pthread_join(threads[i].id, NULL);
        const char *why = c->loops[i].error.msg;
        ok = ok && (*why == '\0' || err_set(e, "%s", why));
    }
    free(threads);
    return ok;
}

struct crew_counts crew_counts(const struct crew *c)
{
    struct crew_counts n = {0};

    for (unsigned i = 0; i < c->n_loops; i++) {
        const struct loop *l = &c->loops[i];

        n.n_connected -= atomic_load_explicit(&l->pool.n_connecting, memory_order_relaxed);
        n.n_running += atomic_load_explicit(&l->n_running, memory_order_relaxed);
        n.n_connects += atomic_load_explicit(&l->pool.n_connects, memory_order_relaxed);
        n.n_retransmits += atomic_load_explicit(&l->pool.n_retransmits, memory_order_relaxed);
        n.n_resent += atomic_load_explicit(&l->n_resent, memory_order_relaxed);
        n.digest_ns += atomic_load_explicit(&l->digest_ns, memory_order_relaxed);
        n.most_cpu_ns =
            int64_max(n.most_cpu_ns, atomic_load_explicit(&l->cpu_ns, memory_order_relaxed));
    }
    n.n_connected += n.n_running;
    return n;
}
