/* The interface between the readers of the formats and the import. */
#ifndef S3_ANALYZE_CAPTURE_IMPORT_IMPORT_INTERNAL_H
#define S3_ANALYZE_CAPTURE_IMPORT_IMPORT_INTERNAL_H

#include "analyze/base/intern.h"
#include "analyze/capture/import/import.h"
#include "analyze/capture/import/lines.h"
#include "libcommon/slice.h"

/* Requests that wait to be sorted. Memory is bounded: what does not fit goes to a temporary file
 * (analyze/capture/stream/reorder.h). */
struct import {
    const struct import_options *options;
    struct import_result *result;
    struct lines lines; /* the file that is being read */
    struct reorder *rows;
    struct reorder_batch *batch; /* rows that are not yet in `rows` */
    struct intern same_start;    /* the requests that start at `start_ns` */
    int64_t start_ns;
};

/* Adds a request. Its times count from its start, so that end_ns is its duration. It failed if the
 * HTTP status is 400 or more; `why` (perhaps "") is a word about that. The row's thread and error
 * are ignored. Requests with the same id and texts that start at the same time are one; without an
 * id ("") each counts. False: *e says why; a time out of bounds is an error with its line. */
bool gather_add(struct import *m, const struct record *row, int64_t status, struct slice why,
                struct slice id, struct err *e);

/* Counts a line that is left out. Returns true. */
bool gather_leave_out(struct import *m, enum import_left why);

/* Ends gathering; gather_next may be called from now on. */
bool gather_end(struct import *m, struct err *e);

/* Returns the next request in order of start, then of reading. Its texts are valid until the next
 * call. *more: there is one. */
bool gather_next(struct import *m, struct record *row, bool *more, struct err *e);

/* The readers of the formats: each reads a piece of a file, an empty one too, and hands its
 * requests to gather_add. False: *e says what is wrong, with file and line. */
bool hey_read(struct import *m, struct err *e);
bool ab_read(struct import *m, struct err *e);
bool mc_trace_read(struct import *m, struct err *e);
bool s3_log_read(struct import *m, struct err *e);

#endif
