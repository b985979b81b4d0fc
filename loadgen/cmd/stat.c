#include "loadgen/cmd/commands.h"

static enum phase_next next(struct work *k, struct worker *w, struct s3op *op)
{
    work_ask(k, S3OP_STAT, &k->objects[rng_below(&w->rng, k->n_objects)], op);
    return PHASE_OP;
}

const struct cli_command cmd_stat = {
    .name = "stat",
    .summary = "ask for the metadata of objects (HEAD)",
    .text = "Uploads --objects objects, then asks for the metadata of objects chosen at random "
            "until --duration is over. The uploads are recorded too.",
    COMMAND_GROUPS({"Pool", NULL, options_pool, 0}, {"Pool", NULL, options_existing, 0},
                   {"Objects", NULL, options_size, 0}),
    COMMAND_EXAMPLES({"s3load stat --autoterm", "metadata of objects, until the speed is stable"}),
    COMMAND_DEFAULTS(.data.n_objects = 10000, .data.size_bytes = 1024),
    COMMAND_WORKLOAD(.prepares = true, .no_payload = true, .next = next),
};
