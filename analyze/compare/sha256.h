/* SHA-256 of a file's bytes. */
#ifndef S3_ANALYZE_COMPARE_SHA256_H
#define S3_ANALYZE_COMPARE_SHA256_H

#include "libcommon/err.h"

#include <stdbool.h>

struct sha256_text {
    char s[65]; /* hexadecimal; "" for what cannot be read twice (standard input, a pipe) */
};

/* False: the file cannot be read, as *e says. */
bool sha256_file(const char *path, struct sha256_text *out, struct err *e);

#endif
