#ifndef S3_ANALYZE_REPORT_AGGREGATE_HTML_H
#define S3_ANALYZE_REPORT_AGGREGATE_HTML_H

#include "analyze/analysis/aggregate.h"
#include "analyze/findings/finding.h"

#include <stdio.h>

/* Writes an aggregate as a page. label: its title; NULL: the file's name. Without gnuplot there are
 * no charts, and the page says so. */
bool aggregate_html(const struct aggregate *a, const struct findings *found, const char *label,
                    FILE *f, struct err *e);

#endif
