#include "analyze/read/zsource.h"

#include "analyze/base/tempfile.h"
#include "analyze/read/zframe.h"
#include "libcommon/le.h"
#include "libcommon/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes per read if block headers are close together, and if they are not. */
#define WALK_BYTES       (64u << 10)
#define HEADER_BYTES     32
/* Bytes per read if it is not known how far the next frame is. */
#define NEAR_FIRST_BYTES 256
/* A walk along block headers that led nowhere is remembered by one place per this many bytes. */
#define DEAD_END_STEP    (64u << 10)
#ifndef DEAD_END_BITS
#define DEAD_END_BITS 14
#endif

/* A hash table of places from which block headers do not lead to the end of a frame. Two walks that
 * meet go the same way from there, so in each later step of DEAD_END_STEP bytes they have the same
 * first place; the second walk stops there. Walks that never meet share no place, so the work is
 * bounded by the size of the file. A place lost to a collision costs only time. */
struct zsource_dead_ends {
    _Atomic uint64_t
        place[1 << DEAD_END_BITS]; /* offset * 2 + whether a checksum follows; 0: free */
};

/* ---- Opening ---- */

#define UTF(n)                                                                                     \
    "text in UTF-" n ": convert it first (iconv -f UTF-" n " -t UTF-8 FILE | s3analyze ... -)"
#define UNPACK(what, command)                                                                      \
    what " file: decompress it first (" command " -dc FILE | s3analyze ... -)"
#define IMPORTS(what, format) "what " what " wrote: s3analyze import " format " FILE -o NEW.csv.zst"

/* Files that are no captures: the first bytes, what is in them somewhere, and how to go on. Unlike
 * the header of a capture, the first line of a log has spaces. */
static const struct {
    const char *begin;
    size_t n_begin;
    const char *has;
    bool is_log;
    const char *what;
} foreign_formats[] = {
    {"PK\3\4", 4, ".pprof", false, "an archive of profiles: s3analyze profile info FILE"},
    {"PK\3\4", 4, "", false,
     "a zip archive or a spreadsheet (.xlsx): unpack it, or save the sheet as .csv"},
    {"{", 1, "\"s3analyze/plan/", false, "the plan of a folder of runs: s3analyze plan FOLDER"},
    {"{", 1, "\"callStats\"", false, IMPORTS("`mc admin trace`", "mc-trace")},
    {"{", 1, "\"api\"", false, IMPORTS("`mc admin trace`", "mc-trace")},
    {"response-time,DNS", 17, "", false, IMPORTS("hey", "hey")},
    {"starttime\tseconds\t", 18, "", false, IMPORTS("ab", "ab")},
    {"", 0, " cpu-clock:", true, "what `perf script` printed: s3analyze profile top FILE"},
    {"", 0, " +0000] ", true, "a server access log: s3analyze import s3-log FILE -o NEW.csv.zst"},
    {"\x1f\x8b", 2, "", false, UNPACK("a gzip", "gzip")},
    {"\xfd\x37zXZ", 5, "", false, UNPACK("an xz", "xz")},
    {"BZh", 3, "", false, UNPACK("a bzip2", "bzip2")},
    {"\x04\x22\x4d\x18", 4, "", false, UNPACK("an lz4", "lz4")},
    {"\xff\xfe\0\0", 4, "", false, UTF("32")},
    {"\0\0\xfe\xff", 4, "", false, UTF("32")},
    {"\xff\xfe", 2, "", false, UTF("16")},
    {"\xfe\xff", 2, "", false, UTF("16")},
};

/* Returns what file this is if it is no capture; NULL: it may be one. */
static const char *foreign(const struct zsource *s)
{
    size_t mark = s->n_first > 3 && memcmp(s->first, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    size_t n_first = s->n_first - mark;
    const unsigned char *first = s->first + mark, *end = memchr(first, '\n', n_first);
    size_t n_line = end != NULL ? (size_t)(end - first) : n_first;
    bool is_log = *first != '#' && memchr(first, ' ', n_line) != NULL;

    /* gzip and profile.proto have this byte, text has not. */
    if (memchr(first, '\b', n_first) != NULL &&
        fnmatch("*.@(pprof|pb|pb.gz|prof)", s->path, FNM_EXTMATCH) == 0)
        return "a profile: s3analyze profile info FILE";
    for (size_t i = 0; i < sizeof foreign_formats / sizeof *foreign_formats; i++) {
        const char *has = foreign_formats[i].has;
        size_t n = foreign_formats[i].n_begin;

        if (n_first >= n && memcmp(first, foreign_formats[i].begin, n) == 0 &&
            (is_log || !foreign_formats[i].is_log) &&
            memmem(first, n_first, has, strlen(has)) != NULL)
            return foreign_formats[i].what;
    }
    /* The magic numbers of zstd 0.1 to 0.7. */
    if (n_first >= 4 && (memcmp(first, "\xfd\x2f\xb5\x1e", 4) == 0 ||
                         (memcmp(first + 1, "\xb5\x2f\xfd", 3) == 0 && *first < 0x28)))
        return "a zstd file of a version before 0.8, whose format is another one: compress it "
               "again (an older zstd -dc FILE | zstd > NEW)";
    /* Text has no zero bytes; a key may have this word at this place. */
    if (n_first >= 262 && memcmp(first + 257, "ustar", 5) == 0 && memchr(first, '\0', 257) != NULL)
        return "a tar archive: unpack it first (tar -xf FILE)";
    return NULL;
}

/* The bytes of standard input that were put back; those before `at` are read. */
static struct {
    char *text;
    size_t n, at;
} put_back;

void zsource_put_back(char *text, size_t n)
{
    free(put_back.text);
    put_back.text = text;
    put_back.n = n;
    put_back.at = 0;
}

static bool has_put_back(const struct zsource *s)
{
    return s->fd == STDIN_FILENO && put_back.at < put_back.n;
}

static ssize_t read_next(const struct zsource *s, void *buf, size_t n)
{
    if (!has_put_back(s))
        return TEMP_FAILURE_RETRY(read(s->fd, buf, n));
    size_t left = put_back.n - put_back.at, got = n < left ? n : left;
    memcpy(buf, put_back.text + put_back.at, got);
    put_back.at += got;
    return (ssize_t)got;
}

ssize_t zsource_read(const struct zsource *s, void *buf, size_t n, uint64_t at)
{
    return s->seekable ? TEMP_FAILURE_RETRY(pread(s->fd, buf, n, (off_t)at)) : read_next(s, buf, n);
}

static bool read_first(struct zsource *s, struct err *e)
{
    while (s->n_first < sizeof s->first) {
        ssize_t got = read_next(s, s->first + s->n_first, sizeof s->first - s->n_first);
        if (got < 0)
            return err_errno(e, errno, "%s: cannot read", s->path);
        if (got == 0)
            break;
        s->n_first += (size_t)got;
    }
    return true;
}

/* Says why a file cannot be opened, and which one may be meant. */
static bool fail_to_open(const char *path, int why, struct err *e)
{
    char other[4096];

    snprintf(other, sizeof other, "%s.zst", path);
    if (why == ENOENT && access(other, R_OK) == 0)
        return err_set(e, "%s: no such file; there is %s", path, other);
    if (why == ENOENT && strpbrk(path, "*?[") != NULL)
        return err_set(e, "%s: no such file; write a pattern without quotes", path);
    return err_errno(e, why, "%s: cannot open", path);
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
            return fail_to_open(path, errno, e);
        s->close_fd = true;
    }
    if (fstat(s->fd, &st) != 0)
        return err_errno(e, errno, "%s: cannot read", s->path);
    if (S_ISDIR(st.st_mode))
        return err_set(e, "%s: is a directory, not a capture (s3analyze table %s lists its runs)",
                       s->path, s->path);
    if (S_ISREG(st.st_mode) && lseek(s->fd, 0, SEEK_CUR) == 0) {
        s->seekable = true;
        s->size = (uint64_t)st.st_size;
    }
    if (!mem_cleared(&s->dead_ends, 1, e))
        return false;
    if (!read_first(s, e))
        return false;
    if (s->n_first == 0)
        return err_set(e, "%s: is empty", s->path);
    if (s->n_first >= 4 && zframe_is_magic((uint32_t)le_load(s->first, 4)))
        s->compressed = true;
    const char *what = s->compressed ? NULL : foreign(s);
    return what == NULL || err_set(e, "%s: this is %s", s->path, what);
}

bool zsource_spool(struct zsource *s, struct err *e)
{
    /* What was put back includes the first bytes. */
    int fd = has_put_back(s)
                 ? tempfile_of_pipe(s->fd, s->path, put_back.text, put_back.n, &s->size, e)
                 : tempfile_of_pipe(s->fd, s->path, s->first, s->n_first, &s->size, e);

    if (fd < 0)
        return false;
    if (s->close_fd)
        close(s->fd);
    s->fd = fd;
    s->close_fd = s->seekable = true;
    return true;
}

void zsource_close(struct zsource *s)
{
    if (s->close_fd)
        close(s->fd);
    s->close_fd = false;
    free(s->dead_ends);
    s->dead_ends = NULL;
}

bool zsource_grew(const struct zsource *s)
{
    struct stat st;

    return fstat(s->fd, &st) == 0 && (uint64_t)st.st_size > s->size;
}

/* ---- Finding frames ---- */

/* Reads n bytes at `at`, or all up to the end of the file. Returns how many. */
static size_t read_at(const struct zsource *s, void *buf, size_t n, uint64_t at)
{
    size_t done = 0;
    ssize_t got = 1;

    while (done < n && got > 0) {
        got = zsource_read(s, (char *)buf + done, n - done, at + done);
        done += got > 0 ? (size_t)got : 0;
    }
    return done;
}

/* Returns the n <= HEADER_BYTES bytes at `at`; NULL: the file ends before. */
static const unsigned char *near_at(const struct zsource *s, struct zsource_near *near, uint64_t at,
                                    size_t n)
{
    if (at < near->from || at + n > near->from + near->n) {
        /* If frames are close together, reads many of them at once. */
        bool follows = at >= near->from && at - near->from <= near->n + NEAR_FIRST_BYTES;
        near->n = read_at(s, near->bytes, follows ? sizeof near->bytes : NEAR_FIRST_BYTES, at);
        near->from = at;
    }
    return at + n <= near->from + near->n ? near->bytes + (at - near->from) : NULL;
}

/* A read buffer for a walk along block headers; uses `near` first. */
struct window {
    const struct zsource *source;
    const struct zsource_near *near;
    uint64_t from;
    size_t n;
    unsigned char bytes[WALK_BYTES];
};

/* Like near_at. */
static const unsigned char *window_at(struct window *w, uint64_t at, size_t n)
{
    const struct zsource_near *near = w->near;

    if (at >= near->from && at + n <= near->from + near->n)
        return near->bytes + (at - near->from);
    if (at < w->from || at + n > w->from + w->n) {
        /* Most blocks are large, and only their headers are wanted. */
        bool close_by = at >= w->from && at - w->from < WALK_BYTES / 16;
        w->n = read_at(w->source, w->bytes, close_by ? WALK_BYTES : HEADER_BYTES, at);
        w->from = at;
    }
    return at + n <= w->from + w->n ? w->bytes + (at - w->from) : NULL;
}

/* Returns the end of the block at p with the header b. */
static uint64_t block_end(const unsigned char *b, uint64_t p)
{
    uint32_t header = (uint32_t)le_load(b, 2) | (uint32_t)b[2] << 16;

    return p + 3 + ((header >> 1 & 3) == 1 ? 1 : header >> 3);
}

static _Atomic uint64_t *dead_end_slot(const struct zsource *s, uint64_t place)
{
    return &s->dead_ends->place[place * UINT64_C(0x9e3779b97f4a7c15) >> (64 - DEAD_END_BITS)];
}

/* Remembers a walk along block headers from p to `end` that led nowhere. */
static void mark_dead_end(struct window *w, uint64_t p, uint64_t end, bool has_checksum)
{
    uint64_t step = UINT64_MAX;
    const unsigned char *b;

    while (p < end && (b = window_at(w, p, 3)) != NULL) {
        if (p / DEAD_END_STEP != step)
            atomic_store(dead_end_slot(w->source, 2 * p + has_checksum), 2 * p + has_checksum);
        step = p / DEAD_END_STEP;
        p = block_end(b, p);
    }
}

/* Returns the next place at or after `at` with a magic number; s->size: there is none. */
static uint64_t find_frame(const struct zsource *s, struct zsource_near *near, uint64_t at)
{
    const unsigned char *b;

    while ((b = near_at(s, near, at, 4)) != NULL) {
        size_t n = near->n - (size_t)(at - near->from);
        for (size_t i = 0; i + 4 <= n; i++)
            if (zframe_is_magic((uint32_t)le_load(b + i, 4)))
                return at + i;
        at += n - 3;
    }
    return s->size;
}

/* Whether a frame may end at `end`. */
static bool is_plausible_end(struct window *w, uint64_t end)
{
    const unsigned char *b = end < w->source->size ? window_at(w, end, 4) : NULL;

    return end == w->source->size || (b != NULL && zframe_is_magic((uint32_t)le_load(b, 4)));
}

/* Returns the end of the blocks that begin at p, checksum included; 0: they lead nowhere. */
static uint64_t walk_blocks(struct window *w, uint64_t p, bool has_checksum)
{
    const struct zsource *s = w->source;
    uint64_t first = p, step = p / DEAD_END_STEP;
    const unsigned char *b;
    bool last = false, known = false;

    while (!last && !known && (b = window_at(w, p, 3)) != NULL && (b[0] >> 1 & 3) != 3) {
        last = b[0] & 1;
        p = block_end(b, p);
        if (p / DEAD_END_STEP == step)
            continue;
        step = p / DEAD_END_STEP;
        uint64_t place = 2 * p + has_checksum;
        known = !last && atomic_load(dead_end_slot(s, place)) == place;
    }
    uint64_t end = p + (has_checksum ? 4 : 0);
    if (last && is_plausible_end(w, end))
        return end;
    mark_dead_end(w, first, p, has_checksum);
    return 0;
}

/* Returns the end of the frame at `at` by its block headers; 0: they make no sense. */
static uint64_t end_by_headers(const struct zsource *s, struct zsource_near *near, uint64_t at)
{
    const unsigned char *b = near_at(s, near, at, 5);
    struct window w;

    if (!b)
        return 0;
    w.source = s;
    w.near = near;
    w.from = w.n = 0;
    uint32_t magic = (uint32_t)le_load(b, 4);
    if (zframe_is_skippable(magic)) {
        b = near_at(s, near, at, 8);
        uint64_t end = b ? at + 8 + (uint32_t)le_load(b + 4, 4) : 0;
        return b && is_plausible_end(&w, end) ? end : 0;
    }
    if (magic != ZFRAME_MAGIC)
        return 0;
    return walk_blocks(&w, at + 4 + zframe_header_size(b[4]), b[4] & ZFRAME_CHECKSUM_FLAG);
}

uint64_t zsource_frame_end(const struct zsource *s, struct zsource_near *near, uint64_t at)
{
    uint64_t end = end_by_headers(s, near, at);

    return end ? end : find_frame(s, near, at + 1);
}

uint64_t zsource_range_end(const struct zsource *s, struct zsource_near *near, uint64_t start,
                           uint64_t min_bytes)
{
    uint64_t at = start;

    while (at < s->size && at - start < min_bytes)
        at = zsource_frame_end(s, near, at);
    return at < s->size ? at : s->size;
}
