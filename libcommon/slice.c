#include "libcommon/slice.h"

#include <ctype.h>

#define MAX_VALUE (INT64_C(1) << 60) /* so that sums of a few fit */

bool slice_decimal(struct slice text, unsigned digits, int64_t *value)
{
    bool point = false;
    unsigned n_digits = 0, n_decimals = 0;
    int64_t v = 0;

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '.' && !point && digits > 0) {
            point = true;
            continue;
        }
        if (text.p[i] < '0' || text.p[i] > '9' || v >= MAX_VALUE / 10)
            return false;
        v = v * 10 + (text.p[i] - '0');
        n_digits++;
        n_decimals += point;
    }
    if (n_digits == 0 || n_decimals > digits)
        return false;
    for (; n_decimals < digits; n_decimals++) {
        if (v >= MAX_VALUE / 10)
            return false;
        v *= 10;
    }
    *value = v;
    return true;
}

struct slice slice_trim(struct slice s)
{
    while (s.n > 0 && isspace((unsigned char)*s.p))
        s = slice_from(s, 1);
    while (s.n > 0 && isspace((unsigned char)s.p[s.n - 1]))
        s.n--;
    return s;
}

struct slice slice_take(struct slice *rest, char end)
{
    const char *found = rest->n > 0 ? memchr(rest->p, end, rest->n) : NULL;
    struct slice all = *rest;

    if (found == NULL) {
        *rest = (struct slice){0};
        return all;
    }
    all.n = (size_t)(found - all.p);
    *rest = slice_from(*rest, all.n + 1);
    return all;
}

struct slice slice_userinfo(const char *text)
{
    const char *scheme = strstr(text, "://"), *start = scheme != NULL ? scheme + 3 : "";
    const char *at = memrchr(start, '@', strcspn(start, "/?#"));

    return at != NULL ? (struct slice){start, (size_t)(at - start)} : (struct slice){0};
}
