/* How the commands handle files of sums (analyze/analysis/sums/sums.h), which are recognised by
 * their content. */
#ifndef S3_ANALYZE_CMD_SUMS_H
#define S3_ANALYZE_CMD_SUMS_H

#include "analyze/analysis/sums/sums.h"
#include "analyze/write/outfile.h"
#include "libcommon/cli.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Fails if an option needs requests; *e says which. */
bool sums_alone(const struct cli_args *args, struct err *e);

/* Reads n files of sums as one run. Each must overlap another one, unless `together`, and none may
 * be given twice. Keeps only the operations `ops`, or all if empty. The caller calls sums_free in
 * any case. */
bool sums_load(struct sums *s, const char *const *paths, size_t n, const struct cli_list *ops,
               bool together, struct err *e);

/* Writes a file of sums. */
bool sums_save(const struct sums *s, const char *path, enum outfile_replaces replaces,
               struct err *e);

#endif
