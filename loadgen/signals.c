#include "signals.h"

/* Ends the thread; it is sent to it alone. */
#define SIGNAL_QUIT SIGUSR1

static void stop(struct signals *s, enum engine_stop how)
{
    struct crew *crew = atomic_load(&s->crew);

    if (crew != NULL)
        crew_stop(crew, how);
    else
        atomic_store(&s->engine->stop, (int)how);
    loop_wake(s->control);
}

static void *run(void *user)
{
    struct signals *s = user;
    int caught = 0;

    while (sigwait(&s->set, &caught) == 0 && caught != SIGNAL_QUIT) {
        int none = 0;
        atomic_compare_exchange_strong(&s->first, &none, caught);
        int n = atomic_fetch_add(&s->n, 1) + 1;
        stop(s, n == 1 ? ENGINE_STOP : ENGINE_ABORT);
    }
    return NULL;
}

bool signals_init(struct signals *s, struct engine *g, struct loop *control, struct err *e)
{
    struct sigaction hangup;

    *s = (struct signals){.engine = g, .control = control};
    sigemptyset(&s->set);
    sigaddset(&s->set, SIGINT);
    sigaddset(&s->set, SIGTERM);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) /* not under nohup */
        sigaddset(&s->set, SIGHUP);
    sigaddset(&s->set, SIGNAL_QUIT);
    pthread_sigmask(SIG_BLOCK, &s->set, NULL);
    signal(SIGPIPE, SIG_IGN);
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
    s->started = false;
}

bool signals_let_finish(struct signals *s)
{
    atomic_store(&s->engine->stop, ENGINE_RUN);
    /* One that came meanwhile is not to be lost. */
    if (atomic_load(&s->n) > 1)
        stop(s, ENGINE_ABORT);
    return atomic_load(&s->n) < 2;
}
