/* The analysis of a run, and a comparison, as JSON. Write errors stay in `f` for whoever closes it.
 */
#ifndef S3_ANALYZE_JSON_DOCUMENTS_H
#define S3_ANALYZE_JSON_DOCUMENTS_H

#include "analyze/analysis/analysis.h"
#include "analyze/compare/compare.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

/* The whole document, schema s3analyze/analysis/1 (docs/json-statistics.md); memory does not grow
 * with the number of hosts. False: out of memory. */
bool report_json(const struct analysis *a, FILE *f, struct err *e);

/* Schema s3analyze/compare/1. False: out of memory. */
bool compare_json(const struct compare *c, FILE *f, struct err *e);

#endif
