/* A comparison as text for people, as Markdown (tables to paste into a pull request), as
 * comma-separated values, as JSON, and as a page. Write errors stay in `f` for whoever closes it.
 */
#ifndef S3_ANALYZE_REPORT_COMPARE_H
#define S3_ANALYZE_REPORT_COMPARE_H

#include "analyze/compare/compare.h"
#include "analyze/plot/compare.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

/* Verbose: all that the other formats hold. False: out of memory. */
bool compare_text(const struct compare *c, bool colour, bool verbose, FILE *f, struct err *e);

/* False: out of memory. */
bool compare_md(const struct compare *c, FILE *f, struct err *e);

/* `safe` as in struct csv_out_style. Figures of metrics come first; then those of the runs' own
 * reports and means, which have no verdict; last notes, as rows whose metric is "note". False: out
 * of memory. */
bool compare_csv(const struct compare *c, bool safe, FILE *f, struct err *e);

/* Schema s3analyze/compare/1. False: out of memory. */
bool compare_json(const struct compare *c, FILE *f, struct err *e);

/* Draws the charts and writes one HTML file with everything in it; `words` say how requests were
 * chosen and cut (words.h), `command` which command makes the page (output_command). Without
 * gnuplot the page has a note in their place. False: *e says why. */
bool compare_html(const struct compare *c, const struct plot_traces *traces, const char *words,
                  const char *command, FILE *f, struct err *e);

#endif
