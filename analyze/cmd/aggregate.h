/* What the commands do with aggregated captures, which are found by their content. */
#ifndef S3_ANALYZE_CMD_AGGREGATE_H
#define S3_ANALYZE_CMD_AGGREGATE_H

#include "analyze/aggregated/aggregate.h"
#include "libcommon/cli.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

/* The first of n captures that is an aggregate; NULL: none. */
const char *aggregate_among(const char *const *paths, size_t n);

/* For commands that need requests: false if one of the n captures is an aggregate, and *e says that
 * and `why` the command cannot be done on it, with what can be done instead. */
bool aggregate_refuse(const char *const *paths, size_t n, const char *why, struct err *e);

/* Reads and analyses the aggregate that the arguments name, of it the operations `ops` (none: all).
 * False: it is not the only operand, an option is given that needs requests, or there is no such
 * operation, or no request at all; *e says which. The caller frees all three in any case. */
bool aggregate_read(struct aggregate *of, struct dataset *d, struct analysis *a,
                    const struct cli_args *args, const struct cli_list *ops, struct err *e);

#endif
