/* An unnamed temporary file in TMPDIR. The default is /var/tmp, since /tmp may be in memory. */
#ifndef S3_ANALYZE_BASE_TEMPFILE_H
#define S3_ANALYZE_BASE_TEMPFILE_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the descriptor of a new file, which the caller closes. -1: *e says why not. */
int tempfile_open(struct err *e);

/* Returns the descriptor of a new file with `head` and all that is left in a pipe; its offset is 0.
 * `name` is that of the pipe. -1: *e says why not. */
int tempfile_of_pipe(int from, const char *name, const void *head, size_t n_head, uint64_t *size,
                     struct err *e);

/* Writes n bytes at the offset `at`. False: *e says why not. */
bool tempfile_write(int fd, const void *p, size_t n, uint64_t at, struct err *e);

/* Reads up to n bytes at the offset `at` and returns how many, at least 1. 0: reading failed or the
 * file ends at `at`; *e says so. */
size_t tempfile_read(int fd, void *p, size_t n, uint64_t at, struct err *e);

#endif
