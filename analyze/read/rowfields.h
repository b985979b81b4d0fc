/* Parses header lines, and checks and converts the fields of a row. The fast path (rowparse.h) and
 * the slow path (rowcsv.h) share it. */
#ifndef S3_ANALYZE_READ_ROWFIELDS_H
#define S3_ANALYZE_READ_ROWFIELDS_H

#include "analyze/read/recfile.h"
#include "libcommon/err.h"
#include "libcommon/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How messages about files without a header line begin. */
#define ROWFIELDS_NO_CAPTURE "not a capture"

/* Reads a header line (without its newline). False: *e says which column is missing or wrong. */
bool rowfields_header(const char *line, size_t n, struct recfile_layout *layout, struct err *e);

/* True if the line's fields are column names rather than values. */
bool rowfields_is_header(const char *line, size_t n);

/* Fills *out from the fields of one row (n_fields as the layout says). False: why[] says which
 * field is wrong. The slices of *out are those of `fields`. */
bool rowfields_record(const struct recfile_layout *layout, const struct slice *fields,
                      struct record *out, char *why, size_t why_size);

/* Whether the time is RECORD_NO_TIME or lies in [from, to]. */
static inline bool rowfields_within(int64_t ns, int64_t from, int64_t to)
{
    return (ns == RECORD_NO_TIME) | ((ns >= from) & (ns <= to));
}

/* Parses all of s[0..n) as a decimal number. False: it is not a number, or is above max. */
bool rowfields_uint(const char *s, size_t n, uint64_t max, uint64_t *out);

#endif
