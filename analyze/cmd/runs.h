/* Several runs one after another: a table with a line for each operation of each. */
#ifndef S3_ANALYZE_CMD_RUNS_H
#define S3_ANALYZE_CMD_RUNS_H

#include "analyze/cmd/options.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Reads and analyses the captures one by one, each as a run of its own, and prints the table.
 * False: *e says why. */
bool report_runs(const char *const *paths, size_t n_paths, const struct load_filter *filter,
                 const struct load_analysis *analysis, const struct load_input *input, bool colour,
                 FILE *f, struct err *e);

#endif
