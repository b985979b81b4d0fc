#include "loadgen/cmd/commands.h"

/* Lists the worker's own folder, or all objects if there are no folders. */
static enum phase_next next(struct work *k, struct worker *w, struct s3op *op)
{
    op->kind = S3OP_LIST;
    op->n_objects = 0;
    op->max_keys = (uint64_t)k->o->request.max_keys;
    const char *all = k->o->data.list_existing ? k->o->prefix : k->root;
    if (k->o->data.no_prefix || k->o->data.list_existing)
        s3op_set_key(op, all);
    else
        work_set_dir(op, all, k->first_dir + w->thread);
    /* Of a bucket of others we know only that it has an object, not how many. */
    op->min_objects = k->o->data.list_existing ? 1
                      : k->o->data.no_prefix   ? k->n_objects
                                               : work_own(k, w)->n_uploaded;
    return PHASE_OP;
}

static const struct cli_option own_table[] = {
    SETTING("list-existing", CLI_FLAG, data.list_existing, NULL,
            "list what the bucket holds, upload nothing"),
    SETTING("max-keys", CLI_INT, request.max_keys, "N", "keys in a page of the list", .min = 1,
            .max = 1000),
    {0},
};

const struct cli_command cmd_list = {
    .name = "list",
    .summary = "list objects",
    .text = "Uploads --objects objects under a prefix per worker, then lists these prefixes to "
            "their ends, page by page, until --duration is over. A row stands for a whole list: "
            "its objects are those listed, its first byte is that of the first object. The uploads "
            "are recorded too.",
    COMMAND_GROUPS({"Pool", NULL, options_pool, 0}, {"Pool", NULL, own_table, 0},
                   {"Objects", NULL, options_size, 0}),
    COMMAND_EXAMPLES(
        {"s3load list --objects 100000 --concurrent 10", "lists of 10,000 objects each"}),
    COMMAND_DEFAULTS(.data.n_objects = 10000, .data.size_bytes = 1024),
    COMMAND_WORKLOAD(.prepares = true, .no_payload = true, .next = next),
};
