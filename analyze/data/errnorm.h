/* Normalises error messages, so that requests that failed for the same reason can be grouped. */
#ifndef S3_ANALYZE_DATA_ERRNORM_H
#define S3_ANALYZE_DATA_ERRNORM_H

#include "libcommon/slice.h"

#include <stddef.h>

#define ERRNORM_MAX_BYTES 512

/* Writes the message of a failed request to `out` without what differs between requests: URLs
 * become <url>, host:port pairs and addresses <host>, request ids (long words of letters and
 * digits) <id>, long numbers and times in ms <n>, the object's key <key>, and control characters
 * blanks. `out` has room for ERRNORM_MAX_BYTES, where the text is cut; it gets no NUL. Returns the
 * length. */
size_t errnorm_message(struct slice message, struct slice key, char *out);

#endif
