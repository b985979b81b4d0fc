/* Gathers the requests of a recording and gives them out in order of start. Memory is bounded:
 * what does not fit goes to a temporary file (analyze/stream/reorder.h). */
#ifndef S3_ANALYZE_IMPORT_GATHER_H
#define S3_ANALYZE_IMPORT_GATHER_H

#include "analyze/import/import.h"
#include "analyze/import/lines.h"
#include "analyze/stream/reorder.h"

/* Readers may look at `options` and `result`. */
struct import {
    struct import_options options;
    struct import_result result;
    const struct lines *lines; /* that are being read */
    struct reorder *rows;
    struct reorder_batch *batch; /* rows that are not yet in `rows` */
};

/* Starts to gather, by the options. The caller calls gather_fini in any case. */
bool gather_init(struct import *m, struct err *e);
void gather_fini(struct import *m);

/* Takes a request, whose times count from its start, so that end_ns is its duration. Its thread is
 * not looked at. False: *e says why; a time that is out of bounds is an error with its line. */
bool gather_add(struct import *m, const struct record *row, struct err *e);

/* Gives all further lines to read_row, empty ones too. */
bool gather_lines(struct import *m, struct lines *l,
                  bool (*read_row)(struct import *m, const struct lines *l, struct err *e),
                  struct err *e);

/* Ends gathering: the next calls give out rows. */
bool gather_end(struct import *m, struct err *e);

/* Gives out the next request in order of start, then of reading, as it was taken; its texts are
 * valid until the next call. *more: there is one. */
bool gather_next(struct import *m, struct record *row, bool *more, struct err *e);

#endif
