/* Percent-encoding as Signature Version 4 wants it: every byte but A-Z a-z 0-9 - . _ ~ becomes %XX
 * with upper-case digits, so that the path sent is the canonical path. */
#ifndef S3_LOADGEN_S3_URI_H
#define S3_LOADGEN_S3_URI_H

#include "loadgen/util/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/* The longest encoding of n bytes, without a NUL. */
#define URI_MAX(n) (3 * (n))

/* Adds the encoding of n bytes: of an object's key in a path, where '/' stays; or of a name or a
 * value in a query, where it is encoded too. */
void uri_encode(struct strbuf *b, const char *s, size_t n, bool is_path);

/* Decodes the *n bytes at s in place (no NUL is added) and puts the new length in *n; '+' gives a
 * space, as in forms and in listings with encoding-type=url. False if a '%' is not followed by two
 * hexadecimal digits; then s is partly decoded. */
bool uri_decode(char *s, size_t *n);

#endif
