/* How the commands handle aggregated captures, which are recognised by their content. */
#ifndef S3_ANALYZE_CMD_AGGREGATE_H
#define S3_ANALYZE_CMD_AGGREGATE_H

#include "analyze/aggregated/aggregate.h"
#include "libcommon/cli.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads and analyses the aggregate that the arguments name; only the operations `ops`, or all if
 * empty. Fails if it is not the only operand, if an option needs requests, if there is no such
 * operation or no request; *e says which. The caller frees all three in any case. */
bool aggregate_read(struct aggregate *of, struct dataset *d, struct analysis *a,
                    const struct cli_args *args, const struct cli_list *ops, struct err *e);

#endif
