/* Rows that are there twice. */
#ifndef S3_ANALYZE_SETS_IDENTICAL_H
#define S3_ANALYZE_SETS_IDENTICAL_H

#include "analyze/sets/scan.h"
#include "libcommon/err.h"

#include <stdbool.h>

/* Counts rows that are the same as one before them, of the same thread: s->n_identical. 8 to 16
 * bytes a row while it runs, as the other one. */
bool identical_count(struct scan *s, struct err *e);

/* Counts rows that stand in another section too, whose threads have other numbers: s->repeats. */
bool identical_count_repeated(struct scan *s, const struct dataset *d, struct err *e);

#endif
