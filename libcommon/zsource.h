/* The bytes of a capture: a file or a pipe, plain or zstd, decompressed piece by piece. Frames are
 * fed to zstd block by block, so that all that stands before a damaged block comes out. A frame
 * that is known to be small is decompressed into one piece of memory as a whole: zstd then keeps no
 * copy of its own of what it needs to look back at. */
#ifndef S3_ZSOURCE_H
#define S3_ZSOURCE_H

#include "err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An open capture. */
struct zsource {
    const char *path; /* for messages; borrowed */
    int fd;
    bool close_fd;
    bool seekable;
    bool compressed;
    uint64_t size;           /* 0: not seekable */
    unsigned char first[16]; /* a pipe's first bytes, already read */
    size_t n_first;
};

/* Opens `path` ("-": standard input) and looks at its first bytes. False: cannot be read, or is a
 * format that is not ours (gzip, xz, ...: the message says what to do). */
bool zsource_open(struct zsource *s, const char *path, struct err *e);
/* Copies a source that cannot seek into a temporary file, which then stands in for it. */
bool zsource_spool(struct zsource *s, struct err *e);
void zsource_close(struct zsource *s);

/* The end of the run of frames that begins at `start`, of at least min_bytes where the file has
 * them; s->size where the rest is damaged beyond finding a frame. *text_bound is what no frame of
 * the run holds more bytes of text than, 0 where that is not known. Seekable sources only. */
uint64_t zsource_range_end(const struct zsource *s, uint64_t start, uint64_t min_bytes,
                           uint64_t *text_bound);

enum zevent {
    ZEVENT_MORE,      /* the buffer is full */
    ZEVENT_FRAME_END, /* a frame ended; check its checksum */
    ZEVENT_DAMAGE,    /* a damaged frame; what follows is from the next one */
    ZEVENT_CUT,       /* the file ends inside a frame */
    ZEVENT_GARBAGE,   /* bytes that are no frame; what follows is from the next one */
    ZEVENT_END,       /* all read */
    ZEVENT_FAILED,    /* cannot be read */
};

struct zresult {
    size_t n; /* bytes put into the buffer; they stand before the event */
    enum zevent event;
    bool has_checksum; /* ZEVENT_FRAME_END */
    uint32_t checksum;
    uint64_t position; /* bytes of the file read so far */
    char why[200];     /* damage, cut, garbage, failed */
};

/* Decompresses one range of a source; ranges of a seekable source can be read in parallel. */
struct zreader;
struct zreader *zreader_new(struct err *e);
void zreader_free(struct zreader *r);
/* [start, end); end UINT64_MAX: to the end of the input (must be so for a pipe). `careful`: look
 * where each frame must end before reading it, so that one with a damaged length does not take
 * those behind it along (sources that can seek only; costs a look at every block header). */
void zreader_range(struct zreader *r, const struct zsource *s, uint64_t start, uint64_t end,
                   bool careful);
/* Each frame of the range just begun has at most cap bytes of text, and zreader_read may put a
 * whole one into its buffer, piece by piece. False: this zstd cannot do that; all stays as it was.
 */
bool zreader_hold_frames(struct zreader *r, size_t cap);
/* What of the current frame is in the buffer; 0 between frames, and where frames are not held. */
size_t zreader_n_held(const struct zreader *r);
/* Puts n bytes into buf, or fewer before an event. Where whole frames are held, they go behind what
 * is held, may be up to a block more, and buf must stay the same from call to call. */
void zreader_read(struct zreader *r, char *buf, size_t n, struct zresult *result);

/* Of the current range, so far. */
uint64_t zreader_n_frames(const struct zreader *r);
uint64_t zreader_n_skippable(const struct zreader *r);

#endif
