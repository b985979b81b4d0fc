/* Text that grows, or that fills a given buffer. Once an addition does not fit, `failed` is set and
 * nothing more is added. */
#ifndef S3_LOADGEN_UTIL_STRBUF_H
#define S3_LOADGEN_UTIL_STRBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct strbuf {
    char *s; /* n bytes and a NUL; NULL if nothing was added yet */
    size_t n;
    size_t cap;
    bool failed; /* out of memory, or the buffer is full */
    bool fixed;  /* s is the caller's */
};

/* Returns an empty strbuf in a borrowed buffer of size >= 1. Other strbufs start as zeros. */
struct strbuf strbuf_on(char *buffer, size_t size);
void strbuf_fini(struct strbuf *b);

/* Empties the text but keeps its memory. */
void strbuf_clear(struct strbuf *b);

/* Makes room for n more bytes and a NUL. Returns false, and sets `failed`, if there is none. */
bool strbuf_grow(struct strbuf *b, size_t n);

static inline bool strbuf_reserve(struct strbuf *b, size_t n)
{
    return (b->cap - b->n > n && !b->failed) || strbuf_grow(b, n);
}

static inline void strbuf_put(struct strbuf *b, const char *data, size_t n)
{
    if (!strbuf_reserve(b, n))
        return;
    memcpy(b->s + b->n, data, n);
    b->n += n;
    b->s[b->n] = '\0';
}

static inline void strbuf_puts(struct strbuf *b, const char *s)
{
    strbuf_put(b, s, strlen(s));
}

/* Adds all texts; NULL ends them. */
void strbuf_add(struct strbuf *b, ...) __attribute__((sentinel));

/* Replaces the text. */
static inline void strbuf_set(struct strbuf *b, const char *data, size_t n)
{
    strbuf_clear(b);
    strbuf_put(b, data, n);
}

void strbuf_printf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Adds n bytes as XML text: & < > " ' and TAB, LF, CR become references. XML has no form for other
 * bytes below space: if there is one, adds nothing and returns false. */
bool strbuf_xml(struct strbuf *b, const char *s, size_t n);
bool strbuf_fits_xml(const char *s, size_t n);

#endif
