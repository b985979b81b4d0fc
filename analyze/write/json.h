/* Writes a JSON document piece by piece, so that no tree of it all is ever in memory: containers
 * are opened and closed, small values are built with jansson and written at once.
 *
 * Errors stick: out of memory anywhere makes json_out_finish fail. Write errors stay in the FILE.
 */
#ifndef S3_ANALYZE_WRITE_JSON_H
#define S3_ANALYZE_WRITE_JSON_H

#include "libcommon/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_OUT_MAX_DEPTH 16

struct json_out {
    FILE *f;
    unsigned depth;
    char close[JSON_OUT_MAX_DEPTH]; /* the bracket that closes each open container */
    bool is_empty;                  /* the innermost container has no item yet */
    bool failed;
};

void json_out_init(struct json_out *w, FILE *f);

/* Opens a container; `key` is NULL in an array and at the top. */
void json_out_object(struct json_out *w, const char *key);
void json_out_array(struct json_out *w, const char *key);
/* Closes the innermost container. */
void json_out_end(struct json_out *w);

/* Writes one value and frees it. NULL stands for out of memory. */
void json_out_value(struct json_out *w, const char *key, json_t *value);

/* Writes the members of `object` into the open container and frees it. NULL: as above. */
void json_out_members(struct json_out *w, json_t *object);

/* Puts `value` (taken over; NULL: out of memory) into `object`. */
void json_out_set(struct json_out *w, json_t *object, const char *key, json_t *value);
void json_out_set_int(struct json_out *w, json_t *object, const char *key, int64_t value);
void json_out_set_real(struct json_out *w, json_t *object, const char *key, double value);
/* The same for an array. */
void json_out_append(struct json_out *w, json_t *array, json_t *value);

/* Values. Text may hold any bytes: what is no UTF-8 becomes U+FFFD; NULL becomes null. A real that
 * is not finite becomes null. A time is RFC 3339 in UTC with nine digits. */
json_t *json_out_text(const char *s);
json_t *json_out_real(double value);
json_t *json_out_time(int64_t ns);

/* Ends the document (all containers must be closed) with a newline. False: *e is filled. */
/* For jansson's dump functions: writes text of theirs, and escapes what a terminal would obey. */
void json_out_raw(FILE *f, const char *text, size_t n);

bool json_out_finish(struct json_out *w, struct err *e);

#endif
