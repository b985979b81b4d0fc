#include "loadgen/cmd/commands.h"

static enum phase_next next(struct work *k, struct worker *w, struct s3op *op)
{
    work_own(k, w)->object = work_new_object(k, w);
    work_put(k, &work_own(k, w)->object, op);
    return PHASE_OP;
}

const struct cli_command cmd_put = {
    .name = "put",
    .summary = "upload objects",
    .text = "Uploads new objects until --duration is over, then deletes them.",
    COMMAND_GROUPS({"Objects", NULL, options_size, 0}),
    COMMAND_EXAMPLES({"s3load put --obj.size 4KiB --concurrent 64", "upload small objects"}),
    COMMAND_DEFAULTS(.data.size_bytes = INT64_C(10) << 20),
    COMMAND_WORKLOAD(.next = next),
};
