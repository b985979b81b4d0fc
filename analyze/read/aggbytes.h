/* The text of a JSON file, plain or in one zstd frame, piece by piece. */
#ifndef S3_ANALYZE_READ_AGGBYTES_H
#define S3_ANALYZE_READ_AGGBYTES_H

#include "analyze/read/zsource.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

struct aggbytes {
    struct zsource source;
    bool ended;
    unsigned char *in; /* what was read of the file */
    size_t at, n;
    uint64_t position;
    struct ZSTD_DCtx_s *zstd; /* NULL: plain */
    bool frame_ended;
};

/* False: *e says why, with the file's name. The caller calls aggbytes_close in any case. */
bool aggbytes_open(struct aggbytes *b, const char *path, struct err *e);
void aggbytes_close(struct aggbytes *b);

/* A jsonpull_more. A frame that is cut, damaged, or not the last one fails. */
bool aggbytes_more(void *bytes, char *buf, size_t n, size_t *got, struct err *why);

#endif
