/* The commands of s3load, each in its cmd_NAME.c: options, defaults, and what its workers do. */
#ifndef S3_LOADGEN_CMD_COMMANDS_H
#define S3_LOADGEN_CMD_COMMANDS_H

#include "loadgen/run/bench.h"

extern const struct cli_command cmd_get, cmd_put, cmd_delete, cmd_list, cmd_stat, cmd_mixed,
    cmd_versioned, cmd_retention, cmd_multipart, cmd_clean;

#endif
