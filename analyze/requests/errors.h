/* Groups of errors. */
#ifndef S3_ANALYZE_REQUESTS_ERRORS_H
#define S3_ANALYZE_REQUESTS_ERRORS_H

#include "analyze/data/dataset.h"
#include "analyze/model/model.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Failed requests of one message to one host; both names are borrowed. */
struct error_cell {
    const char *message;
    struct error_host at;
};

/* Groups the n cells, which get sorted, into op->errors. False: out of memory; analysis_errors_free
 * may be called in any case. */
bool analysis_errors_of(struct operation *op, struct error_cell *cells, size_t n, struct err *e);

/* The same of the failed requests of a table. */
bool analysis_errors(struct operation *op, const struct dataset *d, const struct table *t,
                     struct err *e);
void analysis_errors_free(struct operation *op);

#endif
