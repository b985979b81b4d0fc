#include "record.h"

const char *const record_column_names[N_COLUMNS] = {
    [COL_IDX] = "idx",
    [COL_THREAD] = "thread",
    [COL_OP] = "op",
    [COL_CLIENT_ID] = "client_id",
    [COL_N_OBJECTS] = "n_objects",
    [COL_BYTES] = "bytes",
    [COL_ENDPOINT] = "endpoint",
    [COL_FILE] = "file",
    [COL_ERROR] = "error",
    [COL_START] = "start",
    [COL_FIRST_BYTE] = "first_byte",
    [COL_LAST_BYTE] = "last_byte",
    [COL_END] = "end",
    [COL_DURATION_NS] = "duration_ns",
    [COL_CAT] = "cat",
    [COL_INTENDED] = "intended",
};

int64_t record_ttfb_ns(const struct record *r)
{
    if (r->last_byte_ns != RECORD_NO_TIME)
        return r->end_ns - r->last_byte_ns;
    if (r->first_byte_ns != RECORD_NO_TIME)
        return r->first_byte_ns - r->start_ns;
    return RECORD_NO_TIME;
}
