#include "loadgen/cmd/commands.h"

static enum phase_next next(struct work *k, struct worker *w, struct s3op *op)
{
    const struct work_object o = work_new_object(k, w);

    work_put(k, &o, op);
    return PHASE_OP;
}

const struct cli_command cmd_put = {
    .name = "put",
    .summary = "upload objects",
    .text = "Uploads new objects until --duration is over, then deletes them.",
    .groups =
        (const struct cli_group[]){
            OPTIONS_FIRST_GROUPS,
            {"Objects", NULL, options_size, 0},
            OPTIONS_MORE_GROUPS,
            {0},
        },
    .examples =
        (const struct cli_example[]){
            {"s3load put --obj.size 4KiB --concurrent 64", "upload small objects"},
            {0},
        },
    .options_size = sizeof(struct options),
    .defaults = &(const struct options){OPTIONS_DEFAULTS, .size_bytes = INT64_C(10) << 20},
    .ctx = &(const struct workload){.next = next},
    .run = bench_main,
};
