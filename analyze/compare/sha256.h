/* SHA-256 of files and texts. */
#ifndef S3_ANALYZE_COMPARE_SHA256_H
#define S3_ANALYZE_COMPARE_SHA256_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

struct sha256_text {
    char s[65]; /* hexadecimal; "" for what cannot be read twice (standard input, a pipe) */
};

/* False: the file cannot be read, as *e says. */
bool sha256_file(const char *path, struct sha256_text *out, struct err *e);

/* The hash of a text in Base64; a Content-Security-Policy names scripts by it. */
struct sha256_base64 {
    char s[45];
};
bool sha256_text_base64(const char *text, size_t n, struct sha256_base64 *out, struct err *e);

#endif
