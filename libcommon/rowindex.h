/* Positions of delimiters, newlines and quotes in a piece of text: the first half of parsing rows.
 * Finding them with SIMD is what makes parsing fast (reading-cost.md). */
#ifndef S3_ROWINDEX_H
#define S3_ROWINDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text handed to rowindex_build must be readable this far beyond its end. */
#define ROWINDEX_PADDING 64

enum rowindex_kind { ROWINDEX_PORTABLE, ROWINDEX_SSE2, ROWINDEX_AVX2 };

struct rowindex {
    enum rowindex_kind kind;
    size_t cap;      /* longest text */
    uint32_t *seps;  /* positions of delimiters and newlines; seps[-1] is (uint32_t)-1 */
    uint32_t *lines; /* positions of newlines */
    uint32_t *quotes;
    size_t n_seps, n_lines, n_quotes;
};

/* The fastest kind this machine has. */
enum rowindex_kind rowindex_best_kind(void);

/* For texts of up to `cap` bytes (below 2^32 - 1). False: out of memory. */
bool rowindex_init(struct rowindex *ix, enum rowindex_kind kind, size_t cap);
void rowindex_fini(struct rowindex *ix);

/* Indexes n bytes. Behind the last position each list ends with a value larger than any position
 * (seps: with `n_guard` of them, at most ROWINDEX_MAX_GUARD). */
#define ROWINDEX_MAX_GUARD 256
void rowindex_build(struct rowindex *ix, const char *text, size_t n, char delimiter);

#endif
