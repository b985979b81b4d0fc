/* The earliest of a table's rows where several tie but for the names of their files. These are not
 * kept: of the rows that were read one is known to be the first (struct table_first), of those that
 * are left after others were dropped it is found by reading the captures once more. */
#ifndef S3_ANALYZE_DATA_FIRST_H
#define S3_ANALYZE_DATA_FIRST_H

#include "analyze/data/dataset.h"

/* *i is the earliest row of t by dataset_compare; makes it the one whose file name comes first.
 * Captures that cannot be read twice, such as pipes, are passed over: of their rows it stays the
 * one with the fewest bytes. False: no memory, or a capture could not be read again. */
bool first_settle(const struct dataset *d, struct table *t, size_t *i, struct err *e);

#endif
