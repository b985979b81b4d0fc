/* Writes a JSON document piece by piece, so that it is never in memory as a whole: callers open and
 * close containers, and values are written at once.
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
    bool is_compact;                /* all in one line, set by whoever begins without a schema */
    bool failed;
};

/* Opens the document, an object whose first member is its schema; json_out_finish closes it. A line
 * of JSON begins without: {.f = f, .is_empty = true, .is_compact = true}, then json_out_object. */
void json_out_begin(struct json_out *w, FILE *f, const char *schema);

/* Opens a container; `key` is NULL in an array. */
void json_out_object(struct json_out *w, const char *key);
void json_out_array(struct json_out *w, const char *key);
/* Opens an object if `present`; else writes null and returns false. */
bool json_out_open(struct json_out *w, const char *key, bool present);
/* Closes the innermost container. */
void json_out_end(struct json_out *w);

/* Write an array of n items, i from 0. The body of JSON_ARRAY writes item i; that of JSON_OBJECTS
 * writes the members of item i, an object. The body must not leave the loop, so no break. */
#define JSON_ARRAY(w, key, i, n)                                                                   \
    for (size_t i = (json_out_array(w, key), (size_t)0); json_out_more(w, i < (n), false); i++)
#define JSON_OBJECTS(w, key, i, n)                                                                 \
    for (size_t i = (json_out_array(w, key), (size_t)0); json_out_more(w, i < (n), true);          \
         json_out_end(w), i++)

/* The condition of these loops: opens an object for the next item, or closes the array after the
 * last one. */
static inline bool json_out_more(struct json_out *w, bool more, bool objects)
{
    if (!more)
        json_out_end(w);
    else if (objects)
        json_out_object(w, NULL);
    return more;
}

/* Writes one value and takes over its reference. A NULL value makes json_out_finish fail, as out of
 * memory does. */
void json_out_value(struct json_out *w, const char *key, json_t *value);

/* Write one value without building a json_t, since a report of many hosts has millions of values.
 * The text is the same as jansson's. A real that is not finite and a NULL text become null. Bytes
 * that are not UTF-8 become U+FFFD. A time is RFC 3339 in UTC with nine digits. */
/* Writes [a, b]; null if a is not known. */
void json_put_pair(struct json_out *w, const char *key, double a, double b);
void json_put_null(struct json_out *w, const char *key);
void json_put_bool(struct json_out *w, const char *key, bool value);
void json_put_integer(struct json_out *w, const char *key, int64_t value);
void json_put_real(struct json_out *w, const char *key, double value);
void json_put_text(struct json_out *w, const char *key, const char *s);
void json_put_time(struct json_out *w, const char *key, int64_t ns);
/* Writes null unless present. */
void json_put_time_if(struct json_out *w, const char *key, bool present, int64_t ns);

/* Writes a number, a flag or a text, by its type. A comparison is an int in C and does not compile
 * here, lest it is written as a number: use json_put_bool. */
#define JSON_PUT(w, key, x)                                                                        \
    _Generic((x), bool                                                                             \
             : json_put_bool, int64_t                                                              \
             : json_put_integer, uint64_t                                                          \
             : json_put_integer, uint32_t                                                          \
             : json_put_integer, double                                                            \
             : json_put_real, char *                                                               \
             : json_put_text, const char *                                                         \
             : json_put_text)(w, key, x)
#define JSON_PUT_IF(w, key, condition, x)                                                          \
    ((condition) ? JSON_PUT(w, key, x) : json_put_null(w, key))

/* Writes 1 to 10 members of *s under their own names. */
#define JSON_MEMBERS(w, s, ...)                                                                    \
    JSON_MEMBERS_N(__VA_ARGS__, JSON_10, JSON_9, JSON_8, JSON_7, JSON_6, JSON_5, JSON_4, JSON_3,   \
                   JSON_2, JSON_1, )                                                               \
    (w, s, __VA_ARGS__)
#define JSON_MEMBERS_N(a, b, c, d, e, f, g, h, i, j, each, ...) each

#define JSON_1(w, s, m) JSON_PUT(w, #m, (s)->m)

#define JSON_2(w, s, m, ...)  (JSON_1(w, s, m), JSON_1(w, s, __VA_ARGS__))
#define JSON_3(w, s, m, ...)  (JSON_1(w, s, m), JSON_2(w, s, __VA_ARGS__))
#define JSON_4(w, s, m, ...)  (JSON_1(w, s, m), JSON_3(w, s, __VA_ARGS__))
#define JSON_5(w, s, m, ...)  (JSON_1(w, s, m), JSON_4(w, s, __VA_ARGS__))
#define JSON_6(w, s, m, ...)  (JSON_1(w, s, m), JSON_5(w, s, __VA_ARGS__))
#define JSON_7(w, s, m, ...)  (JSON_1(w, s, m), JSON_6(w, s, __VA_ARGS__))
#define JSON_8(w, s, m, ...)  (JSON_1(w, s, m), JSON_7(w, s, __VA_ARGS__))
#define JSON_9(w, s, m, ...)  (JSON_1(w, s, m), JSON_8(w, s, __VA_ARGS__))
#define JSON_10(w, s, m, ...) (JSON_1(w, s, m), JSON_9(w, s, __VA_ARGS__))

/* Return new values for json_out_value. NULL: out of memory. */
json_t *json_out_text(const char *s);
json_t *json_out_real(double value);
json_t *json_out_time(int64_t ns);

/* Writes UTF-8 text as a JSON string. False: out of memory. */
bool json_out_quoted(FILE *f, const char *text);

/* Writes n bytes that come from a dump function of jansson; also escapes control characters that
 * jansson leaves. */
void json_out_raw(FILE *f, const char *text, size_t n);

/* Closes the document and writes a newline; all other containers must be closed. False: *e says
 * that memory ran out at some point. */
bool json_out_finish(struct json_out *w, struct err *e);

#endif
