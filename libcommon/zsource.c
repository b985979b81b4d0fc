#include "zsource.h"

#include "le.h"
#include "recfile.h"
#include "tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* For ZSTD_d_stableOutBuffer: where a library does not know it, it says so, and is used without. */
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

#define FRAME_MAGIC          0xFD2FB528u
#define SKIPPABLE_MAGIC      0x184D2A50u
#define SKIPPABLE_MAGIC_MASK 0xFFFFFFF0u
#define CHECKSUM_FLAG        0x04
#define DICTIONARY_FLAGS     0x03
#define SINGLE_SEGMENT_FLAG  0x20
/* Holds the largest compressed block with its header, and the next one's. */
#define INPUT_BYTES          (256u << 10)

static bool is_frame_magic(uint32_t magic)
{
    return magic == FRAME_MAGIC || (magic & SKIPPABLE_MAGIC_MASK) == SKIPPABLE_MAGIC;
}

/* ---- Opening ---- */

struct foreign {
    const char *magic;
    size_t n;
    const char *what;
};

static const struct foreign foreign_formats[] = {
    {"\x1f\x8b", 2, "a gzip file: decompress it first (gzip -dc FILE | s3analyze ... -)"},
    {"\xfd"
     "7zXZ",
     5, "an xz file: decompress it first (xz -dc FILE | s3analyze ... -)"},
    {"BZh", 3, "a bzip2 file: decompress it first (bzip2 -dc FILE | s3analyze ... -)"},
    {"\x04\x22\x4d\x18", 4, "an lz4 file: decompress it first (lz4 -dc FILE | s3analyze ... -)"},
    {"PK\x03\x04", 4, "a zip archive: unpack it first"},
};

static ssize_t read_some(int fd, void *buf, size_t n)
{
    ssize_t got;

    do
        got = read(fd, buf, n);
    while (got < 0 && errno == EINTR);
    return got;
}

static bool read_first(struct zsource *s, struct err *e)
{
    while (s->n_first < sizeof s->first) {
        ssize_t got = read_some(s->fd, s->first + s->n_first, sizeof s->first - s->n_first);
        if (got < 0)
            return err_errno(e, errno, "%s: cannot read", s->path);
        if (got == 0)
            break;
        s->n_first += (size_t)got;
    }
    return true;
}

bool zsource_open(struct zsource *s, const char *path, struct err *e)
{
    struct stat st;

    memset(s, 0, sizeof *s);
    s->path = path;
    if (strcmp(path, "-") == 0) {
        s->path = "<stdin>";
        s->fd = STDIN_FILENO;
    } else {
        s->fd = open(path, O_RDONLY | O_CLOEXEC);
        if (s->fd < 0)
            return err_errno(e, errno, "%s: cannot open", path);
        s->close_fd = true;
    }
    if (fstat(s->fd, &st) != 0)
        return err_errno(e, errno, "%s: cannot read", s->path);
    if (S_ISDIR(st.st_mode))
        return err_set(e, "%s: is a directory, not a capture", s->path);
    if (S_ISREG(st.st_mode) && lseek(s->fd, 0, SEEK_CUR) == 0) {
        s->seekable = true;
        s->size = (uint64_t)st.st_size;
    }
    if (!read_first(s, e))
        return false;
    if (s->n_first == 0)
        return err_set(e, "%s: is empty", s->path);
    if (s->n_first >= 4 && is_frame_magic((uint32_t)le_load(s->first, 4)))
        s->compressed = true;
    for (size_t i = 0; i < sizeof foreign_formats / sizeof *foreign_formats; i++)
        if (s->n_first >= foreign_formats[i].n &&
            memcmp(s->first, foreign_formats[i].magic, foreign_formats[i].n) == 0)
            return err_set(e, "%s: this is %s", s->path, foreign_formats[i].what);
    return true;
}

bool zsource_spool(struct zsource *s, struct err *e)
{
    unsigned char buf[64 << 10];
    uint64_t at = s->n_first;
    ssize_t got = 0;
    int fd = tempfile_open(e);
    bool ok = fd >= 0 && tempfile_write(fd, s->first, s->n_first, 0, e);

    while (ok && (got = read_some(s->fd, buf, sizeof buf)) > 0) {
        ok = tempfile_write(fd, buf, (size_t)got, at, e);
        at += (uint64_t)got;
    }
    if (ok && got < 0)
        ok = err_errno(e, errno, "%s: cannot read", s->path);
    if (!ok) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    zsource_close(s);
    s->fd = fd;
    s->close_fd = s->seekable = true;
    s->size = at;
    return true;
}

void zsource_close(struct zsource *s)
{
    if (s->close_fd)
        close(s->fd);
    s->close_fd = false;
}

/* ---- Finding frames ---- */

static size_t pread_some(int fd, void *buf, size_t n, uint64_t at)
{
    size_t done = 0;

    while (done < n) {
        ssize_t got = pread(fd, (char *)buf + done, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

/* Bytes of a frame header behind the magic (RFC 8878, 3.1.1.1). */
static size_t header_size(unsigned char descriptor)
{
    static const unsigned char dictionary_bytes[4] = {0, 1, 2, 4}, content_bytes[4] = {0, 2, 4, 8};
    bool single_segment = descriptor & SINGLE_SEGMENT_FLAG;
    size_t n = 1 + dictionary_bytes[descriptor & DICTIONARY_FLAGS] + content_bytes[descriptor >> 6];

    if (!single_segment)
        n++; /* window descriptor */
    else if (descriptor >> 6 == 0)
        n++; /* one byte of content size */
    return n;
}

/* The end of the frame at `at`, by its block headers alone; 0 where they make no sense. *n_text is
 * what its blocks can hold at most, whatever its header says. */
static uint64_t frame_end(const struct zsource *s, uint64_t at, uint64_t *n_text)
{
    unsigned char b[8];
    size_t n_read = pread_some(s->fd, b, sizeof b, at);

    *n_text = 0;
    if (n_read < 5)
        return 0;
    uint32_t magic = (uint32_t)le_load(b, 4);
    if ((magic & SKIPPABLE_MAGIC_MASK) == SKIPPABLE_MAGIC)
        return n_read < 8 ? 0 : at + 8 + (uint32_t)le_load(b + 4, 4);
    if (magic != FRAME_MAGIC)
        return 0;
    unsigned char descriptor = b[4];
    uint64_t p = at + 4 + header_size(descriptor);
    for (bool last = false; !last;) {
        if (pread_some(s->fd, b, 3, p) < 3)
            return 0;
        uint32_t block = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16;
        unsigned type = block >> 1 & 3;
        last = block & 1;
        if (type == 3)
            return 0;
        p += 3 + (type == 1 ? 1 : block >> 3);
        *n_text += ZSTD_BLOCKSIZE_MAX;
    }
    return p + (descriptor & CHECKSUM_FLAG ? 4 : 0);
}

static bool frame_at(const struct zsource *s, uint64_t at)
{
    unsigned char b[4];

    return pread_some(s->fd, b, 4, at) == 4 && is_frame_magic((uint32_t)le_load(b, 4));
}

/* The next place at or after `at` that has a frame's magic number; s->size if none. */
static uint64_t find_frame(const struct zsource *s, uint64_t at)
{
    unsigned char buf[64 << 10];

    while (at < s->size) {
        size_t n = pread_some(s->fd, buf, sizeof buf, at);
        if (n < 4)
            break;
        for (size_t i = 0; i + 4 <= n; i++)
            if (is_frame_magic((uint32_t)le_load(buf + i, 4)))
                return at + i;
        at += n - 3;
    }
    return s->size;
}

uint64_t zsource_range_end(const struct zsource *s, uint64_t start, uint64_t min_bytes,
                           uint64_t *text_bound)
{
    uint64_t at = start, n_text;
    bool damaged = false;

    *text_bound = 0;
    while (at < s->size && at - start < min_bytes) {
        uint64_t end = frame_end(s, at, &n_text);
        if (n_text > *text_bound)
            *text_bound = n_text;
        if (end == 0 || end > s->size || (end < s->size && !frame_at(s, end))) {
            end = find_frame(s, at + 4);
            damaged = true;
        }
        at = end;
    }
    if (damaged)
        *text_bound = 0;
    return at < s->size ? at : s->size;
}

/* ---- Decompressing ---- */

struct zreader {
    const struct zsource *source;
    ZSTD_DCtx *zstd;
    unsigned char *input;
    size_t in_pos, in_size; /* input[in_pos..in_size) is not used yet */
    uint64_t next;          /* file offset of the byte that follows input */
    uint64_t end;
    uint64_t limit; /* nothing is read beyond: `end`, or where the current frame must end */
    bool careful;
    uint64_t frame_start;
    uint64_t header_at; /* of the header that zstd gets: may be behind frame_start */
    size_t want;        /* bytes of input that zstd asks for */
    uint64_t to_skip;   /* of a skippable frame */
    bool in_frame, has_checksum, at_eof, resync;
    uint64_t n_told, n_text; /* of the frame: as its header says, and what came out so far */
    size_t hold; /* whole frames of up to so many bytes stand in the buffer; 0: they do not */
    ZSTD_outBuffer out; /* what of the buffer is filled */
    int read_errno;
    uint64_t n_frames, n_skippable;
};

struct zreader *zreader_new(struct err *e)
{
    struct zreader *r = calloc(1, sizeof *r);

    if (r) {
        r->zstd = ZSTD_createDCtx();
        r->input = malloc(INPUT_BYTES);
    }
    if (!r || !r->zstd || !r->input ||
        ZSTD_isError(
            ZSTD_DCtx_setParameter(r->zstd, ZSTD_d_windowLogMax, RECFILE_MAX_WINDOW_LOG))) {
        zreader_free(r);
        err_set(e, "out of memory");
        return NULL;
    }
    return r;
}

void zreader_free(struct zreader *r)
{
    if (!r)
        return;
    ZSTD_freeDCtx(r->zstd);
    free(r->input);
    free(r);
}

bool zreader_hold_frames(struct zreader *r, size_t cap)
{
    ZSTD_DCtx_reset(r->zstd, ZSTD_reset_session_only);
    if (ZSTD_isError(ZSTD_DCtx_setParameter(r->zstd, ZSTD_d_stableOutBuffer, cap > 0)))
        return false;
    r->hold = cap;
    return true;
}

void zreader_range(struct zreader *r, const struct zsource *s, uint64_t start, uint64_t end,
                   bool careful)
{
    r->source = s;
    r->next = start;
    r->end = s->seekable && end > s->size ? s->size : end;
    r->limit = r->end;
    r->careful = careful && s->seekable;
    r->in_pos = r->in_size = 0;
    r->in_frame = r->at_eof = r->resync = false;
    r->frame_start = start;
    r->to_skip = 0;
    r->read_errno = 0;
    if (r->hold)
        zreader_hold_frames(r, 0);
    r->n_frames = r->n_skippable = 0;
    if (!s->seekable) {
        memcpy(r->input, s->first, s->n_first);
        r->in_size = s->n_first;
        r->next = s->n_first;
    }
}

uint64_t zreader_n_frames(const struct zreader *r)
{
    return r->n_frames;
}
uint64_t zreader_n_skippable(const struct zreader *r)
{
    return r->n_skippable;
}

size_t zreader_n_held(const struct zreader *r)
{
    return r->hold && r->in_frame ? r->out.pos : 0;
}

static size_t available(const struct zreader *r)
{
    return r->in_size - r->in_pos;
}
static uint64_t position(const struct zreader *r)
{
    return r->next - available(r);
}

/* Makes at least n bytes available, or all there are. */
static void need(struct zreader *r, size_t n)
{
    if (available(r) >= n || r->at_eof)
        return;
    memmove(r->input, r->input + r->in_pos, available(r));
    r->in_size -= r->in_pos;
    r->in_pos = 0;
    while (r->in_size < n && !r->at_eof) {
        size_t room = INPUT_BYTES - r->in_size;
        ssize_t got;
        if (room > r->limit - r->next)
            room = (size_t)(r->limit - r->next);
        if (r->source->seekable)
            do
                got = pread(r->source->fd, r->input + r->in_size, room, (off_t)r->next);
            while (got < 0 && errno == EINTR);
        else
            got = read_some(r->source->fd, r->input + r->in_size, room);
        if (got < 0)
            r->read_errno = errno;
        if (got <= 0) {
            r->at_eof = true;
            break;
        }
        r->in_size += (size_t)got;
        r->next += (uint64_t)got;
    }
}

/* Reads no further than `limit` from here on; what was read beyond is read again later. */
static void set_limit(struct zreader *r, uint64_t limit)
{
    r->limit = limit;
    r->at_eof = false;
    if (r->next > limit) {
        r->in_size -= (size_t)(r->next - limit);
        r->next = limit;
    }
}

/* Where the frame at frame_start must end: a damaged length must not swallow the frames behind. */
static uint64_t end_of_frame(const struct zreader *r)
{
    uint64_t n_text, end = frame_end(r->source, r->frame_start, &n_text);

    if (end == 0 || end > r->end || (end < r->end && !frame_at(r->source, end)))
        end = find_frame(r->source, r->frame_start + 1);
    return end < r->end ? end : r->end;
}

/* Goes to the next frame after damage. */
static void to_next_frame(struct zreader *r)
{
    r->resync = false;
    if (r->careful) {
        bool known = r->limit > r->frame_start && r->limit < r->source->size;
        r->next = known ? r->limit : r->frame_start + 1;
        r->in_pos = r->in_size = 0;
        set_limit(r, r->end);
    } else if (position(r) == r->header_at && available(r)) {
        r->in_pos++;
    }
    for (;;) {
        need(r, 4);
        if (available(r) < 4) {
            r->in_pos = r->in_size;
            return;
        }
        for (; available(r) >= 4; r->in_pos++)
            if (is_frame_magic((uint32_t)le_load(r->input + r->in_pos, 4)))
                return;
    }
}

static void fail(struct zresult *result, struct zreader *r)
{
    result->event = ZEVENT_FAILED;
    snprintf(result->why, sizeof result->why, "cannot read: %s", strerror(r->read_errno));
}

static void damage(struct zreader *r, struct zresult *result, const char *what)
{
    result->event = ZEVENT_DAMAGE;
    snprintf(result->why, sizeof result->why, "damaged zstd frame (at byte %llu): %s",
             (unsigned long long)r->frame_start, what);
    r->in_frame = false;
    r->resync = true;
}

/* The input, or the room that the frame has, ends inside a frame. */
static void cut(struct zreader *r, struct zresult *result)
{
    if (r->read_errno) {
        fail(result, r);
        return;
    }
    r->in_pos = r->in_size;
    r->in_frame = false;
    if (r->source->seekable && r->limit < r->source->size) {
        /* As where zstd reads on behind it: how far it may read depends on the threads. */
        damage(r, result, ZSTD_getErrorString(ZSTD_error_corruption_detected));
        return;
    }
    result->event = ZEVENT_CUT;
    snprintf(result->why, sizeof result->why,
             "the file ends inside the zstd frame that begins at byte %llu: it was cut off",
             (unsigned long long)r->frame_start);
}

/* The window descriptor (RFC 8878, 3.1.1.1.2) for n bytes, and for a block of any size. */
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

/* Makes zstd look for no checksum and rely on no size: it would throw away the last block where
 * either is wrong, and how much of a frame it takes before that depends on the room it is given.
 * The header of n bytes at the current position may become shorter. */
static void rewrite_header(struct zreader *r, size_t n)
{
    unsigned char *h = r->input + r->in_pos, descriptor = h[4];

    r->n_text = 0;
    r->n_told = ZSTD_getFrameContentSize(h, n);
    r->has_checksum = descriptor & CHECKSUM_FLAG;
    h[4] &= (unsigned char)~CHECKSUM_FLAG;
    if (r->n_told >= ZSTD_CONTENTSIZE_ERROR) /* not told, or a header that zstd will not take */
        return;
    bool single_segment = descriptor & SINGLE_SEGMENT_FLAG;
    unsigned char window = single_segment ? window_for(r->n_told) : h[5];
    unsigned char flags = descriptor & DICTIONARY_FLAGS;
    size_t n_new = 4 + header_size(flags);
    unsigned char *new_header = h + n - n_new;
    memmove(new_header + 6, h + (single_segment ? 5 : 6), n_new - 6);
    memmove(new_header, h, 4);
    new_header[4] = flags;
    new_header[5] = window;
    r->in_pos += n - n_new;
}

/* Looks at what begins at the current position. True: go on reading; false: *result is an event. */
static bool next_frame(struct zreader *r, struct zresult *result)
{
    if (r->resync)
        to_next_frame(r);
    need(r, 5);
    if (r->read_errno) {
        fail(result, r);
        return false;
    }
    r->frame_start = r->header_at = position(r);
    if (available(r) == 0) {
        result->event = ZEVENT_END;
        return false;
    }
    uint32_t magic = available(r) >= 4 ? (uint32_t)le_load(r->input + r->in_pos, 4) : 0;
    if ((magic & SKIPPABLE_MAGIC_MASK) == SKIPPABLE_MAGIC) {
        need(r, 8);
        if (available(r) < 8) {
            cut(r, result);
            return false;
        }
        r->to_skip = 8 + (uint64_t)(uint32_t)le_load(r->input + r->in_pos + 4, 4);
        if (r->careful)
            set_limit(r, end_of_frame(r));
        r->n_skippable++;
        return true;
    }
    if (magic != FRAME_MAGIC) {
        result->event = ZEVENT_GARBAGE;
        snprintf(result->why, sizeof result->why, "no zstd frame at byte %llu",
                 (unsigned long long)r->frame_start);
        r->resync = true;
        return false;
    }
    if (r->careful)
        set_limit(r, end_of_frame(r));
    size_t n_header = available(r) < 5 ? 5 : 4 + header_size(r->input[r->in_pos + 4]);
    need(r, n_header);
    if (available(r) < n_header) {
        cut(r, result);
        return false;
    }
    rewrite_header(r, n_header);
    r->header_at = position(r);
    ZSTD_DCtx_reset(r->zstd, ZSTD_reset_session_only);
    r->want = 5;
    r->in_frame = true;
    return true;
}

static const char *what_is_wrong(size_t error)
{
    ZSTD_ErrorCode code = ZSTD_getErrorCode(error);

    if (code == ZSTD_error_frameParameter_windowTooLarge)
        return "its window is larger than 128 MiB";
    if (code == ZSTD_error_dstSize_tooSmall) /* of the room that its own header asks for */
        code = ZSTD_error_corruption_detected;
    return ZSTD_getErrorString(code);
}

/* One step inside a frame. True: go on; false: *result is an event. */
static bool step_frame(struct zreader *r, ZSTD_outBuffer *out, struct zresult *result)
{
    need(r, r->want);
    size_t n = available(r) < r->want ? available(r) : r->want;
    ZSTD_inBuffer in = {r->input + r->in_pos, n, 0};
    size_t before = out->pos;
    size_t want = ZSTD_decompressStream(r->zstd, out, &in);
    if (ZSTD_isError(want)) {
        damage(r, result, what_is_wrong(want));
        return false;
    }
    r->in_pos += in.pos;
    r->n_text += out->pos - before;
    if (want == 0) {
        if (r->has_checksum) {
            need(r, 4);
            if (available(r) < 4) {
                cut(r, result);
                return false;
            }
            result->checksum = (uint32_t)le_load(r->input + r->in_pos, 4);
            r->in_pos += 4;
        }
        if (r->n_told < ZSTD_CONTENTSIZE_ERROR && r->n_text != r->n_told) {
            damage(r, result, "it does not hold as much as its header says");
            return false;
        }
        result->has_checksum = r->has_checksum;
        result->event = ZEVENT_FRAME_END;
        r->in_frame = false;
        r->n_frames++;
        if (r->careful)
            set_limit(r, r->end);
        return false;
    }
    if (in.pos == 0 && out->pos == before && available(r) < r->want) {
        cut(r, result);
        return false;
    }
    /* Bytes that zstd did not take yet are still wanted. */
    r->want = in.pos < n ? n - in.pos : want;
    if (r->want > INPUT_BYTES)
        r->want = INPUT_BYTES;
    return true;
}

static void read_plain(struct zreader *r, char *buf, size_t cap, struct zresult *result)
{
    while (result->n < cap) {
        need(r, 1);
        size_t n = available(r);
        if (n == 0) {
            if (r->read_errno)
                fail(result, r);
            else
                result->event = ZEVENT_END;
            return;
        }
        if (n > cap - result->n)
            n = cap - result->n;
        memcpy(buf + result->n, r->input + r->in_pos, n);
        r->in_pos += n;
        result->n += n;
    }
}

void zreader_read(struct zreader *r, char *buf, size_t n, struct zresult *result)
{
    ZSTD_outBuffer *out = &r->out;

    memset(result, 0, offsetof(struct zresult, why));
    result->event = ZEVENT_MORE;
    result->why[0] = '\0';
    if (!r->source->compressed)
        read_plain(r, buf, n, result);
    size_t begin = zreader_n_held(r), end = begin + n;
    if (begin == 0)
        *out = (ZSTD_outBuffer){buf, r->hold ? r->hold : n, 0};
    /* What is held has an end of its own: room is never what ends it. */
    bool to_event = r->hold && out->size <= end;
    while (r->source->compressed && (out->pos < end || to_event)) {
        if (r->to_skip) {
            need(r, 1);
            size_t n_skip = available(r);
            if (n_skip == 0) {
                r->to_skip = 0;
                cut(r, result);
                break;
            }
            if (n_skip > r->to_skip)
                n_skip = (size_t)r->to_skip;
            r->in_pos += n_skip;
            r->to_skip -= n_skip;
            if (r->to_skip == 0 && r->careful)
                set_limit(r, r->end);
        } else if (!(r->in_frame ? step_frame(r, out, result) : next_frame(r, result))) {
            break;
        }
    }
    if (r->source->compressed)
        result->n = out->pos - begin;
    result->position = r->next;
}
