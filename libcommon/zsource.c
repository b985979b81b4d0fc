#include "zsource.h"

#include "le.h"
#include "tempfile.h"
#include "zframe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

ssize_t zsource_read(const struct zsource *s, void *buf, size_t n, uint64_t at)
{
    ssize_t got;

    if (!s->seekable)
        return read_some(s->fd, buf, n);
    do
        got = pread(s->fd, buf, n, (off_t)at);
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
    if (s->n_first >= 4 && zframe_is_magic((uint32_t)le_load(s->first, 4)))
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

/* As many of n bytes as there are at `at`. */
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

/* The end of the frame at `at`, by its block headers alone; 0 where they make no sense. */
static uint64_t end_by_headers(const struct zsource *s, uint64_t at)
{
    unsigned char b[8];
    size_t n_read = read_at(s, b, sizeof b, at);

    if (n_read < 5)
        return 0;
    uint32_t magic = (uint32_t)le_load(b, 4);
    if (zframe_is_skippable(magic))
        return n_read < 8 ? 0 : at + 8 + (uint32_t)le_load(b + 4, 4);
    if (magic != ZFRAME_MAGIC)
        return 0;
    unsigned char descriptor = b[4];
    uint64_t p = at + 4 + zframe_header_size(descriptor);
    for (bool last = false; !last;) {
        if (read_at(s, b, 3, p) < 3)
            return 0;
        uint32_t block = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16;
        unsigned type = block >> 1 & 3;
        last = block & 1;
        if (type == 3)
            return 0;
        p += 3 + (type == 1 ? 1 : block >> 3);
    }
    return p + (descriptor & ZFRAME_CHECKSUM_FLAG ? 4 : 0);
}

static bool frame_at(const struct zsource *s, uint64_t at)
{
    unsigned char b[4];

    return read_at(s, b, 4, at) == 4 && zframe_is_magic((uint32_t)le_load(b, 4));
}

/* The next place at or after `at` that has a frame's magic number; s->size if none. */
static uint64_t find_frame(const struct zsource *s, uint64_t at)
{
    unsigned char buf[64 << 10];

    while (at < s->size) {
        size_t n = read_at(s, buf, sizeof buf, at);
        if (n < 4)
            break;
        for (size_t i = 0; i + 4 <= n; i++)
            if (zframe_is_magic((uint32_t)le_load(buf + i, 4)))
                return at + i;
        at += n - 3;
    }
    return s->size;
}

uint64_t zsource_frame_end(const struct zsource *s, uint64_t at)
{
    uint64_t end = end_by_headers(s, at);
    bool plausible = end > 0 && end <= s->size && (end == s->size || frame_at(s, end));

    return plausible ? end : find_frame(s, at + 1);
}

uint64_t zsource_range_end(const struct zsource *s, uint64_t start, uint64_t min_bytes)
{
    uint64_t at = start;

    while (at < s->size && at - start < min_bytes)
        at = zsource_frame_end(s, at);
    return at < s->size ? at : s->size;
}
