/* Requests that are not measured, such as those that make the bucket. A crew of one worker does
 * them one at a time. */
#ifndef S3_LOADGEN_BUCKET_CONTROL_H
#define S3_LOADGEN_BUCKET_CONTROL_H

#include "loadgen/load/crew.h"

struct control {
    struct crew crew;
    struct phase phase;
    const struct s3op *op; /* to be done; NULL: none */
    struct worker_result *result;
    int status;               /* of the last answer that was taken */
    bool hung;                /* the last request timed out */
    int64_t give_up_ns;       /* requests that fail are retried for this long */
    bool heard;               /* a server has answered */
    int64_t failing_since_ns; /* 0: the last request succeeded */
    int64_t retry_ns;         /* time of the next retry */
    int (*tick)(void *ctx);
    void *tick_ctx;
};

/* `g` is borrowed; `tick` is called while a request lasts, as by crew_run. On failure nothing is
 * left to free. */
bool control_init(struct control *c, struct engine *g, int (*tick)(void *ctx), void *ctx,
                  struct err *e);
void control_fini(struct control *c);

/* Does `op`. Retries for up to give_up_ns if a server is overloaded or closes the connection.
 * False: *e has the first error and the last; if r->status is 0, none of the servers answered.
 * r->xml lives until the next call. */
bool control_run(struct control *c, const struct s3op *op, struct worker_result *r, struct err *e);

#endif
