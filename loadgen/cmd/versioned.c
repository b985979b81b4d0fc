#include "loadgen/cmd/commands.h"

static const struct cli_option bucket_table[] = {
    SETTING("enable-versioning", CLI_FLAG, data.enable_versioning, NULL,
            "switch versioning on in any bucket"),
    {0},
};

const struct cli_command cmd_versioned = {
    .name = "versioned",
    .summary = "a mix of requests for versions of objects",
    .text = "Uploads --versions versions of each of --objects objects, then reads, stats, adds and "
            "deletes single versions until --duration is over. --get-distrib and the options after "
            "it say which share each has. s3load switches versioning on in a bucket that it makes "
            "or finds "
            "empty; in others only with --enable-versioning. The first uploads are not recorded.",
    COMMAND_GROUPS({"Mix", NULL, options_pool, 0}, {"Mix", NULL, options_versions, 0},
                   {"Mix", NULL, options_shares, 0}, {"Objects", NULL, options_size, 0},
                   {"Bucket", "data", bucket_table, 0}),
    COMMAND_EXAMPLES({"s3load versioned --objects 100 --versions 10 --obj.size 1MiB",
                      "1,000 versions to begin with"}),
    COMMAND_DEFAULTS(.data.n_objects = 250, .data.n_versions = 5,
                     .data.size_bytes = INT64_C(10) << 20, .request.get_share = 45,
                     .request.stat_share = 30, .request.put_share = 15, .request.delete_share = 10),
    COMMAND_WORKLOAD(.prepares = true, .versions = true, .mixed = true, .next = cmd_mixed_next,
                     .done = cmd_mixed_done, .init = cmd_mixed_init),
};
