/* How sure a run's figures are: confidence intervals, warm-up, drift, changes. */
#ifndef S3_ANALYZE_REPORT_HTML_STATISTICS_H
#define S3_ANALYZE_REPORT_HTML_STATISTICS_H

#include "analyze/analysis/confidence.h"

#include <stdio.h>

/* `s` NULL: nothing. */
void html_statistics(FILE *f, const struct statistics *s);

#endif
