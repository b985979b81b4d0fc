#include "analyze/read/zreader.h"

#include "analyze/base/hugemem.h"
#include "analyze/read/recfile.h"
#include "analyze/read/rowindex.h"
#include "analyze/read/zframe.h"
#include "libcommon/le.h"
#include "libcommon/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* For "buffer-less streaming": decompressing a block to a place of the caller's choice. */
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

/* Holds the largest compressed block with its header, and the next one's. */
#ifndef ZREADER_INPUT_BYTES
#define ZREADER_INPUT_BYTES (256u << 10)
#endif
/* Plain text is copied in pieces of this size. */
#define PLAIN_BYTES (ZREADER_INPUT_BYTES / 2)

/* A ring buffer, with room in front and padding after it. */
struct ring {
    struct ring *older; /* smaller rings whose text is still in use */
    char *mem;
    size_t n_bytes;
};

struct zreader {
    const struct zsource *source;
    ZSTD_DCtx *zstd;
    unsigned char *input;
    size_t in_pos, in_size; /* input[in_pos..in_size) is not used yet */
    uint64_t next;          /* file offset of the byte that follows input */
    uint64_t end;
    uint64_t limit; /* no byte beyond is used: `end`, or where the current frame must end */
    bool careful;
    struct zsource_near near; /* buffer for finding that end */
    uint64_t frame_start;
    uint64_t header_at; /* of the rewritten header, which may begin after frame_start */
    uint64_t to_skip;   /* bytes left of a skippable frame */
    bool in_frame, has_checksum, at_eof;
    bool resync;             /* look for the next magic number */
    bool in_garbage;         /* no frame begins at frame_start */
    uint64_t n_told, n_text; /* size of the frame's text: as its header says; decompressed so far */
    int read_errno;
    bool is_shorter; /* the file has shrunk since it was opened */
    struct zreader_counts counts;

    size_t piece_bytes, front_bytes, keep_bytes;
    size_t block_bytes; /* the most that one step writes */
    struct ring *ring;
    bool given;       /* some text of this range was handed out */
    size_t begin, at; /* text in the ring that is not handed out yet: [begin, at) */
    /* The event after that text. ZEVENT_MORE: the ring wraps, and text goes on at its start. */
    struct zresult last;
    bool stopped; /* `last` is set */
};

struct zreader *zreader_new(size_t piece_bytes, size_t front_bytes, struct err *e)
{
    struct zreader *r;

    if (!mem_cleared(&r, 1, e))
        return NULL;
    r->piece_bytes = piece_bytes;
    r->front_bytes = front_bytes;
    if (mem_new(&r->input, ZREADER_INPUT_BYTES, e))
        return r;
    zreader_free(r);
    return NULL;
}

static void free_rings(struct ring *ring)
{
    while (ring) {
        struct ring *older = ring->older;
        free(ring->mem);
        free(ring);
        ring = older;
    }
}

void zreader_free(struct zreader *r)
{
    if (!r)
        return;
    ZSTD_freeDCtx(r->zstd);
    free(r->input);
    free_rings(r->ring);
    free(r);
}

struct zreader_counts zreader_counts(const struct zreader *r)
{
    return r->counts;
}

/* ---- The ring ---- */

static char *ring_text(const struct zreader *r)
{
    return r->ring->mem + r->front_bytes;
}

/* Makes the ring large enough for frames with this window. No text may wait to be handed out. A new
 * block may overwrite only text that is outside zstd's window and need not stay; wrapping can leave
 * up to a block unused. False: out of memory. */
static bool ring_for(struct zreader *r, uint64_t window)
{
    size_t stay = r->keep_bytes + r->piece_bytes + ROWINDEX_PADDING + r->block_bytes;
    size_t n_bytes = (window > stay ? (size_t)window : stay) + 2 * r->block_bytes;

    if (!r->given && r->ring && (r->ring->older || r->ring->n_bytes < n_bytes)) {
        free_rings(r->ring);
        r->ring = NULL;
    }
    if (r->ring && r->ring->n_bytes >= n_bytes)
        return true;
    if (r->ring && n_bytes < 2 * r->ring->n_bytes) /* so all older rings together are smaller */
        n_bytes = 2 * r->ring->n_bytes;
    struct ring *ring;
    if (!mem_new(&ring, 1, NULL))
        return false;
    char *mem = hugemem_alloc(r->front_bytes + n_bytes + ROWINDEX_PADDING);
    *ring = (struct ring){r->ring, mem, n_bytes};
    if (mem == NULL) {
        free(ring);
        return false;
    }
    r->ring = ring;
    r->begin = r->at = 0;
    return true;
}

/* Whether a block fits at `at`. */
static bool has_room(const struct zreader *r)
{
    return r->at + r->block_bytes <= r->ring->n_bytes;
}

bool zreader_range(struct zreader *r, const struct zsource *s, uint64_t start, uint64_t end,
                   size_t keep_bytes, bool careful)
{
    r->source = s;
    r->next = start;
    r->end = s->seekable && end > s->size ? s->size : end;
    r->limit = r->end;
    r->careful = careful && s->seekable;
    r->near.from = r->near.n = 0;
    r->in_pos = r->in_size = 0;
    r->in_frame = r->at_eof = r->resync = r->in_garbage = r->stopped = false;
    r->frame_start = start;
    r->to_skip = 0;
    r->read_errno = 0;
    r->is_shorter = false;
    r->counts = (struct zreader_counts){0};
    r->keep_bytes = keep_bytes;
    r->block_bytes = (s->compressed ? ZSTD_BLOCKSIZE_MAX : PLAIN_BYTES) + ROWINDEX_PADDING;
    r->begin = r->at = 0;
    r->given = false;
    r->last = (struct zresult){0};
    if (!s->seekable) {
        memcpy(r->input, s->first, s->n_first);
        r->in_size = s->n_first;
        r->next = s->n_first;
    }
    if (s->compressed && r->zstd == NULL)
        r->zstd = ZSTD_createDCtx();
    return (!s->compressed || r->zstd != NULL) && ring_for(r, 0);
}

/* Puts an event after the text decompressed so far. */
static void stop(struct zreader *r, enum zevent event)
{
    r->last.event = event;
    r->stopped = true;
    memset(ring_text(r) + r->at, 0, ROWINDEX_PADDING);
}

/* ---- Input ---- */

static uint64_t position(const struct zreader *r)
{
    return r->next - (r->in_size - r->in_pos);
}

/* Returns the unused bytes of the input up to the limit. */
static size_t available(const struct zreader *r)
{
    return r->next <= r->limit ? r->in_size - r->in_pos : (size_t)(r->limit - position(r));
}

/* Reads until at least n bytes are available, or all up to the limit. */
static void need(struct zreader *r, size_t n)
{
    if (available(r) >= n || r->at_eof || r->next > r->limit)
        return;
    memmove(r->input, r->input + r->in_pos, r->in_size - r->in_pos);
    r->in_size -= r->in_pos;
    r->in_pos = 0;
    while (available(r) < n && r->next <= r->limit && !r->at_eof) {
        size_t room = ZREADER_INPUT_BYTES - r->in_size;
        ssize_t got;

        if (room > r->end - r->next)
            room = (size_t)(r->end - r->next);
        got = zsource_read(r->source, r->input + r->in_size, room, r->next);
        if (got < 0)
            r->read_errno = errno;
        r->is_shorter = got == 0 && room > 0 && r->source->seekable;
        if (got <= 0) {
            r->at_eof = true;
            break;
        }
        r->in_size += (size_t)got;
        r->next += (uint64_t)got;
    }
}

/* Uses no byte beyond `limit` from now on. */
static void set_limit(struct zreader *r, uint64_t limit)
{
    r->limit = limit;
    r->at_eof = false;
}

/* Skips forward to `to`. Does not read again what the input buffer holds. */
static void go_forward(struct zreader *r, uint64_t to)
{
    if (to <= r->next) {
        r->in_pos = r->in_size - (size_t)(r->next - to);
    } else {
        r->next = to;
        r->in_pos = r->in_size = 0;
    }
}

/* ---- Frames ---- */

/* Returns where the current frame must end, so that a damaged length cannot swallow later frames.
 */
static uint64_t end_of_frame(struct zreader *r)
{
    uint64_t end = zsource_frame_end(r->source, &r->near, r->frame_start);

    return end < r->end ? end : r->end;
}

/* Goes to the next frame after damage. */
static void to_next_frame(struct zreader *r)
{
    r->resync = false;
    if (r->careful && !r->in_garbage) {
        bool known = r->limit > r->frame_start && r->limit < r->source->size;
        if (known) {
            go_forward(r, r->limit);
        } else { /* from the file: a header in the input may have been rewritten */
            r->next = r->frame_start + 1;
            r->in_pos = r->in_size = 0;
        }
        set_limit(r, r->end);
    } else if (position(r) == r->header_at && available(r)) {
        r->in_pos++;
    }
    for (;;) {
        need(r, 4);
        if (available(r) < 4) {
            r->in_pos += available(r);
            return;
        }
        for (; available(r) >= 4; r->in_pos++)
            if (zframe_is_magic((uint32_t)le_load(r->input + r->in_pos, 4)))
                return;
    }
}

static void fail(struct zreader *r, const char *why)
{
    snprintf(r->last.why, sizeof r->last.why, "%s", why);
    stop(r, ZEVENT_FAILED);
}

/* Whether reading the file has failed. */
static bool cannot_read(const struct zreader *r)
{
    return r->read_errno || r->is_shorter;
}

static void fail_reading(struct zreader *r)
{
    if (r->is_shorter)
        snprintf(r->last.why, sizeof r->last.why,
                 "the file became shorter while it was read: of %llu bytes, those from %llu on are "
                 "gone (if it is copied or recorded just now, read it when that is done)",
                 (unsigned long long)r->source->size, (unsigned long long)r->next);
    else
        snprintf(r->last.why, sizeof r->last.why, "cannot read: %s", strerror(r->read_errno));
    stop(r, ZEVENT_FAILED);
}

static void damage(struct zreader *r, const char *what)
{
    snprintf(r->last.why, sizeof r->last.why, "damaged zstd frame (at byte %llu): %s",
             (unsigned long long)r->frame_start, what);
    stop(r, ZEVENT_DAMAGE);
    r->in_frame = false;
    r->resync = true;
}

/* Reports that the input, or the part of it up to the limit, ends inside a frame. */
static void cut(struct zreader *r)
{
    if (cannot_read(r)) {
        fail_reading(r);
        return;
    }
    r->in_pos += available(r);
    r->in_frame = false;
    /* A careful reader has looked for the end of the frame already. */
    uint64_t end = r->careful ? r->limit : end_of_frame(r);
    if (r->source->seekable && end < r->source->size) {
        /* How far zstd reads ahead depends on the number of threads. The report of damage must not:
         * it always has the same byte and the same words. */
        damage(r, ZSTD_getErrorString(ZSTD_error_corruption_detected));
        return;
    }
    snprintf(r->last.why, sizeof r->last.why,
             "the file ends inside the zstd frame that begins at byte %llu: it %s",
             (unsigned long long)r->frame_start,
             r->source->seekable && zsource_grew(r->source) ? "is still being written"
                                                            : "was cut off");
    stop(r, ZEVENT_CUT);
}

/* Returns a window descriptor (RFC 8878, 3.1.1.1.2) that allows n bytes and a block of any size. */
static unsigned char window_for(uint64_t n)
{
    unsigned log = 17, eighths = 0;

    while (log <= RECFILE_MAX_WINDOW_LOG && (uint64_t)(8 + eighths) << (log - 3) < n)
        if (++eighths == 8) {
            eighths = 0;
            log++;
        }
    return (unsigned char)((log - 10) << 3 | eighths);
}

/* Removes the checksum flag and the content size from the header of n bytes at the current
 * position, which may become shorter. Otherwise zstd would throw away the last block of a frame
 * whose checksum or size is wrong. */
static void rewrite_header(struct zreader *r, size_t n)
{
    unsigned char *h = r->input + r->in_pos, descriptor = h[4];

    r->n_text = 0;
    r->n_told = ZSTD_getFrameContentSize(h, n);
    r->has_checksum = descriptor & ZFRAME_CHECKSUM_FLAG;
    h[4] &= (unsigned char)~ZFRAME_CHECKSUM_FLAG;
    if (r->n_told >= ZSTD_CONTENTSIZE_ERROR) /* size not given, or a header that zstd will not
                                                take */
        return;
    bool single_segment = descriptor & ZFRAME_SINGLE_SEGMENT_FLAG;
    unsigned char window = single_segment ? window_for(r->n_told) : h[5];
    unsigned char flags = descriptor & ZFRAME_DICTIONARY_FLAGS;
    size_t n_new = 4 + zframe_header_size(flags);
    unsigned char *new_header = h + n - n_new;
    memmove(new_header + 6, h + (single_segment ? 5 : 6), n_new - 6);
    memmove(new_header, h, 4);
    new_header[4] = flags;
    new_header[5] = window;
    r->in_pos += n - n_new;
}

/* Returns why the frame whose header begins these n bytes cannot be read; NULL: it can. */
static const char *header_fault(const unsigned char *bytes, size_t n, ZSTD_frameHeader *header)
{
    size_t missing = ZSTD_getFrameHeader(header, bytes, n);

    if (ZSTD_getErrorCode(missing) == ZSTD_error_frameParameter_windowTooLarge ||
        (missing == 0 && header->windowSize > (uint64_t)1 << RECFILE_MAX_WINDOW_LOG))
        return "its window is larger than 128 MiB (zstd -dc --long=31 FILE | s3analyze ... -)";
    if (ZSTD_isError(missing))
        return ZSTD_getErrorName(missing);
    if (missing)
        return ZSTD_getErrorString(ZSTD_error_corruption_detected);
    return header->dictID ? "Dictionary needed (zstd -dc -D DICTIONARY FILE | s3analyze ... -)"
                          : NULL;
}

/* Reports that the limit lies inside a frame's header. Reads the header from the file, beyond the
 * limit, so that the message is the same as when the whole file is read. */
static void cut_header(struct zreader *r)
{
    unsigned char bytes[ZSTD_FRAMEHEADERSIZE_MAX];
    ZSTD_frameHeader header;
    const char *why = NULL;

    if (!cannot_read(r) && r->source->seekable && r->limit < r->source->size) {
        ssize_t n = zsource_read(r->source, bytes, sizeof bytes, r->frame_start);
        why = n > 0 ? header_fault(bytes, (size_t)n, &header) : NULL;
    }
    if (why)
        damage(r, why);
    else
        cut(r);
}

/* Begins to read the frame whose header of n bytes is at the current position. */
static void begin_frame(struct zreader *r, size_t n)
{
    ZSTD_frameHeader header;

    rewrite_header(r, n);
    r->header_at = position(r);
    const char *why = header_fault(r->input + r->in_pos, available(r), &header);
    if (why)
        damage(r, why);
    else if (!ring_for(r, header.windowSize))
        fail(r, "out of memory");
    else
        r->in_frame = !ZSTD_isError(ZSTD_decompressBegin(r->zstd));
}

/* Finds out what begins at the current position: a frame, a skippable frame, garbage or the end. */
static void next_frame(struct zreader *r)
{
    if (r->resync)
        to_next_frame(r);
    need(r, 5);
    if (cannot_read(r)) {
        fail_reading(r);
        return;
    }
    r->frame_start = r->header_at = position(r);
    if (available(r) == 0) {
        stop(r, ZEVENT_END);
        return;
    }
    uint32_t magic = available(r) >= 4 ? (uint32_t)le_load(r->input + r->in_pos, 4) : 0;
    if (zframe_is_skippable(magic)) {
        need(r, 8);
        if (available(r) < 8) {
            cut(r);
            return;
        }
        r->to_skip = 8 + (uint64_t)(uint32_t)le_load(r->input + r->in_pos + 4, 4);
        if (r->careful)
            set_limit(r, end_of_frame(r));
        r->counts.n_skippable++;
        return;
    }
    if (magic != ZFRAME_MAGIC) {
        snprintf(r->last.why, sizeof r->last.why, "no zstd frame at byte %llu",
                 (unsigned long long)r->frame_start);
        stop(r, ZEVENT_GARBAGE);
        r->resync = r->in_garbage = true;
        return;
    }
    r->in_garbage = false;
    if (r->careful)
        set_limit(r, end_of_frame(r));
    size_t n_header = available(r) < 5 ? 5 : 4 + zframe_header_size(r->input[r->in_pos + 4]);
    need(r, n_header);
    if (available(r) < n_header)
        cut_header(r);
    else
        begin_frame(r, n_header);
}

/* Ends a frame whose blocks are all decompressed. */
static void end_frame(struct zreader *r)
{
    if (r->has_checksum) {
        need(r, 4);
        if (available(r) < 4) {
            cut(r);
            return;
        }
        r->last.checksum = (uint32_t)le_load(r->input + r->in_pos, 4);
        r->in_pos += 4;
    }
    if (r->n_told < ZSTD_CONTENTSIZE_ERROR && r->n_text != r->n_told) {
        damage(r, "it does not hold as much as its header says");
        return;
    }
    r->last.has_checksum = r->has_checksum;
    stop(r, ZEVENT_FRAME_END);
    r->in_frame = false;
    r->counts.n_frames++;
    if (r->careful)
        set_limit(r, r->end);
}

/* One step inside a frame: a header, or a block. */
static void step_frame(struct zreader *r)
{
    size_t want = ZSTD_nextSrcSizeToDecompress(r->zstd);

    if (want == 0) {
        end_frame(r);
        return;
    }
    if (!has_room(r)) {
        stop(r, ZEVENT_MORE);
        return;
    }
    need(r, want);
    size_t n = available(r) < want ? available(r) : want;
    size_t got = ZSTD_decompressContinue(r->zstd, ring_text(r) + r->at, r->ring->n_bytes - r->at,
                                         r->input + r->in_pos, n);
    if (!ZSTD_isError(got)) {
        r->in_pos += n;
        r->at += got;
        r->n_text += got;
    } else if (n < want) { /* an uncompressed block may be cut: zstd takes what there is */
        cut(r);
    } else {
        /* One message for all errors: which check fails first depends on the room in the ring. */
        damage(r, ZSTD_getErrorString(ZSTD_error_corruption_detected));
    }
}

static void skip(struct zreader *r)
{
    need(r, 1);
    size_t n = available(r);
    if (n == 0) {
        r->to_skip = 0;
        cut(r);
        return;
    }
    if (n > r->to_skip)
        n = (size_t)r->to_skip;
    r->in_pos += n;
    r->to_skip -= n;
    if (r->to_skip == 0 && r->careful)
        set_limit(r, r->end);
}

static void step_plain(struct zreader *r)
{
    if (!has_room(r)) {
        stop(r, ZEVENT_MORE);
        return;
    }
    need(r, 1);
    size_t n = available(r) < PLAIN_BYTES ? available(r) : PLAIN_BYTES;
    memcpy(ring_text(r) + r->at, r->input + r->in_pos, n);
    r->in_pos += n;
    r->at += n;
    if (n == 0 && cannot_read(r))
        fail_reading(r);
    else if (n == 0)
        stop(r, ZEVENT_END);
}

static void step(struct zreader *r)
{
    if (!r->source->compressed)
        step_plain(r);
    else if (r->to_skip)
        skip(r);
    else if (r->in_frame)
        step_frame(r);
    else
        next_frame(r);
}

void zreader_read(struct zreader *r, struct zresult *result)
{
    /* After a piece lies more text, or padding, so nothing there changes later. */
    while (!r->stopped && r->at - r->begin < r->piece_bytes + ROWINDEX_PADDING)
        step(r);
    size_t n = r->at - r->begin, begin = r->begin;
    if (r->stopped && n <= r->piece_bytes) {
        *result = r->last;
        r->last = (struct zresult){0};
        r->stopped = false;
        r->at += ROWINDEX_PADDING;
        if (result->event == ZEVENT_MORE || !has_room(r))
            r->at = 0;
        r->begin = r->at;
    } else {
        n = r->piece_bytes;
        *result = (struct zresult){.event = ZEVENT_MORE};
        r->begin += n;
    }
    r->given = true;
    result->n = n;
    result->text = ring_text(r) + begin;
    result->position = r->next;
}
