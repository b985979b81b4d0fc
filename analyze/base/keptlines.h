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
    size_t n;    /* kept */
    size_t next; /* once lines are left out: the place of the oldest of the last ones */
    uint64_t n_left_out;
};

/* Adds a line of n bytes, which are copied. Of more than 2 * n_each lines those between the first
 * and the last n_each are left out; n_each is the same in each call. A line that is left out lends
 * its memory to the next one: a file of comments costs no allocation for each. False: out of
 * memory. */
bool keptlines_add(struct keptlines *k, size_t n_each, const char *text, size_t n, struct err *e);

/* The kept line i < k->n, in the order of adding; terminated by NUL. */
const char *keptlines_get(const struct keptlines *k, size_t i);

void keptlines_fini(struct keptlines *k);

#endif
