/* Text that grows. A failed allocation is remembered, and nothing is added after it. */
#ifndef S3_LOADGEN_UTIL_STRBUF_H
#define S3_LOADGEN_UTIL_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

struct strbuf {
    char *s; /* n bytes and a NUL; NULL until something was added */
    size_t n;
    size_t cap;
    bool failed;
};

/* Starts as zeros. */
void strbuf_fini(struct strbuf *b);

/* Forgets the text, keeps the memory. */
void strbuf_clear(struct strbuf *b);

void strbuf_put(struct strbuf *b, const char *data, size_t n);
void strbuf_puts(struct strbuf *b, const char *s);
void strbuf_printf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Adds n bytes as XML text: & < > " ' and TAB, LF, CR as references. False if another byte below
 * space is among them, which has no form in XML; then nothing is added. */
bool strbuf_xml(struct strbuf *b, const char *s, size_t n);
bool strbuf_fits_xml(const char *s, size_t n);

#endif
