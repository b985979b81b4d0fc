#include "loadgen/run/control.h"

#include "loadgen/util/clock.h"

/* Random choices of the worker that serves us differ from those of all others. */
#define CONTROL_THREAD UINT32_MAX

/* Hosts that are tried before it is said that none answers. */
#define TRIES_MAX 16

/* Between two calls of poll. */
#define PAUSE_NS (1 * CLOCK_NS_PER_MS)

static enum phase_next next(void *ctx, struct worker *w, struct s3op *op)
{
    struct control *c = ctx;

    (void)w;
    if (c->op == NULL)
        return PHASE_END;
    *op = *c->op;
    op->recorded = false;
    return PHASE_OP;
}

static void done(void *ctx, struct worker *w, const struct s3op *op, const struct worker_result *r)
{
    struct control *c = ctx;

    (void)w;
    (void)op;
    *c->result = *r;
    c->op = NULL;
}

bool control_init(struct control *c, struct engine *g, void (*poll)(void *ctx), void *ctx,
                  struct err *e)
{
    *c = (struct control){.phase = {.next = next, .done = done, .ctx = c, .end_ns = CLOCK_NEVER},
                          .poll = poll,
                          .poll_ctx = ctx};
    return loop_init(&c->loop, g, 0, NULL, CONTROL_THREAD, 1, e);
}

void control_fini(struct control *c)
{
    loop_fini(&c->loop);
}

struct turn {
    struct control *control;
    struct err error;
    bool ok;
    atomic_bool over;
};

static void *run_loop(void *user)
{
    struct turn *t = user;

    t->ok = loop_run(&t->control->loop, &t->control->phase, &t->error);
    atomic_store(&t->over, true);
    return NULL;
}

static bool run(struct control *c, struct err *e)
{
    static const struct timespec pause = {0, PAUSE_NS};
    struct turn t = {.control = c};
    pthread_t thread;

    if (c->poll == NULL)
        return loop_run(&c->loop, &c->phase, e);
    int failed = pthread_create(&thread, NULL, run_loop, &t);
    if (failed != 0)
        return err_errno(e, failed, "cannot start a thread");
    while (!atomic_load(&t.over)) {
        nanosleep(&pause, NULL);
        c->poll(c->poll_ctx);
    }
    pthread_join(thread, NULL);
    return t.ok || err_set(e, "%s", t.error.msg);
}

bool control_run(struct control *c, const struct s3op *op, struct worker_result *r, struct err *e)
{
    size_t n_hosts = c->loop.services.engine->hosts.n;
    size_t n_tries = n_hosts < TRIES_MAX ? n_hosts : TRIES_MAX;

    for (size_t i = 0; i < n_tries; i++) {
        c->op = op;
        c->result = r;
        r->status = 0;
        if (!run(c, e))
            return false;
        if (c->op != NULL) {
            c->op = NULL;
            return err_set(e, "interrupted");
        }
        if (r->error[0] == '\0')
            return true;
        /* Where a server answered, another would answer the same. */
        if (r->status != 0)
            break;
    }
    return err_set(e, "%s", r->error);
}
