/* Reads the stored bytes of a capture: a file or a pipe, plain or zstd. Finds where frames begin
 * and end without decompressing them; zreader.h decompresses. */
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
    struct zsource_dead_ends *dead_ends; /* owned; NULL before zsource_open */
};

#ifndef ZSOURCE_NEAR_BYTES
#define ZSOURCE_NEAR_BYTES (64u << 10)
#endif

/* A read buffer for finding one frame after another. All zero at first; for one thread at a time.
 */
struct zsource_near {
    uint64_t from;
    size_t n;
    unsigned char bytes[ZSOURCE_NEAR_BYTES];
};

/* Opens `path` ("-": standard input) and looks at its first bytes. False: cannot be read, or is a
 * format that is not ours (gzip, xz, ...: the message says what to do). */
bool zsource_open(struct zsource *s, const char *path, struct err *e);
/* Puts back the first n bytes of standard input, a pipe, and takes over the memory. The next source
 * that is standard input begins with them. */
void zsource_put_back(char *text, size_t n);
/* Copies a source that cannot seek to a temporary file and reads from that. False: *e says why. */
bool zsource_spool(struct zsource *s, struct err *e);
void zsource_close(struct zsource *s);

/* Reads up to n bytes at the offset `at`, or the next ones of a pipe. Like read(2), but retries on
 * EINTR. */
ssize_t zsource_read(const struct zsource *s, void *buf, size_t n, uint64_t at);

/* Seekable sources only: */

/* Whether the file has become longer since it was opened: it is still being written. */
bool zsource_grew(const struct zsource *s);

/* Returns the end of the frame at `at` by its block headers. If these make no sense, returns the
 * next place with a magic number. At most s->size. Remembers bad block headers, so that a file full
 * of them is searched about once. May be called on any thread. */
uint64_t zsource_frame_end(const struct zsource *s, struct zsource_near *near, uint64_t at);

/* Returns the end of the first frame that ends at least min_bytes after `start`; s->size: there is
 * none. */
uint64_t zsource_range_end(const struct zsource *s, struct zsource_near *near, uint64_t start,
                           uint64_t min_bytes);

#endif
