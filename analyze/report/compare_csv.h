/* A comparison as comma-separated values, one line a metric. */
#ifndef S3_COMPARE_CSV_H
#define S3_COMPARE_CSV_H

#include "compare.h"

#include <stdio.h>

/* Write errors stay in `f` for whoever closes it. */
void compare_csv(const struct compare *c, bool safe, FILE *f);

#endif
