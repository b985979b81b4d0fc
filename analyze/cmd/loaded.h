/* The analysis of the captures that a command names, with what it was made of: rows, sums or an
 * aggregated capture. */
#ifndef S3_ANALYZE_CMD_LOADED_H
#define S3_ANALYZE_CMD_LOADED_H

#include "analyze/analysis/run/load.h"
#include "analyze/analysis/sums/sums.h"
#include "libcommon/cli.h"
#include "libcommon/err.h"

#include <stdbool.h>

/* Starts zeroed; the caller calls loaded_free in any case. */
struct loaded {
    struct analysis a;
    struct dataset d;
    struct sums sums;
};

/* Whether some of the operands have no rows, and loaded_without_rows is to be called. */
bool loaded_lacks_rows(const struct cli_args *args);

/* Reads and analyses sums or an aggregated capture. False: *e says why. */
bool loaded_without_rows(struct loaded *l, const struct cli_args *args,
                         const struct load_filter *filter, const struct load_analysis *analysis,
                         const struct load_input *input, bool full_series, struct err *e);
void loaded_free(struct loaded *l);

#endif
