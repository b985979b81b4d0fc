#include "loadgen/cmd/commands.h"

#include <stdlib.h>

/* A new version of an object of the pool, or a new object if that is empty. */
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

/* The pool holds versions; one is out of it while a request uses it. */
static enum phase_next next(struct work *k, struct worker *w, struct s3op *op)
{
    struct work_object *o = &work_own(k, w)->object;
    enum work_card card = work_deal(k, w);

    if (card != WORK_PUT) {
        enum phase_next what = work_use(k, w, card, op);
        if (w->card != WORK_PUT)
            return what;
    }
    *o = new_version(k, w);
    work_put(k, o, op);
    return PHASE_OP;
}

static void done(struct work *k, struct worker *w, const struct s3op *op,
                 const struct worker_result *r)
{
    struct work_object *o = &work_own(k, w)->object;

    if (op->kind == S3OP_GET || op->kind == S3OP_STAT ||
        (op->kind == S3OP_DELETE && work_was_put_off(r)))
        work_return(k, o);
    else if (op->kind == S3OP_DELETE)
        free(o->version);
    else if (r->error[0] == '\0')
        work_add(k, o, r->version);
    else
        work_upload_failed(k);
    o->version = NULL;
}

static const struct cli_option bucket_table[] = {
    {"enable-versioning", CLI_FLAG, offsetof(struct options, enable_versioning), NULL,
     .help = "switch it on in a bucket of others, too"},
    {0},
};

const struct cli_command cmd_versioned = {
    .name = "versioned",
    .summary = "a mix of requests for versions of objects",
    .text = "Uploads --versions versions of each of --objects objects, then reads, stats, adds and "
            "deletes single versions in the shares of --get-distrib and so on, until --duration is "
            "over. Versioning is switched on in a bucket that s3load makes or finds empty, in "
            "others only with --enable-versioning. The first uploads are not recorded.",
    COMMAND_GROUPS({"Mix", NULL, options_pool, 0}, {"Mix", NULL, options_versions, 0},
                   {"Mix", NULL, options_shares, 0}, {"Objects", NULL, options_size, 0},
                   {"Bucket", "data", bucket_table, 0}),
    COMMAND_EXAMPLES({"s3load versioned --objects 100 --versions 10 --obj.size 1MiB",
                      "1,000 versions to begin with"}),
    COMMAND_DEFAULTS(.n_objects = 250, .n_versions = 5, .size_bytes = INT64_C(10) << 20,
                     .get_share = 45, .stat_share = 30, .put_share = 15, .delete_share = 10),
    COMMAND_WORKLOAD(.prepares = true, .versions = true, .mixed = true, .next = next, .done = done,
                     .init = work_init_deck),
};
