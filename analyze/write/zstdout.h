/* A text on its way into one zstd frame. */
#ifndef S3_ANALYZE_WRITE_ZSTDOUT_H
#define S3_ANALYZE_WRITE_ZSTDOUT_H

#include "libcommon/err.h"

#include <stdio.h>

/* A FILE whose bytes go, compressed, to `to`, which must outlive it. fclose ends the frame; errors
 * of writing, of which a full disk is one, stay in `to` or make fclose fail. NULL: *e says why. */
FILE *zstdout_open(FILE *to, int level, struct err *e);

#endif
