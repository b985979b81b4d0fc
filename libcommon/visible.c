#include "libcommon/visible.h"

#include "libcommon/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE_BYTES 4096

static bool is_unsafe(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFFFE ||
           c == 0xFFFF;
}

size_t visible_length(const char *s)
{
    size_t n = utf8_length(s);
    return n > 0 && !is_unsafe(utf8_code(s, n)) ? n : 0;
}

size_t visible_step(const char *s)
{
    size_t n = utf8_length(s);
    return n > 0 || *s == '\0' ? n : 1;
}

/* Copies s, made safe to print, as far as whole characters and a NUL fit into `size` bytes. Returns
 * the number of characters. */
static size_t copy_into(char *to, size_t size, const char *s)
{
    size_t width = 0;
    char *end = to + size - 1;

    while (*s != '\0') {
        size_t n = visible_length(s), step = visible_step(s);
        if ((size_t)(end - to) < (n > 0 ? n : 4 * step))
            break;
        if (n > 0)
            to = mempcpy(to, s, n);
        for (size_t i = 0; n == 0 && i < step; i++)
            to += sprintf(to, "\\x%02x", (unsigned char)s[i]);
        width += n > 0 ? 1 : 4 * step;
        s += step;
    }
    *to = '\0';
    return width;
}

char *visible_copy(const char *s, size_t *width)
{
    size_t size = 4 * strlen(s) + 1;
    char *copy = malloc(size);

    if (copy != NULL) {
        size_t n = copy_into(copy, size, s);
        if (width != NULL)
            *width = n;
    }
    return copy;
}

void visible_format(char *to, size_t size, const char *fmt, va_list args)
{
    char raw[MAX_LINE_BYTES];
    vsnprintf(raw, sizeof raw, fmt, args);
    copy_into(to, size, raw);
}

void visible_vline(FILE *f, const char *fmt, va_list args)
{
    char line[4 * MAX_LINE_BYTES];
    visible_format(line, sizeof line, fmt, args);
    fprintf(f, "%s\n", line);
}

void visible_line(FILE *f, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    visible_vline(f, fmt, args);
    va_end(args);
}
