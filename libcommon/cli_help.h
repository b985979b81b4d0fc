/* What the option tables make: --help, man pages, shell completion. */
#ifndef S3_LIBCOMMON_CLI_HELP_H
#define S3_LIBCOMMON_CLI_HELP_H

#include "libcommon/cli.h"

#define CLI_HELP_ALL "all"

/* Prints the list of commands. */
void cli_help_program(FILE *out, const struct cli_program *program);

/* Prints the page of a command on a topic: "" is the first page, CLI_HELP_ALL has all options. */
void cli_help_command(FILE *out, const char *program, const struct cli_command *command,
                      const char *topic);

/* Whether the command has such a page (other than the first). */
bool cli_help_has_topic(const struct cli_command *command, const char *topic);

/* Returns true if the group needs a heading: it has options, and its title differs from *title,
 * that of the group before it ("": none). Then sets *title to the group's title. */
bool cli_help_needs_heading(const struct cli_group *group, const char **title);

struct cli_option_text {
    char s[96];
};

/* Returns the i-th of the values that an option can take; NULL: there are no more. */
const char *cli_help_choice(const struct cli_option *o, size_t i);

/* Returns the default of an option as a user would write it, such as "10s"; empty: nothing to show.
 */
struct cli_option_text cli_help_default(const struct cli_command *command,
                                        const struct cli_group *group,
                                        const struct cli_option *option);

/* Writes the man page, in groff's man format, of a command or, with NULL, of the program. */
void cli_man_write(FILE *out, const struct cli_program *program, const struct cli_command *command);

/* Writes the completion script for "bash", "zsh" or "fish". Returns false for any other shell. */
bool cli_completion_write(FILE *out, const char *shell, const struct cli_program *program);

#endif
