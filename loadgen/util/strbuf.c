#include "loadgen/util/util.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct strbuf strbuf_on(char *buffer, size_t size)
{
    buffer[0] = '\0';
    return (struct strbuf){.s = buffer, .cap = size, .fixed = true};
}

void strbuf_fini(struct strbuf *b)
{
    if (!b->fixed)
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

bool strbuf_grow(struct strbuf *b, size_t n)
{
    size_t cap = b->cap > 0 ? b->cap : 256;

    if (b->failed)
        return false;
    while (cap - b->n <= n)
        cap *= 2;
    char *s = b->fixed ? NULL : realloc(b->s, cap);
    b->failed = s == NULL;
    if (s != NULL) {
        b->s = s;
        b->cap = cap;
    }
    return !b->failed;
}

void strbuf_printf(struct strbuf *b, const char *fmt, ...)
{
    va_list args;
    va_list again;

    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n >= 0 && strbuf_reserve(b, (size_t)n)) {
        vsnprintf(b->s + b->n, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

void strbuf_add(struct strbuf *b, ...)
{
    va_list args;

    va_start(args, b);
    for (const char *s; (s = va_arg(args, const char *)) != NULL;)
        strbuf_puts(b, s);
    va_end(args);
}

/* Returns the entity for a byte in XML text; NULL: write the byte as it is; "": XML 1.0 forbids it.
 */
static const char *reference(unsigned char c)
{
    static const char *const references['>' + 1] = {
        ['&'] = "&amp;",   ['<'] = "&lt;",  ['>'] = "&gt;",   ['"'] = "&quot;",
        ['\''] = "&apos;", ['\t'] = "&#9;", ['\n'] = "&#10;", ['\r'] = "&#13;"};

    if (c <= '>' && references[c] != NULL)
        return references[c];
    return c < ' ' ? "" : NULL;
}

bool strbuf_fits_xml(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *form = reference((unsigned char)s[i]);
        if (form != NULL && *form == '\0')
            return false;
    }
    return true;
}

bool strbuf_xml(struct strbuf *b, const char *s, size_t n)
{
    if (!strbuf_fits_xml(s, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        const char *form = reference((unsigned char)s[i]);
        strbuf_put(b, form != NULL ? form : s + i, form != NULL ? strlen(form) : 1);
    }
    return true;
}
