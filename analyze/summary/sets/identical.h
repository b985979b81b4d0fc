/* Counts rows that occur twice. */
#ifndef S3_ANALYZE_SUMMARY_SETS_IDENTICAL_H
#define S3_ANALYZE_SUMMARY_SETS_IDENTICAL_H

#include "analyze/summary/sets/scan.h"
#include "libcommon/err.h"

#include <stdbool.h>

/* Counts the rows that equal an earlier row of the same thread in s->n_identical. Takes 8 to 16
 * bytes a row while it runs, as does the function below. Both return false if out of memory. */
bool identical_count(struct scan *s, struct err *e);

/* Counts the rows that another section has too, under other thread numbers, in s->repeats. */
bool identical_count_repeated(struct scan *s, const struct dataset *d, struct err *e);

#endif
