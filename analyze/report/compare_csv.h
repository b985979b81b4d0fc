/* A comparison as comma-separated values, one line a metric. */
#ifndef S3_ANALYZE_REPORT_COMPARE_CSV_H
#define S3_ANALYZE_REPORT_COMPARE_CSV_H

#include "analyze/compare/compare.h"

#include <stdio.h>

/* Write errors stay in `f` for whoever closes it. */
void compare_csv(const struct compare *c, bool safe, FILE *f);

#endif
