/* One request as a capture records it (docs/how-the-numbers-are-made.md, section 1). */
#ifndef S3_LIBCOMMON_RECORD_H
#define S3_LIBCOMMON_RECORD_H

#include "libcommon/slice.h"

#include <stdbool.h>
#include <stdint.h>

#ifndef RECORD_MAX_ROW_BYTES
#define RECORD_MAX_ROW_BYTES (1u << 20) /* the longest row or comment */
#endif

/* A missing time. No valid time has this value: times are of the years 1970 to 2262. */
#define RECORD_NO_TIME INT64_MIN

/* This many bytes after each slice of a record can be read, so that a short one can be loaded as a
 * whole word. */
#define RECORD_PADDING 8

/* A request. Times are ns since the Unix epoch. The function that gives out the record says how
 * long its slices are valid. */
struct record {
    int64_t start_ns;
    int64_t end_ns;
    int64_t first_byte_ns; /* or RECORD_NO_TIME */
    int64_t last_byte_ns;  /* or RECORD_NO_TIME */
    int64_t intended_ns;   /* or RECORD_NO_TIME */
    int64_t bytes;
    int64_t n_objects;
    uint64_t cat;
    uint32_t thread;
    bool is_lane; /* no thread is known: `thread` is one that the reader gave it */
    struct slice op, client, endpoint, file, error;
};

/* Columns in the order in which we write them. */
enum record_column {
    COL_IDX,
    COL_THREAD,
    COL_OP,
    COL_CLIENT_ID,
    COL_N_OBJECTS,
    COL_BYTES,
    COL_ENDPOINT,
    COL_FILE,
    COL_ERROR,
    COL_START,
    COL_FIRST_BYTE,
    COL_LAST_BYTE,
    COL_END,
    COL_DURATION_NS,
    COL_CAT,
    COL_INTENDED,
    N_COLUMNS
};

/* Header names by enum record_column. */
extern const char *const record_column_names[N_COLUMNS];

/* Returns the time to first byte in ns: end - last_byte, else first_byte - start, else
 * RECORD_NO_TIME (docs/how-the-numbers-are-made.md, section 5). */
static inline int64_t record_ttfb_ns(const struct record *r)
{
    if (r->last_byte_ns != RECORD_NO_TIME)
        return r->end_ns - r->last_byte_ns;
    if (r->first_byte_ns != RECORD_NO_TIME)
        return r->first_byte_ns - r->start_ns;
    return RECORD_NO_TIME;
}

#endif
