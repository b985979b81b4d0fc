/* The commands of s3analyze. cmd_aggregate is in sums.c; aggregate.c handles aggregated captures.
 */
#ifndef S3_ANALYZE_CMD_COMMANDS_H
#define S3_ANALYZE_CMD_COMMANDS_H

#include "libcommon/programs.h"

PROGRAMS_S3ANALYZE(PROGRAMS_DECLARE)

/* The members of a command that takes one or more captures: the struct of its options (struct
 * COMMAND_given), and the groups, examples and run function of its file. */
#define COMMANDS_ON_CAPTURES(options_struct)                                                       \
    .operands = "CAPTURE...", .min_operands = 1, .max_operands = CLI_ANY_NUMBER, .groups = groups, \
    .examples = examples, .options_size = sizeof(options_struct), .run = run

#endif
