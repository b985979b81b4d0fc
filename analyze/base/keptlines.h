/* The first and the last few of many lines, such as the comments of a capture. */
#ifndef S3_ANALYZE_BASE_KEPTLINES_H
#define S3_ANALYZE_BASE_KEPTLINES_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is a list without lines. */
struct keptlines {
    struct keptline {
        char *text;
        size_t room;
    } * line;
    size_t n;            /* kept lines */
    size_t next;         /* index of the oldest of the last lines; only if n_left_out > 0 */
    uint64_t n_left_out; /* lines that were dropped */
};

/* Adds a copy of a line of n bytes. Keeps the first n_each lines and the last n_each, and drops
 * those between; every call must pass the same n_each. A new line reuses the memory of the one it
 * replaces, so long files of comments cost no allocation per line. False: out of memory. */
bool keptlines_add(struct keptlines *k, size_t n_each, const char *text, size_t n, struct err *e);

/* Returns the kept line i < k->n, in the order of adding, NUL-terminated. */
const char *keptlines_get(const struct keptlines *k, size_t i);

void keptlines_fini(struct keptlines *k);

#endif
