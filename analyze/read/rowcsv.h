/* The slow-row parser (recfile.h), on libcsv: rows with quotes, and bad rows, for which it says
 * what is wrong. Quoting as in capture-format.md, "Quoting". */
#ifndef S3_ROW_CSV_H
#define S3_ROW_CSV_H

#include "recfile.h"

/* NULL: out of memory. */
void *row_csv_new(void);
void row_csv_free(void *state);
recfile_slow_row row_csv_parse;

#endif
