#include "commands.h"

static enum phase_next next(struct work *k, struct worker *w, struct s3op *op)
{
    work_stat(k, &k->objects[rng_below(&w->rng, k->n_objects)], op);
    return PHASE_OP;
}

static const struct workload workload = {
    .name = "stat", .prepares = true, .records_preparation = true, .next = next};

static const struct cli_option own_table[] = {
    {"list-existing", CLI_FLAG, offsetof(struct options, list_existing), NULL,
     .help = "use what the bucket holds (--objects N: of it, 0: all)"},
    {0},
};

static const struct cli_group groups[] = {
    {"Where", NULL, options_where, 0},
    {"Load", NULL, options_load, 0},
    {"Pool", NULL, options_pool, 0},
    {"Pool", NULL, own_table, 0},
    {"Objects", NULL, options_size, 0},
    OPTIONS_MORE_GROUPS,
    {0},
};

static const struct cli_example examples[] = {
    {"s3load stat --autoterm", "metadata of objects, until the speed is stable"},
    {0},
};

static const struct options defaults = {OPTIONS_DEFAULTS, .n_objects = 10000, .size_bytes = 1024};

static int run(const struct cli_args *args, void *options)
{
    return bench_main(args, options, &workload);
}

const struct cli_command cmd_stat = {
    .name = "stat",
    .summary = "ask for the metadata of objects (HEAD)",
    .text = "Uploads --objects objects, then asks for the metadata of objects chosen at random "
            "until --duration is over. The uploads are recorded too.",
    .groups = groups,
    .examples = examples,
    .options_size = sizeof(struct options),
    .defaults = &defaults,
    .run = run,
};
