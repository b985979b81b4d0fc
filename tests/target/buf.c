#include "tests/target/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_fini(struct buf *b)
{
    free(b->p);
    *b = (struct buf){0};
}

void buf_put(struct buf *b, const void *data, size_t n)
{
    if (b->failed)
        return;
    if (b->n + n + 1 > b->cap) {
        size_t cap = 2 * b->cap > b->n + n + 1 ? 2 * b->cap : b->n + n + 1;
        char *bigger = realloc(b->p, cap);
        if (bigger == NULL) {
            b->failed = true;
            return;
        }
        b->p = bigger;
        b->cap = cap;
    }
    if (n > 0)
        memcpy(b->p + b->n, data, n);
    b->n += n;
    b->p[b->n] = '\0';
}

void buf_str(struct buf *b, const char *s)
{
    buf_put(b, s, strlen(s));
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    char text[512];
    va_list args;

    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text)
        b->failed = true;
    else
        buf_put(b, text, (size_t)n);
}

void buf_xml(struct buf *b, const char *s)
{
    for (; *s != '\0'; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '&' || c == '<' || c == '>' || c == '"' || c < ' ')
            buf_printf(b, "&#%d;", c);
        else
            buf_put(b, s, 1);
    }
}

void buf_percent(struct buf *b, const char *s, size_t n, bool keep_slash)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (letter || (c != '\0' && strchr("-._~", c) != NULL) || (c == '/' && keep_slash))
            buf_put(b, &s[i], 1);
        else
            buf_printf(b, "%%%02X", c);
    }
}

void buf_element(struct buf *b, const char *name, const char *text)
{
    buf_printf(b, "<%s>", name);
    buf_xml(b, text);
    buf_printf(b, "</%s>", name);
}

void buf_hex(const unsigned char *bytes, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++)
        sprintf(out + 2 * i, "%02x", bytes[i]);
}
