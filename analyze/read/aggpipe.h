/* JSON that comes from a pipe, plain or compressed. */
#ifndef S3_ANALYZE_READ_AGGPIPE_H
#define S3_ANALYZE_READ_AGGPIPE_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

/* For commands whose operands may be aggregates or sums, before they look at these: where "-" is
 * among them and standard input is a pipe that JSON comes from, it is copied to a temporary file
 * that takes its place, since JSON is read twice. Of other pipes no byte is missing afterwards.
 * False: *e says why. */
bool aggpipe_spool(const char *const *paths, size_t n, struct err *e);

#endif
