#include "loadgen/util/strbuf.h"

#include "libcommon/utf8.h"
#include "libcommon/visible.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a byte as XML text: "&quot;". */
#define XML_GROWTH 6

void strbuf_fini(struct strbuf *b)
{
    free(b->s);
    *b = (struct strbuf){0};
}

void strbuf_clear(struct strbuf *b)
{
    b->n = 0;
    b->failed = false;
    if (b->s != NULL)
        b->s[0] = '\0';
}

/* Room for n more bytes and a NUL. */
static bool reserve(struct strbuf *b, size_t n)
{
    size_t cap = b->cap > 0 ? b->cap : 256;

    while (cap - b->n <= n)
        cap *= 2;
    if (cap > b->cap && !b->failed) {
        char *s = realloc(b->s, cap);
        b->failed = s == NULL;
        if (s != NULL) {
            b->s = s;
            b->cap = cap;
        }
    }
    return !b->failed;
}

void strbuf_put(struct strbuf *b, const char *data, size_t n)
{
    if (!reserve(b, n))
        return;
    memcpy(b->s + b->n, data, n);
    b->n += n;
    b->s[b->n] = '\0';
}

void strbuf_puts(struct strbuf *b, const char *s)
{
    strbuf_put(b, s, strlen(s));
}

void strbuf_printf(struct strbuf *b, const char *fmt, ...)
{
    va_list args;
    va_list again;

    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n >= 0 && reserve(b, (size_t)n)) {
        vsnprintf(b->s + b->n, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

void strbuf_json(struct strbuf *b, const char *s)
{
    strbuf_puts(b, "\"");
    while (*s != '\0') {
        size_t n = utf8_length(s);
        if (*s == '"' || *s == '\\') {
            strbuf_printf(b, "\\%c", *s);
            n = 1;
        } else if ((unsigned char)*s < 0x20) {
            strbuf_printf(b, "\\u%04x", (unsigned)*s);
            n = 1;
        } else if (n == 0) {
            strbuf_puts(b, "\xef\xbf\xbd");
            n = 1;
        } else if (visible_length(s) == 0) {
            strbuf_printf(b, "\\u%04x", (unsigned)utf8_code(s, n)); /* none lies beyond U+FFFF */
        } else {
            strbuf_put(b, s, n);
        }
        s += n;
    }
    strbuf_puts(b, "\"");
}

/* The entity for a byte in XML text; NULL: the byte is written unchanged; "": it is illegal in
 * XML 1.0. */
static const char *reference(unsigned char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&apos;";
    case '\t':
        return "&#9;";
    case '\n':
        return "&#10;";
    case '\r':
        return "&#13;";
    default:
        return c < ' ' ? "" : NULL;
    }
}

size_t strbuf_escape_xml(char *dst, size_t size, const char *s, size_t n)
{
    size_t len = 0;

    for (size_t i = 0; i < n; i++) {
        const char *form = reference((unsigned char)s[i]);
        size_t need = form == NULL ? 1 : strlen(form);

        if (need == 0 || size - len <= need)
            return SIZE_MAX;
        memcpy(dst + len, form == NULL ? &s[i] : form, need);
        len += need;
    }
    if (len >= size)
        return SIZE_MAX;
    dst[len] = '\0';
    return len;
}

bool strbuf_xml(struct strbuf *b, const char *s, size_t n)
{
    if (!reserve(b, XML_GROWTH * n))
        return true;
    size_t len = strbuf_escape_xml(b->s + b->n, b->cap - b->n, s, n);
    if (len == SIZE_MAX)
        return false;
    b->n += len;
    return true;
}
