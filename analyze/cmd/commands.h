/* The commands of s3analyze, each in its cmd_NAME.c; main.c lists those that are there. */
#ifndef S3_COMMANDS_H
#define S3_COMMANDS_H

#include "cli.h"

extern const struct cli_command cmd_analyze;
extern const struct cli_command cmd_info;
extern const struct cli_command cmd_cat;
extern const struct cli_command cmd_cmp;
extern const struct cli_command cmd_merge;
extern const struct cli_command cmd_autoterm;
extern const struct cli_command cmd_plot;

#endif
