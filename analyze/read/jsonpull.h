/* A pull parser for JSON documents of any length: the caller asks for the next key, item or value,
 * so memory does not grow with the document. (jansson, used elsewhere, builds a tree of it all.)
 *
 * Strict (RFC 8259, UTF-8). Limits: 32 levels, 64 KiB per string, 60 characters per number. A NUL
 * in a string or key becomes UTF8_NUL.
 *
 * Errors stick. The first one sets p->failed and *e ("FILE: path.to.key: what is wrong"). From then
 * on every call returns at once with a value that ends a loop (NULL, false, 0), so callers check
 * only once, at the end. */
#ifndef S3_ANALYZE_READ_JSONPULL_H
#define S3_ANALYZE_READ_JSONPULL_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSONPULL_MAX_DEPTH  32
#define JSONPULL_MAX_STRING (64 << 10)

/* Gives the parser its text: writes up to n bytes to `buf` and their number to *got; 0: the end.
 * False: *why says what is wrong, without the file's name. */
typedef bool jsonpull_more(void *ctx, char *buf, size_t n, size_t *got, struct err *why);

struct jsonpull_level {
    bool is_object, has_item;
    uint64_t index;
    char key[48]; /* for messages: cut, without control characters */
};

struct jsonpull {
    jsonpull_more *more;
    void *ctx;
    const char *path; /* for messages; borrowed */
    struct err *e;
    bool failed;
    char *buf;
    size_t at, n;
    uint64_t n_lines;
    bool is_no_json; /* the fault is in the text, so its line helps */
    unsigned depth;
    struct jsonpull_level levels[JSONPULL_MAX_DEPTH + 1];
    char *string; /* the last string or key, NUL-terminated */
    size_t n_string;
};

/* False: out of memory. The caller calls jsonpull_fini in any case. */
bool jsonpull_init(struct jsonpull *p, const char *path, jsonpull_more *more, void *ctx,
                   struct err *e);
void jsonpull_fini(struct jsonpull *p);

/* Fails with a message about the value that was read last, or the open container. Returns false. */
bool jsonpull_fail(struct jsonpull *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Read an object or array. First open it: the next value must be one. Then ask for its keys (valid
 * until the next call) or items until NULL or false, which closes it. After each key or item, the
 * caller must read or skip the value. */
bool jsonpull_object(struct jsonpull *p);
const char *jsonpull_key(struct jsonpull *p);
bool jsonpull_array(struct jsonpull *p);
bool jsonpull_item(struct jsonpull *p);

/* Takes the next value if it is null, and returns whether it was. */
bool jsonpull_null(struct jsonpull *p);

/* Read the next value. A count is an integer from 0 to 2^63-1; an amount is a finite number that is
 * not negative. */
int64_t jsonpull_count(struct jsonpull *p);
double jsonpull_amount(struct jsonpull *p);
bool jsonpull_bool(struct jsonpull *p);
/* Returns p->string, valid until the next call. NULL: failed. */
const char *jsonpull_string(struct jsonpull *p);
/* Returns an RFC 3339 time in ns since 1970. 0001-01-01T00:00:00Z means no time: INT64_MIN. */
int64_t jsonpull_time(struct jsonpull *p);

/* Skips the next value, whatever it is; checks its syntax. */
void jsonpull_skip(struct jsonpull *p);

/* Reads the next value into *to. */
typedef void jsonpull_reader(struct jsonpull *p, void *to);

/* A key of an object and what to do with its value. Either one pointer says where to store it, or
 * `read` reads it: into `to`; or, as JSONPULL_EACH says, each item of an array into a new element
 * of an array (jsonpull_element). If a key is there twice, the last number or string counts; two
 * objects or arrays are an error. */
struct jsonpull_field {
    const char *key; /* NULL ends a list */
    int64_t *count, *time;
    int64_t *whole; /* a count that may be written like a float, such as 1e6 */
    double *amount;
    bool *flag;
    char **text; /* gets a copy that the caller frees; frees the earlier one. null is allowed if
                    the key is optional */
    unsigned __int128 *wide; /* an integer from 0 to 2^128-1 */
    jsonpull_reader *read;
    void *to;
    size_t *n, size;
    bool nullable; /* of `read`: null is allowed, and not read */
    bool optional, seen;
};
#define JSONPULL_EACH(array, count, reader)                                                        \
    .read = (reader), .to = &(array), .n = &(count), .size = sizeof *(array)

/* Reads an object. Skips keys that are not listed. */
void jsonpull_read(struct jsonpull *p, struct jsonpull_field *fields);
/* The same, with jsonpull_need at the end. */
void jsonpull_fields(struct jsonpull *p, struct jsonpull_field *fields);
/* Fails if a key that is not optional was missing. */
void jsonpull_need(struct jsonpull *p, const struct jsonpull_field *fields);

/* Adds the result of a caller's own step with a value. !ok fails the parser like a failed call;
 * *p->e must say why. Returns false if the parser has failed. */
bool jsonpull_check(struct jsonpull *p, bool ok);

/* Appends a zeroed element of `size` bytes to the array *v of *n elements, which must have grown by
 * this function only. NULL: failed. JSONPULL_NEXT does so for each item of the open array and gives
 * NULL at its end. */
void *jsonpull_element(struct jsonpull *p, void *v, size_t *n, size_t size);
#define JSONPULL_MORE(p, v, n) jsonpull_element((p), (v), (n), sizeof **(v))
#define JSONPULL_NEXT(p, v, n) (jsonpull_item(p) ? JSONPULL_MORE(p, v, n) : NULL)

/* Checks that only blanks follow the document. */
bool jsonpull_end(struct jsonpull *p);

#endif
