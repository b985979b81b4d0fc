#include "loadgen/cmd/commands.h"

#include <string.h>

static enum phase_next next(struct work *k, struct worker *w, struct s3op *op)
{
    struct strbuf *body = &work_own(k, w)->body;
    struct s3op key;
    uint64_t n = 0;

    strbuf_clear(body);
    strbuf_puts(body, "<Delete><Quiet>true</Quiet>");
    pthread_mutex_lock(&k->lock);
    for (; n < (uint64_t)k->o->batch && k->n_objects > 0; n++) {
        work_set_key(k, &k->objects[--k->n_objects], &key);
        strbuf_puts(body, "<Object><Key>");
        strbuf_xml(body, key.key, key.n_key);
        strbuf_puts(body, "</Key></Object>");
    }
    pthread_mutex_unlock(&k->lock);
    strbuf_puts(body, "</Delete>");
    if (n == 0)
        return PHASE_END;
    if (body->failed) {
        work_fail(k, "out of memory");
        return PHASE_END;
    }
    if (k->o->batch == 1) {
        op->kind = S3OP_DELETE;
        memcpy(op->key, key.key, key.n_key + 1);
        op->n_key = key.n_key;
        return PHASE_OP;
    }
    op->kind = S3OP_DELETE_BATCH;
    op->body = body->s;
    op->n_body = body->n;
    op->n_objects = n;
    return PHASE_OP;
}

/* The names are ours but for the prefix. */
static bool init(struct work *k, struct err *e)
{
    return k->o->batch == 1 || strbuf_fits_xml(k->o->prefix, strlen(k->o->prefix)) ||
           err_set(e, "--prefix has a character that XML cannot hold, and so no request to "
                      "delete several objects");
}

static const struct cli_option own_table[] = {
    {"batch", CLI_INT, offsetof(struct options, batch), "N",
     .help = "objects in one request; 1: plain DELETEs", .min = 1, .max = 1000},
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
    COMMAND_DEFAULTS(.n_objects = 25000, .size_bytes = 1024, .batch = 100),
    COMMAND_WORKLOAD(.prepares = true, .records_preparation = true, .next = next, .init = init),
};
