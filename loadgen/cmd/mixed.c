#include "loadgen/cmd/commands.h"

#include <stdlib.h>

/* A further version of an object of the pool, or a new object if that is empty. */
static struct work_object new_version(struct work *k, struct worker *w)
{
    struct work_object o = work_new_object(k, w);

    pthread_mutex_lock(&k->lock);
    if (k->n_objects > 0) {
        const struct work_object *old = &k->objects[rng_below(&w->rng, k->n_objects)];
        o.id = old->id;
        o.dir = old->dir;
    }
    pthread_mutex_unlock(&k->lock);
    return o;
}

/* The pool holds objects, or versions of them; one is out of it while a request uses it. */
enum phase_next cmd_mixed_next(struct work *k, struct worker *w, struct s3op *op)
{
    struct work_object *o = &work_own(k, w)->object;
    enum work_card card = work_deal(k, w);

    if (card != WORK_PUT) {
        enum phase_next what = work_use(k, w, card, op);
        if (w->card != WORK_PUT)
            return what;
    }
    *o = k->kind->versions ? new_version(k, w) : work_new_object(k, w);
    work_put(k, o, op);
    return PHASE_OP;
}

/* What failed to be deleted may be gone, unless the server only put it off; what failed to be
 * stored may be there: both stay out of the pool. */
void cmd_mixed_done(struct work *k, struct worker *w, const struct s3op *op,
                    const struct worker_result *r)
{
    struct work_object *o = &work_own(k, w)->object;
    bool put_off = r->error[0] != '\0' && (r->status == 503 || r->status == 429);

    if (op->kind == S3OP_GET || op->kind == S3OP_STAT || (op->kind == S3OP_DELETE && put_off))
        work_return(k, o);
    else if (op->kind == S3OP_DELETE)
        free(o->version);
    else if (r->error[0] == '\0')
        work_add(k, o, k->kind->versions ? r->version : "");
    else
        work_upload_failed(k);
    o->version = NULL;
}

const struct cli_command cmd_mixed = {
    .name = "mixed",
    .summary = "a mix of downloads, uploads, HEADs and deletions",
    .text =
        "Uploads --objects objects and works on them until --duration is over. New objects join "
        "the pool, deleted ones leave it; none is deleted while a request reads it. Requests are "
        "dealt in the shares of --get-distrib and so on. The first uploads are not recorded.",
    COMMAND_GROUPS({"Mix", NULL, options_pool, 0}, {"Mix", NULL, options_shares, 0},
                   {"Objects", NULL, options_size, 0}),
    COMMAND_EXAMPLES({"s3load mixed --duration 1m --rate 500",
                      "500 requests per second, whatever the server does"}),
    COMMAND_DEFAULTS(.n_objects = 2500, .size_bytes = INT64_C(10) << 20, .get_share = 45,
                     .stat_share = 30, .put_share = 15, .delete_share = 10),
    COMMAND_WORKLOAD(.prepares = true, .mixed = true, .next = cmd_mixed_next,
                     .done = cmd_mixed_done, .init = work_init_deck),
};
