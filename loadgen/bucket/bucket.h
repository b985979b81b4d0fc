/* The bucket, before and after a run. */
#ifndef S3_LOADGEN_BUCKET_BUCKET_H
#define S3_LOADGEN_BUCKET_BUCKET_H

#include "loadgen/bucket/control.h"
#include "loadgen/work/workload.h"

/* Makes sure that there is a bucket, unless only existing objects are to be used: *made says
 * whether it was not there before. */
bool bucket_make(struct control *c, const struct work *k, bool *made, struct err *e);

/* Makes sure that it keeps versions or has object lock if the workload needs that. Of a bucket that
 * is not ours no setting is changed. */
bool bucket_ready(struct control *c, const struct work *k, bool made, struct err *e);

/* How objects below the prefix are listed so that none is left: where versions were ever kept,
 * deleting makes markers. Where the bucket does not say, versions are listed. False: these cannot
 * be listed either, *e says why, and *kind shows the objects at least. */
bool bucket_listing(struct control *c, const char *prefix, enum s3op_kind *kind, struct err *e);

/* Whether its objects can be locked; else *e says what that means for a run that needs it. */
bool bucket_is_locked(struct control *c, bool made, struct err *e);

/* What a bucket holds beside this run. */
struct bucket_content {
    uint64_t n_foreign;            /* keys that no run of s3load has made */
    bool more_foreign;             /* and there are more */
    uint64_t n_runs;               /* other runs of s3load */
    char prefix[S3OP_KEY_MAX + 1]; /* the --prefix of one of these; "": all had none */
};

/* Looks at the whole bucket. */
bool bucket_look(struct control *c, struct bucket_content *content, struct err *e);

/* Whether a key begins as those of a run: "s3load-RUNID/"; whether what follows is a name that a
 * run gives, or a folder of such, which stores on file systems list. */
bool bucket_is_run(const char *key);
bool bucket_is_name(const char *name);

/* Hands out all that listings of this kind show below the prefix, page by page, each a request of
 * its own; until *enough, if that is not NULL. */
bool bucket_list_all(struct control *c, enum s3op_kind kind, const char *prefix,
                     xml_entry_fn *on_entry, void *user, const bool *enough, struct err *e);

/* Fills the pool of k with this rank's part of up to `max` (0: all) objects that the bucket holds
 * under the prefix. */
bool bucket_list(struct control *c, struct work *k, uint64_t max, struct err *e);

#endif
