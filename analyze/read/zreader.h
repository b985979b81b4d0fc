/* Decompresses a range of a capture, piece by piece. The text goes into a ring of memory in which
 * zstd finds what it looks back at: no byte is copied, and text that was handed out stays in place
 * for a while. Frames are fed to zstd block by block, so that all that stands before a damaged
 * block comes out, whatever the pieces are. */
#ifndef S3_ANALYZE_READ_ZREADER_H
#define S3_ANALYZE_READ_ZREADER_H

#include "analyze/read/zsource.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum zevent {
    ZEVENT_MORE,      /* the text goes on */
    ZEVENT_FRAME_END, /* a frame ended; check its checksum */
    ZEVENT_DAMAGE,    /* a damaged frame; what follows is from the next one */
    ZEVENT_CUT,       /* the file ends inside a frame */
    ZEVENT_GARBAGE,   /* bytes that are no frame; what follows is from the next one */
    ZEVENT_END,       /* all read */
    ZEVENT_FAILED,    /* cannot be read */
};

/* A piece of text, and the event that follows it. */
struct zresult {
    char *text; /* ROWINDEX_PADDING bytes behind it can be read, and are not written meanwhile */
    size_t n;
    enum zevent event;
    bool has_checksum; /* ZEVENT_FRAME_END */
    uint32_t checksum;
    uint64_t position; /* bytes of the file read so far */
    char why[200];     /* damage, cut, garbage, failed */
};

/* Ranges of a seekable source can be read in parallel, by a reader each. */
struct zreader;

/* Pieces will be of piece_bytes, or fewer before an event or where the ring turns. The caller may
 * write to front_bytes in front of a piece that does not follow the one before it in memory. */
struct zreader *zreader_new(size_t piece_bytes, size_t front_bytes, struct err *e);
void zreader_free(struct zreader *r);

/* Begins to read [start, end); end UINT64_MAX: to the end of the input (must be so for a pipe).
 * Text stays in place until keep_bytes more were handed out, in whole pieces. `careful`: look where
 * each frame must end before reading it, so that one with a damaged length does not take those
 * behind it along (sources that can seek only; costs a look at every block header). False: out of
 * memory. */
bool zreader_range(struct zreader *r, const struct zsource *s, uint64_t start, uint64_t end,
                   size_t keep_bytes, bool careful);

/* The next piece. Within a frame it mostly follows the one before it in memory. */
void zreader_read(struct zreader *r, struct zresult *result);

/* Of the current range, so far. */
uint64_t zreader_n_frames(const struct zreader *r);
uint64_t zreader_n_skippable(const struct zreader *r);

#endif
