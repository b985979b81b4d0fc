/* Man pages in groff's man format, from the option tables. */
#ifndef S3_LIBCOMMON_CLI_MAN_H
#define S3_LIBCOMMON_CLI_MAN_H

#include "libcommon/cli.h"

/* Writes the page of a command or, with NULL, of the program. */
void cli_man_write(FILE *out, const struct cli_program *program, const struct cli_command *command);

#endif
