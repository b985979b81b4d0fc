/* Tables of a run's report: what the model of an operation says, as HTML. */
#ifndef S3_ANALYZE_REPORT_HTML_RUN_H
#define S3_ANALYZE_REPORT_HTML_RUN_H

#include "analyze/analysis/analysis.h"

#include <stdio.h>

/* The cards at the top: the headline figures of each operation and of all together. */
void html_run_summary(FILE *f, const struct analysis *a);
/* Tables of one operation. */
void html_run_operation(FILE *f, const struct operation *op);
/* Tables of all operations of a mixed run together. */
void html_run_total(FILE *f, const struct cluster_total *t);

#endif
