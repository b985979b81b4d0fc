/* Reads the text of a JSON file piece by piece. The file is plain or one zstd frame. */
#ifndef S3_ANALYZE_READ_AGGBYTES_H
#define S3_ANALYZE_READ_AGGBYTES_H

#include "analyze/read/zsource.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

struct aggbytes {
    struct zsource source;
    bool ended;
    unsigned char *in; /* bytes of the file; in[at..n) is not used yet */
    size_t at, n;
    uint64_t position;
    struct ZSTD_DCtx_s *zstd; /* NULL: plain */
    bool frame_ended;
};

/* Opens `path` ("-": standard input). False: *e says why, with the file's name. The caller calls
 * aggbytes_close in any case. */
bool aggbytes_open(struct aggbytes *b, const char *path, struct err *e);
void aggbytes_close(struct aggbytes *b);

/* Reads the next text; its type is jsonpull_more. False: the frame is cut, damaged or not the last
 * one, or the file cannot be read. */
bool aggbytes_more(void *bytes, char *buf, size_t n, size_t *got, struct err *why);

/* What a file holds, by its beginning, compressed or not: JSON that begins like a file of sums of
 * any version (sums/sums.h); other JSON; else AGGBYTES_NONE. This holds also for pipes, whose bytes
 * can be read only once, and for files that cannot be opened or decompressed: the reader of
 * captures reports what is wrong with them. */
#define AGGBYTES_SUMS "{\"schema\":\"s3analyze/sums/"
enum aggbytes_kind { AGGBYTES_NONE, AGGBYTES_OF_SUMS, AGGBYTES_FOREIGN };
enum aggbytes_kind aggbytes_kind(const char *path);

#endif
