#include "commands.h"

static enum phase_next next(struct work *k, struct worker *w, struct s3op *op)
{
    const struct work_object o = work_new_object(k, w);

    work_put(k, &o, op);
    return PHASE_OP;
}

static const struct workload workload = {.name = "put", .next = next};

static const struct cli_group groups[] = {
    {"Where", NULL, options_where, 0},
    {"Load", NULL, options_load, 0},
    {"Objects", NULL, options_size, 0},
    OPTIONS_MORE_GROUPS,
    {0},
};

static const struct cli_example examples[] = {
    {"s3load put --obj.size 4KiB --concurrent 64", "upload small objects"},
    {0},
};

static const struct options defaults = {OPTIONS_DEFAULTS, .size_bytes = INT64_C(10) << 20};

static int run(const struct cli_args *args, void *options)
{
    return bench_main(args, options, &workload);
}

const struct cli_command cmd_put = {
    .name = "put",
    .summary = "upload objects",
    .text = "Uploads new objects until --duration is over, then deletes them.",
    .groups = groups,
    .examples = examples,
    .options_size = sizeof(struct options),
    .defaults = &defaults,
    .run = run,
};
