/* Requests that make a run ready and are not measured: one at a time, on the calling thread. */
#ifndef S3_LOADGEN_RUN_CONTROL_H
#define S3_LOADGEN_RUN_CONTROL_H

#include "loadgen/load/loop.h"

struct control {
    struct loop loop;
    struct phase phase;
    const struct s3op *op; /* to be done; NULL: done */
    struct worker_result *result;
    void (*poll)(void *ctx);
    void *poll_ctx;
};

/* `g` is borrowed. Where there is a `poll`, it is called now and then while a request lasts, which
 * then takes a thread of its own. On failure nothing is left to free. */
bool control_init(struct control *c, struct engine *g, void (*poll)(void *ctx), void *ctx,
                  struct err *e);
void control_fini(struct control *c);

/* Does `op`. False: it failed, and *e says why; with a status of 0 in *r no server answered, though
 * all that could be were tried. r->xml lives until the next call. */
bool control_run(struct control *c, const struct s3op *op, struct worker_result *r, struct err *e);

#endif
