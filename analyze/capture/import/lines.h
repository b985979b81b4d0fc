/* A text file piece by piece, with the number of each line for messages. A piece is a line, or the
 * lines up to the next one that begins with a certain letter. */
#ifndef S3_ANALYZE_CAPTURE_IMPORT_LINES_H
#define S3_ANALYZE_CAPTURE_IMPORT_LINES_H

#include "libcommon/err.h"
#include "libcommon/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define LINES_MAX_BYTES (1u << 20)

struct lines {
    const char *path; /* borrowed */
    FILE *f;
    char first; /* what the first line of each piece begins with; '\0': a piece is a line */
    char *text; /* the piece, NUL-terminated, without its end ("\n" or "\r\n") */
    size_t n;
    uint64_t number;  /* of its first line, from 1 */
    uint64_t n_lines; /* up to its end */
    uint64_t bad;     /* the line that lines_bad told of last; 0: none */
    uint64_t n_read;  /* bytes so far */
    uint64_t n_total; /* of the file; 0: not known */
};

/* Opens a file; "-" is standard input. Skips a byte order mark of UTF-8; text in UTF-16 and
 * compressed files are errors. The caller calls lines_close in any case. */
bool lines_open(struct lines *l, const char *path, char first, struct err *e);
void lines_close(struct lines *l);

/* Reads the next piece; *more: there was one. False: it has more than 1 MiB, or a NUL, or the file
 * cannot be read; *e says so. The next call reads the piece after a bad one. */
bool lines_next(struct lines *l, bool *more, struct err *e);

/* Cuts the line at `delimiter` into fields. Returns whether there are n of them. */
bool lines_split(const struct lines *l, char delimiter, struct slice *fields, size_t n);

/* Fills *e with "FILE:LINE: ..." of line l->number. Returns false. */
bool lines_bad(struct lines *l, struct err *e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
