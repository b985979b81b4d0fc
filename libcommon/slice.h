/* Bytes that somebody else owns. */
#ifndef S3_LIBCOMMON_SLICE_H
#define S3_LIBCOMMON_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
    const char *p; /* not NUL-terminated; may be NULL where n is 0 */
    size_t n;
};

static inline struct slice slice_of(const char *s)
{
    return (struct slice){s, strlen(s)};
}

static inline bool slice_begins(struct slice s, const char *text)
{
    return s.n >= strlen(text) && memcmp(s.p, text, strlen(text)) == 0;
}

static inline bool slice_is(struct slice s, const char *text)
{
    return s.n == strlen(text) && slice_begins(s, text);
}

/* Compares bytes, then lengths; returns a number below 0, 0 or above 0. */
static inline int slice_order(struct slice a, struct slice b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n > 0 ? memcmp(a.p, b.p, n) : 0;

    return c != 0 ? c : (a.n > b.n) - (a.n < b.n);
}

/* Returns s without its first n <= s.n bytes. */
static inline struct slice slice_from(struct slice s, size_t n)
{
    return (struct slice){s.p + n, s.n - n};
}

/* Returns s without blanks (isspace) at its ends. */
struct slice slice_trim(struct slice s);

/* Takes what is before the next `end` off the front of *rest, and drops the `end`. If there is
 * none, takes all, and rest->p becomes NULL. */
struct slice slice_take(struct slice *rest, char end);

/* Finds the user and password of a URL in a text: from behind "://" to the last "@" before the
 * path. .p NULL: there are none. */
struct slice slice_userinfo(const char *text);

/* Reads a decimal number that is not negative, such as 12.0345, in units of 10^-digits. False: the
 * text is no such number, has more decimals, or is 2^60 or more. */
bool slice_decimal(struct slice text, unsigned digits, int64_t *value);

#endif
