/* The bucket, before and after a run. */
#ifndef S3_LOADGEN_BUCKET_BUCKET_H
#define S3_LOADGEN_BUCKET_BUCKET_H

#include "loadgen/bucket/control.h"
#include "loadgen/work/workload.h"

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
