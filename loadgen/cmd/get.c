#include "loadgen/cmd/commands.h"

#include <math.h>

static enum phase_next next(struct work *k, struct worker *w, struct s3op *op)
{
    work_get(k, w, &k->objects[rng_below(&w->rng, k->n_objects)], op);
    return PHASE_OP;
}

static const struct cli_option own_table[] = {
    SETTING("range", CLI_FLAG, request.range, NULL, "read a random part of an object"),
    SETTING("range-size", CLI_SIZE, request.range_bytes, "SIZE", "read parts of this size",
            .min = 1, .max = INFINITY),
    {0},
};

const struct cli_command cmd_get = {
    .name = "get",
    .summary = "download objects",
    .text = "Uploads --objects objects, then downloads objects chosen at random until --duration "
            "is over. The uploads are recorded too.",
    COMMAND_GROUPS({"Reading", NULL, options_pool, 0}, {"Reading", NULL, own_table, 0},
                   {"Reading", NULL, options_existing, 0}, {"Objects", NULL, options_size, 0}),
    COMMAND_EXAMPLES(
        {"s3load get --host s3-{1...4}:9000 --duration 1m", "download from four servers"}),
    COMMAND_DEFAULTS(.data.n_objects = 2500, .data.size_bytes = INT64_C(10) << 20),
    COMMAND_WORKLOAD(.prepares = true, .next = next),
};
