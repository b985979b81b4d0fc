/* Writes captures (docs/how-the-numbers-are-made.md, section 1): s3load, `s3analyze cat` and
 * `merge`.
 *
 * Text is gathered into frames of at most 4 MiB that end where a row ends. Each is compressed on
 * its own, with a content checksum and a window of at most 2 MiB, so that a capture cut off
 * anywhere is readable up to its last whole frame. Plain captures are written in the same portions.
 *
 * The first error sticks: every later call fails with it. */
#ifndef S3_LIBCOMMON_RECWRITE_H
#define S3_LIBCOMMON_RECWRITE_H

#include "libcommon/err.h"
#include "libcommon/record.h"

#include <stdbool.h>
#include <stddef.h>

#ifndef RECWRITE_FRAME_BYTES
#define RECWRITE_FRAME_BYTES (4u << 20) /* of text */
#endif
#define RECWRITE_DEFAULT_LEVEL 3
#define RECWRITE_MAX_LEVEL     19
#define RECWRITE_MAX_THREADS   16

struct recwrite_options {
    int fd;           /* to write to; stays open */
    const char *name; /* of the file, for messages; borrowed */
    bool compress;
    int level;        /* of compression; 0: RECWRITE_DEFAULT_LEVEL */
    bool intended;    /* write the column `intended` */
    bool sync;        /* fdatasync after each frame; a frame that is not written whole is removed */
    unsigned threads; /* threads that compress frames; 0: the caller's thread does */
};

struct recwrite;

/* Starts a capture with its header line. NULL: *e says why. */
struct recwrite *recwrite_open(const struct recwrite_options *options, struct err *e);

/* Writes a request; its idx is the running number, its times are 0 or later. A row of more than
 * 1 MiB is an error. */
bool recwrite_row(struct recwrite *w, const struct record *r, struct err *e);

/* Writes a copy of a row that rowformat_put has made. The row must have the column `intended` if
 * and only if the options say so. */
bool recwrite_text(struct recwrite *w, const char *row, size_t n, struct err *e);

/* Writes a comment line: n bytes of `text` behind "# ", without a newline in them. */
bool recwrite_comment(struct recwrite *w, const char *text, size_t n, struct err *e);

/* Writes another header line: readers take what follows as another capture. */
bool recwrite_header(struct recwrite *w, bool intended, struct err *e);

/* Closes the frame, if there is anything in it. Without threads it has been written (and synced)
 * when this returns. */
bool recwrite_end_frame(struct recwrite *w, struct err *e);

/* Writes what is left and frees w. False: some of the capture was not written. */
bool recwrite_close(struct recwrite *w, struct err *e);

/* Frees w; what is in the open frame is lost. NULL is allowed. */
void recwrite_discard(struct recwrite *w);

#endif
