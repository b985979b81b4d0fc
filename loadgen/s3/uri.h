/* Percent-encoding as Signature Version 4 wants it: every byte but A-Z a-z 0-9 - . _ ~ becomes %XX
 * with upper-case digits, so that the path sent is the canonical path. */
#ifndef S3_LOADGEN_S3_URI_H
#define S3_LOADGEN_S3_URI_H

#include <stdbool.h>
#include <stddef.h>

/* The longest encoding of n bytes, without a NUL. */
#define URI_MAX(n) (3 * (n))

/* Each writes the encoding of the n bytes at src to dst and a NUL, and returns its length without
 * the NUL, or SIZE_MAX if it does not fit in `size` bytes; then dst is not to be used. */

/* For object keys in a path: '/' stays. */
size_t uri_encode_path(char *dst, size_t size, const char *src, size_t n);

/* For a name or a value in a query: '/' is encoded too. */
size_t uri_encode_query(char *dst, size_t size, const char *src, size_t n);

/* Decodes the *n bytes at s in place (no NUL is added) and puts the new length in *n. With
 * plus_is_space, '+' gives a space, as in forms and in listings with encoding-type=url.
 * False if a '%' is not followed by two hexadecimal digits; then s is partly decoded. */
bool uri_decode(char *s, size_t *n, bool plus_is_space);

#endif
