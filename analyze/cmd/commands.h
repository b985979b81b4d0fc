/* The commands of s3analyze. cmd_aggregate is in sums.c; aggregate.c handles aggregated captures.
 */
#ifndef S3_ANALYZE_CMD_COMMANDS_H
#define S3_ANALYZE_CMD_COMMANDS_H

#include "libcommon/programs.h"

PROGRAMS_S3ANALYZE(PROGRAMS_DECLARE)

/* The members of a command: its operands and how many there may be, the struct of its options
 * (struct COMMAND_given), and the groups, examples, defaults and run function of its file. */
#define COMMANDS_TAKE(what, least, most, options_struct)                                           \
    .operands = (what), .min_operands = (least), .max_operands = (most), .groups = groups,         \
    .examples = examples, .options_size = sizeof(options_struct), .defaults = &defaults,           \
    .run = run
#define COMMANDS_ON_CAPTURES(options_struct)                                                       \
    COMMANDS_TAKE("CAPTURE...", 1, CLI_ANY_NUMBER, options_struct)

#endif
