/* Fields of lines: what several formats need to read them. */
#ifndef S3_ANALYZE_IMPORT_FIELDS_H
#define S3_ANALYZE_IMPORT_FIELDS_H

#include "libcommon/slice.h"

#include <stdint.h>

/* Cuts n bytes at `delimiter` into at most `max` fields. Returns how many there are; max + 1: more.
 */
size_t fields_split(const char *text, size_t n, char delimiter, struct slice *fields, size_t max);

/* Returns the name that a table {{"theirs", "ours"}, ...} gives for a name; without one, `other`.
 */
struct slice fields_named(const char *const (*names)[2], size_t n, struct slice name,
                          struct slice other);

/* Writes the error of an HTTP status from 400 on ("HTTP 503 SlowDown"); "" of others. */
#define FIELDS_ERROR_BYTES 128
struct slice fields_error(char buf[FIELDS_ERROR_BYTES], int64_t status, struct slice what);

#endif
