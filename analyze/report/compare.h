/* A comparison as text for people, as Markdown (tables to paste into a pull request), and as
 * comma-separated values. Write errors stay in `f` for whoever closes it. */
#ifndef S3_ANALYZE_REPORT_COMPARE_H
#define S3_ANALYZE_REPORT_COMPARE_H

#include "analyze/compare/compare.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

/* False: out of memory. */
bool compare_text(const struct compare *c, bool colour, FILE *f, struct err *e);

void compare_md(const struct compare *c, FILE *f);

/* `safe` as in struct csv_out_style. */
void compare_csv(const struct compare *c, bool safe, FILE *f);

#endif
