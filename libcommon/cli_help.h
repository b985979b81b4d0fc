/* What --help prints. */
#ifndef S3_LIBCOMMON_CLI_HELP_H
#define S3_LIBCOMMON_CLI_HELP_H

#include "libcommon/cli.h"

#define CLI_HELP_ALL "all"

/* List of commands. */
void cli_help_program(FILE *out, const struct cli_program *program);

/* Page of a command: topic "" is the first page, CLI_HELP_ALL all options. */
void cli_help_command(FILE *out, const char *program, const struct cli_command *command,
                      const char *topic);

/* Whether the command has such a page (other than the first). */
bool cli_help_has_topic(const struct cli_command *command, const char *topic);

/* Whether the group, one of the command's, belongs under the heading of the one before. */
bool cli_help_goes_on(const struct cli_command *command, const struct cli_group *group);

struct cli_option_text {
    char s[96];
};

/* "10s": the default of an option as a user would write it; empty if there is none to speak of. */
struct cli_option_text cli_help_default(const struct cli_command *command,
                                        const struct cli_group *group,
                                        const struct cli_option *option);

#endif
