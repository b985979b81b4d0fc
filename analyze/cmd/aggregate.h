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

/* False: an aggregate is not the only operand, or an option is given that needs requests; *e says
 * which. */
bool aggregate_alone(const struct cli_args *args, struct err *e);

/* Keeps the operations that --op names (none: all). False: there is no such operation, or
 * no request at all. */
bool aggregate_choose_ops(struct aggregate *a, const struct cli_list *ops, struct err *e);

#endif
