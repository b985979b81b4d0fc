/* Which runs are repetitions of each other: for the groups of `trend` and the cells of `cmp`. */
#ifndef S3_ANALYZE_TOOLS_COMPARE_ALIKE_H
#define S3_ANALYZE_TOOLS_COMPARE_ALIKE_H

#include "analyze/tools/compare/run.h"

#include <stdbool.h>

/* In what runs may differ: in operations of the benchmark, in a setting of one of them (those that
 * cmp shows), in what its percentiles are of, in an option of s3load, in the kind of file. */
enum alike_kind { ALIKE_OPS, ALIKE_SETTING, ALIKE_TIMES, ALIKE_OPTION, ALIKE_SOURCE };

struct alike_key {
    enum alike_kind kind;
    enum run_setting setting; /* ALIKE_SETTING */
    const char *name;         /* the operation or the option, borrowed from the first run; or "" */
};

/* Gets a difference. True: that is enough. */
typedef bool alike_take(void *ctx, const struct alike_key *key);

/* Whether the runs differ in a setting, so that they are no repetitions of each other. Runs of
 * different operations differ in nothing else. A setting that a run does not state differs from
 * none. With `take`: whether it returned true for one of the differences. */
bool alike_differ(const struct run_kept *a, const struct run_kept *b, alike_take *take, void *ctx);

/* Returns the operation of that name; NULL: the run has none. */
const struct run_kept_op *alike_op_named(const struct run_kept *r, const char *op);

#endif
