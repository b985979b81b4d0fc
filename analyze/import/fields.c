#include "analyze/import/fields.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_VALUE (INT64_C(1) << 60) /* so that sums of a few fit */

size_t fields_split(const char *text, size_t n, char delimiter, struct slice *fields, size_t max)
{
    const char *end = text + n;

    for (size_t count = 0; count < max; count++) {
        const char *next = memchr(text, delimiter, (size_t)(end - text));
        fields[count] = (struct slice){text, (size_t)((next != NULL ? next : end) - text)};
        if (next == NULL)
            return count + 1;
        text = next + 1;
    }
    return max + 1;
}

bool fields_decimal(struct slice text, unsigned digits, int64_t *value)
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

struct slice fields_named(const char *const (*names)[2], size_t n, struct slice name,
                          struct slice other)
{
    for (size_t i = 0; i < n; i++)
        if (slice_is(name, names[i][0]))
            return slice_of(names[i][1]);
    return other;
}

struct slice fields_error(char buf[FIELDS_ERROR_BYTES], int64_t status, struct slice what)
{
    if (status < 400)
        return (struct slice){"", 0};
    int n =
        snprintf(buf, FIELDS_ERROR_BYTES, "HTTP %" PRId64 "%s%.*s", status, what.n > 0 ? " " : "",
                 (int)(what.n < 80 ? what.n : 80), what.n > 0 ? what.p : "");
    return (struct slice){buf, (size_t)n};
}
