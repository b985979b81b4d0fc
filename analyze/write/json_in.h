/* Reads JSON that a capture holds. */
#ifndef S3_ANALYZE_WRITE_JSON_IN_H
#define S3_ANALYZE_WRITE_JSON_IN_H

#include "libcommon/err.h"

#include <jansson.h>
#include <stdbool.h>

/* Parses `text`, which may be NULL. Sets *value to a new reference, or to NULL if the text is not
 * JSON. False: out of memory. */
bool json_in_parse(const char *text, json_t **value, struct err *e);

/* Copies the text o[key] to `to`, cut to size - 1 bytes; "" if it is no text. */
void json_in_text(char *to, size_t size, const json_t *o, const char *key);

#endif
