#ifndef S3_ANALYZE_REPORT_AGGREGATE_HTML_H
#define S3_ANALYZE_REPORT_AGGREGATE_HTML_H

#include "analyze/analysis/aggregate.h"
#include "analyze/findings/finding.h"
#include "analyze/report/run_html.h"

#include <stdio.h>

/* Writes an aggregate as a page. Of *o label (NULL: the file's name) and command count. Without
 * gnuplot there are no charts but the timeline, and the page says so. */
bool aggregate_html(const struct aggregate *a, const struct findings *found,
                    const struct report_html_options *o, FILE *f, struct err *e);

#endif
