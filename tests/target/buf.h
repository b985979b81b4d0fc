/* Text that grows. A failed allocation is remembered, and nothing is added after it. */
#ifndef S3_BUF_H
#define S3_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *p; /* n bytes and a NUL; NULL if nothing was added */
    size_t n;
    size_t cap;
    bool failed;
};

void buf_fini(struct buf *b);
void buf_put(struct buf *b, const void *data, size_t n);
void buf_str(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Adds s as XML text. */
void buf_xml(struct buf *b, const char *s);

/* Adds <name>text</name>. */
void buf_element(struct buf *b, const char *name, const char *text);

/* Writes n bytes as 2 n hexadecimal digits and a NUL. */
void buf_hex(const unsigned char *bytes, size_t n, char *out);

/* Adds n bytes percent-encoded: all but A-Z a-z 0-9 - . _ ~ and, if keep_slash, '/'. */
void buf_percent(struct buf *b, const char *s, size_t n, bool keep_slash);

#endif
