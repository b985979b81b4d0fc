/* Deletes what a run has uploaded, and nothing else: page by page its workers list keys below a
 * prefix and delete them. */
#ifndef S3_LOADGEN_RUN_CLEANUP_H
#define S3_LOADGEN_RUN_CLEANUP_H

#include "loadgen/run/bench.h"
#include "loadgen/work/workload.h"

/* What is deleted: all below the prefix `root` that these lists show. */
struct sweep {
    const char *root;
    enum work_scope uploads; /* unfinished ones, which go first */
    enum work_scope objects; /* with WORK_DIRS those below the prefixes of workers go first */
    enum s3op_kind kind;     /* of the list of objects: what bucket_listing says */
};

/* False: *e says why something is left. */
bool cleanup_sweep(struct bench *b, const struct sweep *s, struct err *e);

/* Deletes all that the bucket holds. */
bool cleanup_clear_bucket(struct bench *b, struct err *e);

/* Deletes what this run has uploaded, with --noclear only what it has not uploaded to the end,
 * which no one can use. All ranks call it. */
bool cleanup_run(struct bench *b, struct err *e);

#endif
