/* A comparison as JSON, schema s3analyze/compare/1. */
#ifndef S3_ANALYZE_REPORT_COMPARE_JSON_H
#define S3_ANALYZE_REPORT_COMPARE_JSON_H

#include "analyze/compare/compare.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

/* False: out of memory. Write errors stay in `f` for whoever closes it. */
bool compare_json(const struct compare *c, FILE *f, struct err *e);

#endif
