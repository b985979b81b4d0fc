/* The slow-row parser (recfile.h), on libcsv: rows with quotes, and bad rows, for which it says
 * what is wrong. Quoting as in capture-format.md, "Quoting". */
#ifndef S3_ANALYZE_READ_ROWCSV_H
#define S3_ANALYZE_READ_ROWCSV_H

#include "analyze/read/recfile.h"

/* NULL: out of memory. */
void *row_csv_new(void);
void row_csv_free(void *state);
recfile_slow_row row_csv_parse;

#endif
