#ifndef S3_ANALYZE_REPORT_AGGREGATE_TEXT_H
#define S3_ANALYZE_REPORT_AGGREGATE_TEXT_H

#include "analyze/analysis/aggregate.h"
#include "analyze/findings/finding.h"
#include "analyze/write/text.h"

/* What an aggregate tells, for people. verbose: the figures of each 10-second group too. Out of
 * memory sets out->failed. */
void aggregate_text(const struct aggregate *a, const struct findings *found, bool verbose,
                    struct text *out);

/* What is in it, without results: for `info`. */
void aggregate_text_info(const struct aggregate *a, struct text *out);

#endif
