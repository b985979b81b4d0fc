/* The bucket, before and after a run. */
#ifndef S3_LOADGEN_BUCKET_BUCKET_H
#define S3_LOADGEN_BUCKET_BUCKET_H

#include "loadgen/load/load.h"
#include "loadgen/work/workload.h"

/* Deletes what a run has left below its root: objects, versions and unfinished uploads. The workers
 * list keys page by page, and delete each page before they list the next one. */

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

/* Requests that are not measured, such as those that make the bucket. A crew of one worker does
 * them one at a time. */

struct control {
    struct crew crew;
    struct phase phase;
    const struct s3op *op;       /* to be done; NULL: none */
    struct worker_result result; /* of the last one; its xml lives until the next */
    int64_t give_up_ns;          /* requests that fail are retried for this long */
    bool heard;                  /* a server has answered */
    int64_t failing_since_ns;    /* 0: the last request succeeded */
    int64_t retry_ns;            /* time of the next retry */
    int (*tick)(void *ctx);
    void *tick_ctx;
};

/* `g` is borrowed; `tick` is called while a request lasts, as by crew_run. On failure nothing is
 * left to free; else crew_fini frees c->crew. */
bool control_init(struct control *c, struct engine *g, int (*tick)(void *ctx), void *ctx,
                  struct err *e);

/* Does `op`. Retries for up to give_up_ns if a server is overloaded or closes the connection.
 * False: *e has the first error and the last; if c->result.status is 0, none of the servers
 * answered. */
bool control_run(struct control *c, const struct s3op *op, struct err *e);

/* Makes the bucket if there is none (with --list-existing that is an error). *made says whether
 * this call has made it. */
bool bucket_make(struct control *c, const struct work *k, bool *made, struct err *e);

/* Makes sure that the bucket keeps versions or has object lock, if the workload needs that. Never
 * changes the settings of a bucket that may be someone else's. */
bool bucket_ready(struct control *c, const struct work *k, bool made, struct err *e);

/* Chooses the kind of listing that shows all that must be deleted below the prefix: versions, if
 * the bucket keeps or kept them or does not say; else objects. Returns false if the bucket does not
 * say and versions cannot be listed, or if no server answers: *e says why, and *kind lists at least
 * the objects. */
bool bucket_listing(struct control *c, const char *prefix, enum s3op_kind *kind, struct err *e);

/* Returns true if the bucket has object lock. Else *e says what a run that needs it can do. */
bool bucket_is_locked(struct control *c, bool made, struct err *e);

/* Contents of the bucket that are not of this run. */
struct bucket_content {
    uint64_t n_foreign;            /* keys that no run of s3load has made */
    bool more_foreign;             /* there are more such keys */
    uint64_t n_runs;               /* other runs of s3load */
    char prefix[S3OP_KEY_MAX + 1]; /* the --prefix of one of these; "": all had none */
};

/* Looks at the whole bucket. */
bool bucket_look(struct control *c, struct bucket_content *content, struct err *e);

/* Whether a key begins like those of a run, "s3load-RUNID/"; whether the rest of such a key is a
 * name that runs give, or a folder of such names (stores on file systems list folders). */
bool bucket_is_run(const char *key);
bool bucket_is_name(const char *name);

/* Calls on_entry for everything that a listing of this kind shows below the prefix, page by page,
 * until *enough (may be NULL) is set. Each page is a request with its own retries. */
bool bucket_list_all(struct control *c, enum s3op_kind kind, const char *prefix,
                     xml_entry_fn *on_entry, void *user, const bool *enough, struct err *e);

/* Fills the pool with this rank's share of the first `max` objects below the prefix; 0: of all
 * objects. */
bool bucket_list(struct control *c, struct work *k, uint64_t max, struct err *e);

#endif
