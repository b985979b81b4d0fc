#include "loadgen/cmd/commands.h"

#include <string.h>

static enum phase_next next(struct work *k, struct worker *w, struct s3op *op)
{
    struct strbuf *body = &work_own(k, w)->body;

    op->n_objects = 0;
    strbuf_clear(body);
    pthread_mutex_lock(&k->lock);
    while (op->n_objects < (uint64_t)k->o->request.batch && k->n_objects > 0) {
        work_ask(k, S3OP_DELETE, &k->objects[--k->n_objects], op);
        work_add_to_batch(body, op->key, "", op);
    }
    size_t first = k->n_objects;
    pthread_mutex_unlock(&k->lock);
    if (op->n_objects == 0)
        return PHASE_END;
    work_own(k, w)->first = first;
    if (k->o->request.batch == 1)
        return PHASE_OP;
    op->n_key = 0;
    op->key[0] = '\0';
    return work_end_batch(k, body, op);
}

/* Nothing joins the pool, so the objects of the request are still behind its end. */
static void done(struct work *k, struct worker *w, const struct s3op *op,
                 const struct worker_result *r)
{
    for (size_t i = 0; i < op->n_objects; i++)
        work_end_delete(k, &k->objects[work_own(k, w)->first + i], op, r);
}

/* Only --prefix may have characters that XML cannot hold: the rest of a key is ours. */
static bool init(struct work *k, struct err *e)
{
    return k->o->request.batch == 1 || strbuf_fits_xml(k->o->prefix, strlen(k->o->prefix)) ||
           err_set(e, "--prefix has a character that XML cannot hold, and so no request to "
                      "delete several objects");
}

static const struct cli_option own_table[] = {
    SETTING("batch", CLI_INT, request.batch, "N", "objects in one request; 1: plain DELETEs",
            .min = 1, .max = 1000),
    {0},
};

const struct cli_command cmd_delete = {
    .name = "delete",
    .summary = "delete objects, many with a request",
    .text = "Uploads --objects objects, then deletes them, --batch with each request, until none "
            "is left or --duration is over. The uploads are recorded too.",
    COMMAND_GROUPS({"Deleting", NULL, options_pool, 0}, {"Deleting", NULL, own_table, 0},
                   {"Objects", NULL, options_size, 0}),
    COMMAND_EXAMPLES(
        {"s3load delete --objects 100000 --batch 1000", "as many as S3 allows at once"}),
    COMMAND_DEFAULTS(.data.n_objects = 25000, .data.size_bytes = 1024, .request.batch = 100),
    COMMAND_WORKLOAD(.prepares = true, .no_payload = true, .next = next, .done = done,
                     .init = init),
};
