#include "loadgen/load/load.h"

#include "libcommon/mem.h"
#include "loadgen/util/util.h"

#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>

unsigned crew_n_loops(unsigned n_workers, unsigned n_threads)
{
    cpu_set_t cpus;
    unsigned n = 1;

    if (n_threads > 0)
        return n_threads < n_workers ? n_threads : n_workers;
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        n = (unsigned)CPU_COUNT(&cpus);
    unsigned quota = cgroups_cpus("");
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
    engine_set_stop(c->engine, stop);
    for (unsigned i = 0; i < c->n_loops; i++)
        eventfd_write(c->loops[i].wake, 1);
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
        n.waited_ns += atomic_load_explicit(&l->waited_ns, memory_order_relaxed);
        n.digest_ns += atomic_load_explicit(&l->digest_ns, memory_order_relaxed);
        n.most_cpu_ns =
            int64_max(n.most_cpu_ns, atomic_load_explicit(&l->cpu_ns, memory_order_relaxed));
    }
    n.n_connected += n.n_running;
    return n;
}
