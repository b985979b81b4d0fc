/* What a page was made from, within it: for the script, and for who saves it. */
#ifndef S3_ANALYZE_REPORT_HTML_DATA_H
#define S3_ANALYZE_REPORT_HTML_DATA_H

#include "analyze/analysis/analysis.h"
#include "analyze/report/html_internal.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

/* An element "data" of JSON: the analysis as report_json writes it, and the course: series of the
 * first screen, then of each operation. Takes the memory of the report. False: *e says why. */
bool html_data(FILE *f, const struct analysis *a, const struct html_course *c, struct err *e);

/* The same element with what `write` writes of *ctx: JSON. */
bool html_data_put(FILE *f, bool (*write)(FILE *f, const void *ctx, struct err *e), const void *ctx,
                   struct err *e);

/* ",\"course\":" and the series of the first screen, then of each operation. Figures that are not
 * known are null. False: out of memory. */
bool html_data_course(FILE *f, const struct plot_timeline *all, const struct plot_timeline *ops,
                      size_t n_ops);

/* A link that saves it as NAME.json, which the script makes work. */
void html_data_link(FILE *f, const char *name);

#endif
