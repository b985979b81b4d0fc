/* The header line, and the checked values of one row's fields: what the fast path (rowparse.h) and
 * libcsv (rowcsv.h) have in common. */
#ifndef S3_ANALYZE_READ_ROWFIELDS_H
#define S3_ANALYZE_READ_ROWFIELDS_H

#include "analyze/read/recfile.h"
#include "libcommon/err.h"
#include "libcommon/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a header line (without its newline). False: *e says which column is missing or wrong. */
bool rowfields_header(const char *line, size_t n, struct recfile_layout *layout, struct err *e);

/* True if the line's fields are column names rather than values. */
bool rowfields_is_header(const char *line, size_t n);

/* Fills *out from the fields of one row (n_fields as the layout says). False: why[] says which
 * field is wrong. The slices of *out are those of `fields`. */
bool rowfields_record(const struct recfile_layout *layout, const struct slice *fields,
                      struct record *out, char *why, size_t why_size);

/* True if the time is not given or lies between from and to, both included. */
static inline bool rowfields_within(int64_t ns, int64_t from, int64_t to)
{
    return (ns == RECORD_NO_TIME) | ((ns >= from) & (ns <= to));
}

/* A decimal number of any length that is all of s[0..n). False: it is none, or above max. */
bool rowfields_uint(const char *s, size_t n, uint64_t max, uint64_t *out);

#endif
