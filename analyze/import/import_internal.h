/* How the readers of the formats hand on what they read. */
#ifndef S3_ANALYZE_IMPORT_IMPORT_INTERNAL_H
#define S3_ANALYZE_IMPORT_IMPORT_INTERNAL_H

#include "analyze/import/import.h"
#include "analyze/import/lines.h"
#include "libcommon/slice.h"

/* Requests that wait to be sorted. Memory is bounded: what does not fit goes to a temporary file
 * (analyze/stream/reorder.h). */
struct import {
    const struct import_options *options;
    struct import_result *result;
    struct lines lines; /* the file that is being read */
    struct reorder *rows;
    struct reorder_batch *batch; /* rows that are not yet in `rows` */
};

/* Takes a request, whose times count from its start, so that end_ns is its duration. From an HTTP
 * status of 400 on it failed, and `why` (perhaps "") is a word about that. The row's thread and
 * error are not looked at. False: *e says why; a time that is out of bounds is an error with its
 * line. */
bool gather_add(struct import *m, const struct record *row, int64_t status, struct slice why,
                struct err *e);

/* Gives all further lines to read_row, empty ones too. */
bool gather_lines(struct import *m, bool (*read_row)(struct import *m, struct err *e),
                  struct err *e);

/* Returns the name that a table {{"theirs", "ours"}, ...} gives for a name; without one, `other`.
 */
struct slice gather_name(const char *const (*names)[2], size_t n, struct slice name,
                         struct slice other);

/* Ends gathering: the next calls give out rows. */
bool gather_end(struct import *m, struct err *e);

/* Gives out the next request in order of start, then of reading, as it was taken; its texts are
 * valid until the next call. *more: there is one. */
bool gather_next(struct import *m, struct record *row, bool *more, struct err *e);

/* The readers of the formats: each reads a file from its first line to its last, and hands its
 * requests to gather_add. False: *e says what is wrong, with file and line. */
bool hey_read(struct import *m, struct err *e);
bool ab_read(struct import *m, struct err *e);
bool mc_trace_read(struct import *m, struct err *e);
bool s3_log_read(struct import *m, struct err *e);

#endif
