/* SHA-256 of files and texts. */
#ifndef S3_ANALYZE_TOOLS_COMPARE_SHA256_H
#define S3_ANALYZE_TOOLS_COMPARE_SHA256_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

struct sha256_text {
    char s[65]; /* hexadecimal; "" for a file that cannot be read twice (standard input, a pipe) */
};

/* Computes the SHA-256 of a file. False: the file cannot be read, and *e says why. */
bool sha256_file(const char *path, struct sha256_text *out, struct err *e);

/* The SHA-256 of a text in Base64, by which a Content-Security-Policy names scripts. */
struct sha256_base64 {
    char s[45];
};
bool sha256_text_base64(const char *text, size_t n, struct sha256_base64 *out, struct err *e);

#endif
