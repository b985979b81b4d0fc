/* What the commands do with files of sums (analysis/sums.h), which are found by their content. */
#ifndef S3_ANALYZE_CMD_SUMS_H
#define S3_ANALYZE_CMD_SUMS_H

#include "analyze/analysis/load.h"
#include "analyze/sums/sums.h"
#include "analyze/write/outfile.h"
#include "libcommon/cli.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

/* The first of n captures that is a file of sums; NULL: none. */
const char *sums_among(const char *const *paths, size_t n);

/* For commands that need requests: false if one of the n captures is a file of sums, and *e says
 * what cannot be done with it. */
bool sums_refuse(const char *const *paths, size_t n, const char *what, struct err *e);

/* False: an option is given that needs requests; *e says which. */
bool sums_alone(const struct cli_args *args, struct err *e);

/* Reads n files of sums as one run: each must overlap with another one, unless `together`, and none
 * may be there twice. Only the operations that `ops` names are kept (none: all). The caller calls
 * sums_free in any case. */
bool sums_load(struct sums *s, const char *const *paths, size_t n, const struct cli_list *ops,
               bool together, struct err *e);

/* Writes a file of sums. */
bool sums_save(const struct sums *s, const char *path, enum outfile_replaces replaces,
               struct err *e);

#endif
