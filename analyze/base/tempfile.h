/* A file without a name, in TMPDIR (default /var/tmp: /tmp may be memory). */
#ifndef S3_ANALYZE_BASE_TEMPFILE_H
#define S3_ANALYZE_BASE_TEMPFILE_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Its descriptor, which the caller closes; -1: failed. */
int tempfile_open(struct err *e);

/* Writes n bytes at the offset `at`. */
bool tempfile_write(int fd, const void *p, size_t n, uint64_t at, struct err *e);

/* Reads between 1 and n bytes at the offset `at`; 0: failed, or there are none, which is an error
 * too. */
size_t tempfile_read(int fd, void *p, size_t n, uint64_t at, struct err *e);

#endif
