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

/* Adds s as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void strbuf_json(struct strbuf *b, const char *s);

/* Adds n bytes as XML text; false if a byte has no form in XML. */
bool strbuf_xml(struct strbuf *b, const char *s, size_t n);

/* Writes s with & < > " ' and bytes below space (but TAB, LF, CR as references) as XML text, and a
 * NUL. Returns the length, or SIZE_MAX if it does not fit or a byte has no form in XML. */
size_t strbuf_escape_xml(char *dst, size_t size, const char *s, size_t n);

#endif
