/* Error messages without what differs from one request to the next, so that they can be grouped. */
#ifndef S3_ANALYZE_DATA_ERRNORM_H
#define S3_ANALYZE_DATA_ERRNORM_H

#include "libcommon/record.h"

#include <stddef.h>

#define ERRNORM_MAX_BYTES 512

/* Writes the message of a failed request with URLs, host:port pairs, addresses, request ids (long
 * runs of letters and digits mixed), long numbers, times in ms and the object's key replaced by
 * <url>, <host>, <id>, <n> and <key>; control characters become blanks. Cut off after
 * ERRNORM_MAX_BYTES. Returns the length. `out` holds ERRNORM_MAX_BYTES. */
size_t errnorm_message(struct slice message, struct slice key, char *out);

#endif
