#include "loadgen/bucket/bucket.h"

#include <string.h>

/* The number of the control worker. It makes its random choices differ from those of all others. */
#define CONTROL_THREAD UINT32_MAX

/* The pause before a retry. */
#define PAUSE_NS (200 * NS_PER_MS)

/* If no answer has ever come, we give up after this time: the port may speak TLS, or no HTTP at
 * all. */
#define UNHEARD_NS (2 * NS_PER_S)

/* Hosts to try before we conclude that none answers. */
#define TRIES_MAX 16

static enum phase_next next(void *ctx, struct worker *w, struct s3op *op)
{
    struct control *c = ctx;

    (void)w;
    if (c->op == NULL)
        return PHASE_END;
    if (c->retry_ns > clock_now_ns())
        return PHASE_WAIT;
    *op = *c->op;
    op->recorded = false;
    return PHASE_OP;
}

static void done(void *ctx, struct worker *w, const struct s3op *op, const struct worker_result *r)
{
    struct control *c = ctx;

    (void)w;
    (void)op;
    c->result = *r;
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

bool control_run(struct control *c, const struct s3op *op, struct err *e)
{
    const struct worker_result *r = &c->result;
    size_t n_hosts = c->crew.engine->hosts.n;
    size_t n_tries = n_hosts < TRIES_MAX ? n_hosts : TRIES_MAX;
    struct err first = {0};

    for (size_t i = 1;; i++) {
        c->op = op;
        c->result = (struct worker_result){0};
        if (!crew_run(&c->crew, &c->phase, c->tick, c->tick_ctx, e))
            return false;
        if (c->op != NULL) {
            c->op = NULL;
            return err_set(e, "interrupted");
        }
        bool answered = r->cut || r->status != 0;
        c->heard |= r->status != 0;
        if (!worker_may_pass(r) || r->error[0] == '\0')
            c->failing_since_ns = 0;
        else if (c->failing_since_ns == 0)
            c->failing_since_ns = r->start_ns;
        if (r->error[0] == '\0')
            return true;
        int64_t patience_ns = c->heard ? c->give_up_ns : int64_min(UNHEARD_NS, c->give_up_ns);
        if (i == 1)
            err_set(&first, "%s", r->error);
        /* If one server answered, all others would give the same answer. */
        if (!worker_may_pass(r) ||
            (answered ? r->end_ns - c->failing_since_ns >= patience_ns : i >= n_tries))
            break;
        c->retry_ns = answered ? r->end_ns + PAUSE_NS : 0;
    }
    /* Servers send the string to sign, which does not help users. */
    if (strstr(r->error, "SignatureDoesNotMatch") != NULL)
        return err_set(e,
                       "the server refuses the signature (HTTP %d): is the secret key right, and "
                       "the region? Or does a proxy change the Host header?",
                       r->status);
    bool tls = c->crew.engine->op_style.tls;
    bool wrong = tls ? strncmp(r->error, "TLS: ", 5) == 0 && strstr(r->error, "certificate") == NULL
                     : strstr(r->error, "closed before") || strstr(r->error, "reset by peer");
    bool malformed = strstr(r->error, "AuthorizationHeaderMalformed") != NULL;
    const char *hint = op->path != NULL ? ""
                       : malformed      ? " (is --region right?)"
                       : !wrong         ? ""
                       : tls            ? " (is --tls right for this port?)"
                                        : " (is --tls missing?)";
    bool other = strcmp(first.msg, r->error) != 0;
    return err_set(e, "%s%s%s%s", first.msg, other ? "; tried again: " : "", other ? r->error : "",
                   hint);
}
