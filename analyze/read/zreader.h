/* Decompresses a range of a capture, piece by piece. The text goes into a ring buffer, which is
 * also zstd's window: no byte is copied, and text that was handed out stays in place for a while.
 * zstd gets the frames block by block, so all text before a damaged block comes out, whatever the
 * size of the pieces. */
#ifndef S3_ANALYZE_READ_ZREADER_H
#define S3_ANALYZE_READ_ZREADER_H

#include "analyze/read/zsource.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum zevent {
    ZEVENT_MORE,      /* the text goes on */
    ZEVENT_FRAME_END, /* a frame ended; the caller checks its checksum */
    ZEVENT_DAMAGE,    /* a damaged frame; the text goes on with the next frame */
    ZEVENT_CUT,       /* the file ends inside a frame */
    ZEVENT_GARBAGE,   /* bytes that are not a frame; the text goes on with the next frame */
    ZEVENT_END,       /* all read */
    ZEVENT_FAILED,    /* cannot be read */
};

/* A piece of text, and the event that follows it. */
struct zresult {
    char *text; /* ROWINDEX_PADDING bytes after it are readable and do not change */
    size_t n;
    enum zevent event;
    bool has_checksum; /* only for ZEVENT_FRAME_END */
    uint32_t checksum;
    uint64_t position; /* bytes of the file read so far */
    char why[200];     /* for damage, cut, garbage and failed */
};

/* Ranges of a seekable source can be read in parallel, by a reader each. */
struct zreader;

/* Makes a reader whose pieces have piece_bytes, or fewer before an event and where the ring wraps.
 * If a piece does not follow the one before it in memory, the caller may write to the front_bytes
 * before it. NULL: out of memory. */
struct zreader *zreader_new(size_t piece_bytes, size_t front_bytes, struct err *e);
void zreader_free(struct zreader *r);

/* Begins to read bytes [start, end); end UINT64_MAX: to the end of the input, which a pipe needs.
 * Text stays in place until keep_bytes more have been handed out, in whole pieces. `careful`: find
 * the end of each frame before reading it, so that a frame with a damaged length does not swallow
 * those after it. This reads every block header, and has no effect unless the source can seek.
 * False: out of memory. */
bool zreader_range(struct zreader *r, const struct zsource *s, uint64_t start, uint64_t end,
                   size_t keep_bytes, bool careful);

/* Reads the next piece. Within a frame it usually follows the one before it in memory. */
void zreader_read(struct zreader *r, struct zresult *result);

/* Returns the numbers of frames read in the current range so far. */
struct zreader_counts {
    uint64_t n_frames, n_skippable;
};
struct zreader_counts zreader_counts(const struct zreader *r);

#endif
