/* Reads a JSON document of any length piece by piece: the caller asks for the next key, item or
 * value, so that memory does not grow with the document. jansson, which the rest of the program
 * uses, builds a tree of all of it.
 *
 * Strict (RFC 8259, UTF-8), with limits: 32 levels, 64 KiB a string, 60 characters a number. In
 * strings and keys UTF8_NUL stands for a NUL.
 *
 * Errors stick: after the first one p->failed is set, every call returns at once what ends a loop
 * (NULL, false, 0), and *e holds "FILE: path.to.key: what is wrong". So callers check once, at the
 * end. */
#ifndef S3_ANALYZE_READ_JSONPULL_H
#define S3_ANALYZE_READ_JSONPULL_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSONPULL_MAX_DEPTH  32
#define JSONPULL_MAX_STRING (64 << 10)

/* Where the text comes from: puts up to n bytes at `buf` and their number into *got, 0 at the end.
 * False: *why (without the file's name) says what is wrong. */
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
    unsigned depth;
    struct jsonpull_level levels[JSONPULL_MAX_DEPTH + 1];
    char *string; /* the last string or key, NUL-terminated */
    size_t n_string;
};

/* False: out of memory. The caller calls jsonpull_fini in any case. */
bool jsonpull_init(struct jsonpull *p, const char *path, jsonpull_more *more, void *ctx,
                   struct err *e);
void jsonpull_fini(struct jsonpull *p);

/* Fails with a message about the value that was read last, or the container that is open. Returns
 * false. */
bool jsonpull_fail(struct jsonpull *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The next value must be an object or array; then its keys (valid until the next call) or items,
 * until NULL or false, which close it. After each key or item its value must be read or skipped. */
bool jsonpull_object(struct jsonpull *p);
const char *jsonpull_key(struct jsonpull *p);
bool jsonpull_array(struct jsonpull *p);
bool jsonpull_item(struct jsonpull *p);

/* If the next value is null: takes it. */
bool jsonpull_null(struct jsonpull *p);

/* Values. A count is an integer from 0 to 2^63-1, an amount a number that is finite and not
 * negative. */
int64_t jsonpull_count(struct jsonpull *p);
double jsonpull_amount(struct jsonpull *p);
/* An integer from 0 to 2^128-1. */
unsigned __int128 jsonpull_wide(struct jsonpull *p);
bool jsonpull_bool(struct jsonpull *p);
/* p->string, valid until the next call. NULL: failed. */
const char *jsonpull_string(struct jsonpull *p);
/* RFC 3339; ns since 1970. 0001-01-01T00:00:00Z stands for none and gives INT64_MIN. */
int64_t jsonpull_time(struct jsonpull *p);

/* Any value, which is checked but not kept. */
void jsonpull_skip(struct jsonpull *p);

/* A key of an object, and where its value goes: exactly one of these is given, or the value is the
 * caller's own to read, by a number of its choice. Of numbers and strings
 * whose key is there twice the last one counts; two objects or arrays are an error. */
struct jsonpull_field {
    const char *key; /* NULL ends a list */
    int64_t *count, *time;
    int64_t *whole; /* a count whose writer held it as a floating-point number: with an exponent */
    double *amount;
    bool *flag;
    char **text; /* NULL, or an earlier copy that is freed; of an optional key it may be null */
    int own;     /* not 0 */
    bool optional, seen;
};

/* Reads the open object up to a value that is the caller's own, whose number it returns; 0: the
 * object is closed, or failed. Other keys than those listed are skipped. */
int jsonpull_own(struct jsonpull *p, struct jsonpull_field *fields);
/* The same for an object of which no value is the caller's own. */
void jsonpull_fields(struct jsonpull *p, struct jsonpull_field *fields);
/* Fails if a key was not there that is not optional. */
void jsonpull_need(struct jsonpull *p, const struct jsonpull_field *fields);

/* What the caller did with a value failed, and *p->e says why: as if a call had. */
bool jsonpull_check(struct jsonpull *p, bool ok);

/* One more element, all zero, of the array *v, whose *n elements were added by this alone; NULL:
 * failed. The second gives one for each item of the open array, and NULL at its end. */
void *jsonpull_element(struct jsonpull *p, void *v, size_t *n, size_t size);
#define JSONPULL_MORE(p, v, n) jsonpull_element((p), (v), (n), sizeof **(v))
#define JSONPULL_NEXT(p, v, n) (jsonpull_item(p) ? JSONPULL_MORE(p, v, n) : NULL)

/* Nothing but blanks may follow the document. */
bool jsonpull_end(struct jsonpull *p);

#endif
