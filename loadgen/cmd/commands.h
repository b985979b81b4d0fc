/* The commands of s3load. Each has a file of its name, with its options, its defaults, and what its
 * workers do. */
#ifndef S3_LOADGEN_CMD_COMMANDS_H
#define S3_LOADGEN_CMD_COMMANDS_H

#include "libcommon/programs.h"
#include "loadgen/run/bench.h"

/* Shared by the commands that put load on a store: groups of options before and after their own,
 * defaults, and the function that runs their workload. */
/* clang-format off */
#define COMMAND_GROUPS(...)                                                 \
    .groups = (const struct cli_group[]) {                                  \
        {"Where", NULL, options_where, 0},                                  \
        {"Load", NULL, options_load, 0},                                    \
        __VA_ARGS__,                                                        \
        {"Run", NULL, options_run, 0},                                      \
        {"Connections", "connection", options_connection, 0},               \
        {"Objects and requests", "data", options_data, 0},                  \
        {"The run", "run", options_load_more, 0},                           \
        {"The run", "run", options_launch, 0},                              \
        {"Ranks", "ranks", ranks_options, offsetof(struct options, ranks)}, \
        {0},                                                                \
    },                                                                      \
    .exits = options_exits
#define COMMAND_EXAMPLES(...) .examples = (const struct cli_example[]) {__VA_ARGS__, {0}}
#define COMMAND_DEFAULTS(...) .defaults = &(const struct options) {OPTIONS_DEFAULTS, __VA_ARGS__}, \
                              .options_size = sizeof(struct options)
#define COMMAND_WORKLOAD(...) .run = bench_main, .ctx = &(const struct workload) {__VA_ARGS__}
/* clang-format on */

PROGRAMS_S3LOAD(PROGRAMS_DECLARE)

/* Shared by `mixed` and `versioned`: both deal requests from a deck, for objects of a pool. */
bool cmd_mixed_init(struct work *k, struct err *e);
enum phase_next cmd_mixed_next(struct work *k, struct worker *w, struct s3op *op);
void cmd_mixed_done(struct work *k, struct worker *w, const struct s3op *op,
                    const struct worker_result *r);

#endif
