/* Gathers the requests of a recording and gives them out in order of start. Memory is bounded:
 * what does not fit goes to a temporary file (analyze/stream/reorder.h). */
#ifndef S3_ANALYZE_IMPORT_GATHER_H
#define S3_ANALYZE_IMPORT_GATHER_H

#include "analyze/import/import.h"
#include "analyze/import/lines.h"
#include "analyze/stream/reorder.h"
#include "libcommon/record.h"

#define GATHER_NONE (-1) /* a time that is not known */

/* A request as its line tells it. Texts end where the next line is read. */
struct gather_row {
    int64_t start_ns, duration_ns;
    int64_t first_byte_ns; /* after the start, or GATHER_NONE */
    int64_t last_byte_ns;  /* that was sent; likewise */
    int64_t bytes;
    struct slice op, client, host, key, error;
};

/* Readers may look at `options` and `result`. */
struct gather {
    const struct import_options *options;
    struct import_result result;
    const struct lines *lines; /* that are being read */
    struct reorder *rows;
    struct reorder_batch *batch; /* rows that are not yet in `rows` */
};

/* Starts to gather. The caller calls gather_fini in any case. */
bool gather_init(struct gather *g, const struct import_options *options, struct err *e);
void gather_fini(struct gather *g);

/* Takes a request. False: *e says why; a time that is out of bounds is an error with its line. */
bool gather_add(struct gather *g, const struct gather_row *row, struct err *e);

/* Gives all further lines to read_row, empty ones too. */
bool gather_lines(struct gather *g, struct lines *l,
                  bool (*read_row)(struct gather *g, const struct lines *l, struct err *e),
                  struct err *e);

/* Ends gathering: the next calls give out rows. */
bool gather_end(struct gather *g, struct err *e);

/* The next row in order of start, then of reading; its texts are valid until the next call. *more:
 * there is one. */
bool gather_next(struct gather *g, struct gather_row *row, bool *more, struct err *e);

#endif
