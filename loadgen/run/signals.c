#include "loadgen/run/bench.h"

#include <unistd.h>

/* Ends the signal thread. Only that thread gets it. */
#define SIGNAL_QUIT SIGUSR1

static void stop(struct signals *s, enum engine_stop how)
{
    struct crew *crew = atomic_load(&s->crew);

    crew_stop(s->control, how);
    if (crew != NULL)
        crew_stop(crew, how);
}

static void *run(void *user)
{
    struct signals *s = user;
    int caught = 0;

    while (sigwait(&s->set, &caught) == 0 && caught != SIGNAL_QUIT) {
        int none = 0;
        int64_t now_ns = clock_now_ns();

        if (atomic_load(&s->n) > 0 && now_ns - s->last_ns < SIGNALS_ONE_NS)
            continue;
        s->last_ns = now_ns;
        atomic_compare_exchange_strong(&s->first, &none, caught);
        /* End the process whatever the run waits for, even a lock. */
        if (atomic_load(&s->n) == 2)
            _exit(128 + caught);
        atomic_store(&s->control->engine->interrupted, true);
        pthread_mutex_lock(&s->lock);
        int n = atomic_fetch_add(&s->n, 1) + 1;
        if (n > 1 || !s->finishing)
            stop(s, n == 1 ? ENGINE_STOP : ENGINE_ABORT);
        pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

bool signals_init(struct signals *s, struct crew *control, struct err *e)
{
    struct sigaction hangup;

    *s = (struct signals){.control = control};
    pthread_mutex_init(&s->lock, NULL);
    sigemptyset(&s->set);
    sigaddset(&s->set, SIGINT);
    sigaddset(&s->set, SIGTERM);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) /* not under nohup */
        sigaddset(&s->set, SIGHUP);
    sigaddset(&s->set, SIGNAL_QUIT);
    pthread_sigmask(SIG_BLOCK, &s->set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file size limit makes an error, like a full disk */
    int failed = pthread_create(&s->thread, NULL, run, s);
    s->started = failed == 0;
    return s->started || err_errno(e, failed, "cannot start a thread");
}

void signals_fini(struct signals *s)
{
    if (!s->started)
        return;
    pthread_kill(s->thread, SIGNAL_QUIT);
    pthread_join(s->thread, NULL);
    pthread_mutex_destroy(&s->lock);
    s->started = false;
}

bool signals_let_finish(struct signals *s)
{
    pthread_mutex_lock(&s->lock);
    bool ok = atomic_load(&s->n) < 2;
    s->finishing = true;
    if (ok)
        atomic_store(&s->control->engine->stop, ENGINE_RUN);
    pthread_mutex_unlock(&s->lock);
    return ok;
}
