/* The data file of a chart: tab-separated blocks that gnuplot finds by name. A block is a comment
 * with its name, a row of column names, and its rows; two empty lines end it. */
#ifndef S3_ANALYZE_RENDER_PLOT_OUT_H
#define S3_ANALYZE_RENDER_PLOT_OUT_H

#include <stdio.h>

/* Starts a block; `columns` are separated by spaces. */
void plot_out_block(FILE *f, const char *name, const char *columns);

/* Writes one row. `kinds` has a letter for each value: r a double (NaN: none), i an int64_t, t a
 * time in ns (int64_t), n a number's text (csv_out_number), s a text. Text from captures is made
 * safe: no tabs, no quotes, no control characters, and cut to a short length. */
void plot_out_row(FILE *f, const char *kinds, ...);

#endif
