/* What rank 0 of a run has read and found out, and hands to the others. */
#ifndef S3_LOADGEN_RUN_ORDERS_H
#define S3_LOADGEN_RUN_ORDERS_H

#include "libcommon/err.h"
#include "loadgen/run/options.h"
#include "loadgen/run/workload.h"

struct orders {
    struct options options;
    char run_id[WORK_ID_LENGTH + 1];
    char path[4096]; /* of the capture; "-": standard output */
};

/* All of it in *n bytes of memory of secret.h, which the caller frees, since keys are among them;
 * NULL: out of memory. */
char *orders_pack(const struct orders *d, size_t *n);

/* Takes it out again, where it was packed by the same program; the text belongs to the options, and
 * options_free frees it. */
bool orders_unpack(struct orders *d, const char *data, size_t n, struct err *e);

#endif
