#include "loadgen/run/control.h"

#include "loadgen/util/clock.h"

/* Random choices of the worker that serves us differ from those of all others. */
#define CONTROL_THREAD UINT32_MAX

/* Hosts that are tried before it is said that none answers. */
#define TRIES_MAX 16

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

bool control_init(struct control *c, struct engine *g, int (*tick)(void *ctx), void *ctx,
                  struct err *e)
{
    *c = (struct control){.phase = {.next = next, .done = done, .ctx = c, .end_ns = CLOCK_NEVER},
                          .tick = tick,
                          .tick_ctx = ctx};
    return crew_init(&c->crew, g, NULL, 1, CONTROL_THREAD, 1, e);
}

void control_fini(struct control *c)
{
    crew_fini(&c->crew);
}

bool control_run(struct control *c, const struct s3op *op, struct worker_result *r, struct err *e)
{
    size_t n_hosts = c->crew.engine->hosts.n;
    size_t n_tries = n_hosts < TRIES_MAX ? n_hosts : TRIES_MAX;

    for (size_t i = 0, skewed = 0; i < n_tries + skewed; i++) {
        c->op = op;
        c->result = r;
        r->status = 0;
        if (!crew_run(&c->crew, &c->phase, c->tick, c->tick_ctx, e))
            return false;
        if (c->op != NULL) {
            c->op = NULL;
            return err_set(e, "interrupted");
        }
        if (r->error[0] == '\0')
            return true;
        /* Where a server answered, another would answer the same; unless it told its time. */
        if (r->status != 0 && (skewed > 0 || !r->skewed))
            break;
        skewed += r->skewed;
    }
    return err_set(e, "%s", r->error);
}
