/* Deletes what a run has uploaded, and nothing else: page by page it lists keys below a prefix and
 * deletes them. */
#ifndef S3_LOADGEN_RUN_CLEANUP_H
#define S3_LOADGEN_RUN_CLEANUP_H

#include "loadgen/run/workload.h"

/* Phases: first each worker below its own prefix, then one pass over all that is left. Keys that
 * begin with work.clean_prefix alone are deleted. */
enum phase_next cleanup_next(void *ctx, struct worker *w, struct s3op *op);
void cleanup_done(void *ctx, struct worker *w, const struct s3op *op,
                  const struct worker_result *r);

/* Sets up a pass over what listings of that kind show: objects, versions or uploads. */
void cleanup_begin(struct work *k, const char *prefix, enum work_scope scope, enum s3op_kind kind);

#endif
