/* Deletes what a run has uploaded, and nothing else: page by page its workers list keys below a
 * prefix and delete them. */
#ifndef S3_LOADGEN_RUN_CLEANUP_H
#define S3_LOADGEN_RUN_CLEANUP_H

#include "loadgen/run/workload.h"

/* Deletes all below the prefix `root`: what listings of `kind` show, with WORK_DIRS below the
 * prefixes of workers first. False: *e says why something is left. */
bool cleanup_below(struct bench *b, const char *root, enum s3op_kind kind, enum work_scope scope,
                   struct err *e);

/* Deletes all that the bucket holds. */
bool cleanup_clear_bucket(struct bench *b, struct err *e);

/* Deletes what this run has uploaded, with --noclear only what it has not uploaded to the end,
 * which no one can use. All ranks call it. */
bool cleanup_run(struct bench *b, struct err *e);

#endif
