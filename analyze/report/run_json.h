/* The analysis as JSON, schema s3analyze/analysis/1 (docs/json-statistics.md). */
#ifndef S3_ANALYZE_REPORT_RUN_JSON_H
#define S3_ANALYZE_REPORT_RUN_JSON_H

#include "analyze/analysis/analysis.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

/* Writes the whole document; memory does not grow with the number of hosts. False: out of memory.
 * Write errors stay in `f` for whoever closes it. */
bool report_json(const struct analysis *a, FILE *f, struct err *e);

#endif
