/* The bucket, before and after a run. */
#ifndef S3_BUCKET_H
#define S3_BUCKET_H

#include "control.h"
#include "workload.h"

/* Makes sure that there is a bucket, with versions or object lock if the workload needs them; makes
 * it if there is none, unless only existing objects are to be used. */
bool bucket_make(struct control *c, const struct work *k, struct err *e);

/* What a bucket holds beside this run. */
struct bucket_content {
    uint64_t n_foreign; /* keys that are not of any run of s3load */
    bool more_foreign;  /* and there are more */
    uint64_t n_runs;    /* other runs of s3load */
};

/* Looks at the whole bucket. */
bool bucket_look(struct control *c, struct bucket_content *content, struct err *e);

/* Fills the pool of k with up to `max` (0: all) objects that the bucket holds under the prefix. */
bool bucket_list(struct control *c, struct work *k, uint64_t max, struct err *e);

#endif
