/* A sorted set of lines. Keeps only the first LINESET_MAX in byte order, so the result depends
 * neither on the order of adding nor on how often a line is added. */
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

/* Adds a copy of a line. False: out of memory. */
bool lineset_add(struct lineset *s, const char *line, struct err *e);

/* Adds copies of all lines of `from`. False: out of memory. */
bool lineset_merge(struct lineset *to, const struct lineset *from, struct err *e);

void lineset_fini(struct lineset *s);

#endif
