#include "analyze/import/fields.h"

#include <inttypes.h>
#include <stdio.h>

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
