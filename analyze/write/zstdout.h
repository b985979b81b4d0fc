/* Writes text as one zstd frame. */
#ifndef S3_ANALYZE_WRITE_ZSTDOUT_H
#define S3_ANALYZE_WRITE_ZSTDOUT_H

#include "libcommon/err.h"

#include <stdio.h>

/* Opens a FILE that compresses what is written to it and writes that to `to`, which must outlive
 * it. fclose ends the frame. Write errors, such as a full disk, stay in `to` or make fclose fail.
 * NULL: *e says why. */
FILE *zstdout_open(FILE *to, int level, struct err *e);

#endif
