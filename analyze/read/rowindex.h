/* Finds the delimiters, newlines and quotes in a piece of text: the first half of parsing rows. It
 * uses SIMD, which is what makes parsing fast. */
#ifndef S3_ANALYZE_READ_ROWINDEX_H
#define S3_ANALYZE_READ_ROWINDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text handed to rowindex_build must be readable this far beyond its end. */
#define ROWINDEX_PADDING 64

/* A machine that supports one kind supports all before it. */
enum rowindex_kind { ROWINDEX_PORTABLE, ROWINDEX_SSE2, ROWINDEX_AVX2, ROWINDEX_AVX512 };

struct rowindex {
    enum rowindex_kind kind;
    size_t cap;      /* the longest text that fits */
    uint32_t *seps;  /* positions of delimiters and newlines; seps[-1] is (uint32_t)-1 */
    uint32_t *lines; /* positions of newlines */
    uint32_t *quotes;
    size_t n_seps, n_lines, n_quotes;
};

/* Returns the fastest kind for this machine. AVX512 means F, BW, VL and VBMI2. */
enum rowindex_kind rowindex_best_kind(void);

void rowindex_init(struct rowindex *ix, enum rowindex_kind kind);
void rowindex_fini(struct rowindex *ix);

/* Indexes n bytes (below 2^32 - 1). Each list ends with UINT32_MAX, seps with ROWINDEX_GUARD times
 * that. False: out of memory. */
#define ROWINDEX_GUARD 256
bool rowindex_build(struct rowindex *ix, const char *text, size_t n, char delimiter);

#endif
