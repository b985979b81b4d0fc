/* Makes JSON from a pipe, plain or compressed, readable twice. */
#ifndef S3_ANALYZE_READ_AGGPIPE_H
#define S3_ANALYZE_READ_AGGPIPE_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Commands whose operands may be aggregates or sums call this before they look at the operands. If
 * "-" is among the n paths and standard input is a pipe with JSON, replaces standard input by a
 * temporary copy, since JSON is read twice. A pipe with anything else still gives all its bytes.
 * False: *e says why. */
bool aggpipe_spool(const char *const *paths, size_t n, struct err *e);

#endif
