#include "libcommon/record.h"

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
