/* Groups failed requests by message. */
#ifndef S3_ANALYZE_SUMMARY_REQUESTS_ERRORS_H
#define S3_ANALYZE_SUMMARY_REQUESTS_ERRORS_H

#include "analyze/data/dataset.h"
#include "analyze/summary/model/model.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Failed requests with one message to one host; both names are borrowed. */
struct error_cell {
    const char *message;
    struct error_host at;
};

/* Sorts the n cells and groups them by message into op->errors. Returns false if out of memory;
 * analysis_errors_free may be called in any case. */
bool analysis_errors_of(struct operation *op, struct error_cell *cells, size_t n, struct err *e);

/* Groups the failed requests of table t by message into op->errors. Errors and memory as for
 * analysis_errors_of. */
bool analysis_errors(struct operation *op, const struct dataset *d, const struct table *t,
                     struct err *e);
void analysis_errors_free(struct operation *op);

#endif
