/* The commands of both programs, in the order of their help: cmd_NAME is the description of each.
 * X is one of the macros below. */
#ifndef S3_LIBCOMMON_PROGRAMS_H
#define S3_LIBCOMMON_PROGRAMS_H

#include "libcommon/cli.h"

/* clang-format off */
#define PROGRAMS_S3LOAD(X) \
    X(get) X(put) X(delete) X(list) X(stat) X(mixed) X(versioned) X(retention) X(multipart) X(clean) X(repeat)
#define PROGRAMS_S3ANALYZE(X) \
    X(analyze) X(info) X(cat) X(cmp) X(table) X(trend) X(merge) X(aggregate) X(plan) X(autoterm) X(plot) X(import) \
    X(export) X(profile)

#define PROGRAMS_DECLARE(name) extern const struct cli_command cmd_##name;
#define PROGRAMS_ADDRESS(name) &cmd_##name,
#define PROGRAMS_NAME(name)    #name,
/* clang-format on */

#endif
