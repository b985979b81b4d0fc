/* The slow path: parses with libcsv the rows that the fast path (rowparse.h) rejects. These are
 * rows with quotes (RFC 4180), and bad rows, for which it says what is wrong. */
#ifndef S3_ANALYZE_READ_ROWCSV_H
#define S3_ANALYZE_READ_ROWCSV_H

#include "analyze/read/recfile.h"
#include "libcommon/err.h"
#include "libcommon/record.h"

#include <stddef.h>

enum rowcsv_end {
    ROWCSV_OK,   /* *out is filled */
    ROWCSV_MORE, /* a quoted `error` is still open where the text ends: call again with more */
    ROWCSV_BAD,  /* why[] says what is wrong */
};

/* NULL: out of memory. */
struct rowcsv *rowcsv_new(struct err *e);
void rowcsv_free(struct rowcsv *s);

/* The next rows lie in `text`, which must stay in place until the next rowcsv_begin. */
void rowcsv_begin(struct rowcsv *s, const char *text);

/* Parses one row. `text` starts at the row and holds n bytes, ending after a newline or at the end
 * of the input. On ROWCSV_OK *used is the length of the row with its newline; slices of *out point
 * into `text` or into memory of `s`, valid until the next call. */
enum rowcsv_end rowcsv_parse(struct rowcsv *s, const struct recfile_layout *layout,
                             const char *text, size_t n, struct record *out, size_t *used,
                             char *why, size_t why_size);

#endif
