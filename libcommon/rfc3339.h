/* Timestamps: RFC 3339 <-> ns since the Unix epoch. */
#ifndef S3_LIBCOMMON_RFC3339_H
#define S3_LIBCOMMON_RFC3339_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RFC3339_LENGTH 30 /* of what is written: 2026-11-21T05:41:32.369461363Z */

struct rfc3339_text {
    char s[RFC3339_LENGTH + 1];
};

/* Parses the n bytes at `text`, all of them: YYYY-MM-DDThh:mm:ss, an optional fraction of 1 to 9
 * digits, then Z or +hh:mm or -hh:mm. False: another grammar, no such day or time (a leap second,
 * :60, is none), or a time outside 1970-01-01T00:00:00Z .. 2262-04-11T23:47:16.854775807Z; *ns is
 * unchanged then. */
bool rfc3339_parse(const char *text, size_t n, int64_t *ns);

/* Writes RFC3339_LENGTH bytes (UTC, nine digits, no NUL) at `out` and returns their end. Times
 * before 1970 are allowed. */
char *rfc3339_put(char *out, int64_t ns);

/* Returns the time as a string: printf("%s", rfc3339_format(ns).s). */
struct rfc3339_text rfc3339_format(int64_t ns);

/* Returns the time as a string, to the ms. */
struct rfc3339_text rfc3339_moment(int64_t ns);

#endif
