/* Shell completion scripts, from the option tables. */
#ifndef S3_LIBCOMMON_CLI_COMPLETION_H
#define S3_LIBCOMMON_CLI_COMPLETION_H

#include "libcommon/cli.h"

/* Writes the script for "bash", "zsh" or "fish". Returns false for any other shell. */
bool cli_completion_write(FILE *out, const char *shell, const struct cli_program *program);

#endif
