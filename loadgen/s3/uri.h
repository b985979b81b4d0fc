/* Percent-encoding for Signature Version 4: every byte except A-Z a-z 0-9 - . _ ~ becomes %XX with
 * upper-case digits. So the path sent is the canonical path. */
#ifndef S3_LOADGEN_S3_URI_H
#define S3_LOADGEN_S3_URI_H

#include "loadgen/util/strbuf.h"

/* The longest encoding of n bytes, without a NUL. */
#define URI_MAX(n) (3 * (n))

/* Adds the encoding of n bytes: an object's key in a path (is_path), which keeps '/'; or a name or
 * value in a query, which does not. */
void uri_encode(struct strbuf *b, const char *s, size_t n, bool is_path);

/* Decodes the *n bytes at s in place and sets *n to the new length; adds no NUL. '+' becomes a
 * space, as in forms and in listings with encoding-type=url. Returns false if a '%' lacks its two
 * hexadecimal digits; then s is partly decoded. */
bool uri_decode(char *s, size_t *n);

#endif
