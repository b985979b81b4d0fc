/* The bytes of a capture as they are stored: a file or a pipe, plain or zstd. Finds where frames
 * begin and end without decompressing them (zreader.h does that). */
#ifndef S3_ANALYZE_READ_ZSOURCE_H
#define S3_ANALYZE_READ_ZSOURCE_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* An open capture. */
struct zsource {
    const char *path; /* for messages; borrowed */
    int fd;
    bool close_fd;
    bool seekable;
    bool compressed;
    uint64_t size;            /* 0: not seekable */
    unsigned char first[264]; /* a pipe's first bytes, already read */
    size_t n_first;
    struct zsource_dead_ends *dead_ends; /* NULL: none was met */
};

#ifndef ZSOURCE_NEAR_BYTES
#define ZSOURCE_NEAR_BYTES (64u << 10)
#endif

/* The part of a source where someone looks for frames, one after the other: what was read for one
 * serves those behind it. All zero at first; for one thread at a time. */
struct zsource_near {
    uint64_t from;
    size_t n;
    unsigned char bytes[ZSOURCE_NEAR_BYTES];
};

/* Opens `path` ("-": standard input) and looks at its first bytes. False: cannot be read, or is a
 * format that is not ours (gzip, xz, ...: the message says what to do). */
bool zsource_open(struct zsource *s, const char *path, struct err *e);
/* Copies a source that cannot seek into a temporary file, which then stands in for it. */
bool zsource_spool(struct zsource *s, struct err *e);
void zsource_close(struct zsource *s);

/* Reads some of the n bytes at `at`; of a pipe the next ones, wherever that is. As read(2), but for
 * EINTR. */
ssize_t zsource_read(const struct zsource *s, void *buf, size_t n, uint64_t at);

/* Seekable sources only: */

/* Whether the file has become longer since it was opened: it is still being written. */
bool zsource_grew(const struct zsource *s);

/* Where the frame at `at` ends by its block headers, or, where these make no sense, where the next
 * one begins; at most s->size. Remembers where such headers led to nothing, so that a file full of
 * them is looked through about once. Any thread. */
uint64_t zsource_frame_end(const struct zsource *s, struct zsource_near *near, uint64_t at);

/* The end of the run of frames that begins at `start`, of at least min_bytes where the file has
 * them; s->size where the rest is damaged beyond finding a frame. */
uint64_t zsource_range_end(const struct zsource *s, struct zsource_near *near, uint64_t start,
                           uint64_t min_bytes);

#endif
