/* Deletes what a run has left below its root: objects, versions and unfinished uploads. The workers
 * list keys page by page, and delete each page before they list the next one. */
#ifndef S3_LOADGEN_BUCKET_SWEEP_H
#define S3_LOADGEN_BUCKET_SWEEP_H

#include "loadgen/work/workload.h"

/* Which workers list and delete which keys. */
enum sweep_scope {
    SWEEP_NOTHING,
    SWEEP_DIRS,   /* each worker its own folder below the root */
    SWEEP_PREFIX, /* one worker everything below the root */
    SWEEP_BUCKET, /* one worker lists the whole bucket, but deletes only below the root */
    SWEEP_NAMES   /* all workers the objects of the pool that were not listed */
};

#define SWEEP_KEEPS "s3load did not write '%s', and keeps it" /* the message about sweep.other */

/* Starts as zeros, except for the first four members. */
struct sweep {
    struct work *work; /* its workers delete */
    /* Runs a phase of the workers to its end. */
    bool (*run_phase)(void *ctx, const struct phase *p, struct err *e);
    void *ctx;
    uint64_t n_most; /* more deletions are an error: the run cannot have made so many objects */

    const char *root;                     /* only keys below it are deleted; "": all */
    struct err other;                     /* a key below the root that no run makes; it stays */
    atomic_uint_fast64_t n_deleted;       /* other threads may read it */
    atomic_int_fast64_t failing_since_ns; /* 0: the last request succeeded */
    atomic_bool no_batches;               /* the server refuses them */
    atomic_int_fast64_t answered_ns;      /* when the last answer came */
    atomic_size_t n_late;                 /* requests that timed out while no answer came */
    struct err ended;                     /* why nothing more is tried; "": more may be */

    /* The current pass. */
    enum sweep_scope scope;
    enum s3op_kind kind;     /* of listings */
    atomic_size_t n_named;   /* objects that were tried by their names */
    struct sweeper *sweeper; /* by worker */
};

void sweep_fini(struct sweep *s);

/* Whether a signal came, or the servers hang: nothing more is deleted. */
bool sweep_is_stopped(const struct sweep *s);

/* Lists once what `scope` and `kind` say, and deletes it. SWEEP_NAMES lists nothing: it sends a
 * request of `kind` for each object, and an S3OP_STAT that gets 404 marks it as gone. On failure *e
 * says what could not be deleted. If no answer comes while as many requests time out as there are
 * hosts, the servers hang: this and all later passes end. */
bool sweep_pass(struct sweep *s, enum sweep_scope scope, enum s3op_kind kind, struct err *e);

/* Deletes unfinished uploads, then objects by listings of `kind` (bucket_listing), in as many
 * passes as are needed. False: something may be left, and *e says why. */
bool sweep_all(struct sweep *s, enum sweep_scope uploads, enum sweep_scope objects,
               enum s3op_kind kind, struct err *e);

#endif
