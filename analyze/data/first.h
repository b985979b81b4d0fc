/* Finds the earliest row of a table when several rows differ only in the names of their files.
 * Tables do not keep these names. Loading finds the first of all rows (struct table_first); if that
 * row was dropped later, the captures are read once more. */
#ifndef S3_ANALYZE_DATA_FIRST_H
#define S3_ANALYZE_DATA_FIRST_H

#include "analyze/data/dataset.h"

/* On entry, *i is the earliest row of t by dataset_compare. Among rows that tie with it, sets *i to
 * the one whose file name comes first, and t->first to match. Skips captures that cannot be read
 * twice, such as pipes; if all are skipped, *i stays. False: out of memory, or a capture could not
 * be read again; *e says so. */
bool first_settle(const struct dataset *d, struct table *t, size_t *i, struct err *e);

#endif
