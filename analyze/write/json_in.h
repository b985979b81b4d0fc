/* Reads JSON that a capture holds. */
#ifndef S3_ANALYZE_WRITE_JSON_IN_H
#define S3_ANALYZE_WRITE_JSON_IN_H

#include "libcommon/err.h"

#include <jansson.h>
#include <stdbool.h>

/* The value that `text` (which may be NULL) stands for, to be given back by json_decref; NULL: it
 * is no JSON. False: out of memory. */
bool json_in_parse(const char *text, json_t **value, struct err *e);

#endif
