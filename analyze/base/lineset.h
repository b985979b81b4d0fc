/* A set of lines, of which the first ones in the order of bytes are kept: those of two sets
 * together are the same in whatever order they come, and however often each. */
#ifndef S3_ANALYZE_BASE_LINESET_H
#define S3_ANALYZE_BASE_LINESET_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

#define LINESET_MAX 256

/* All zero is an empty set. */
struct lineset {
    char **line; /* ascending */
    size_t n;
};

/* Adds a copy. False: out of memory. */
bool lineset_add(struct lineset *s, const char *line, struct err *e);

/* Adds those of `from`. False: out of memory. */
bool lineset_merge(struct lineset *to, const struct lineset *from, struct err *e);

void lineset_fini(struct lineset *s);

#endif
