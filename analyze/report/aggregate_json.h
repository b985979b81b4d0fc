#ifndef S3_ANALYZE_REPORT_AGGREGATE_JSON_H
#define S3_ANALYZE_REPORT_AGGREGATE_JSON_H

#include "analyze/analysis/aggregate.h"
#include "analyze/findings/finding.h"
#include "analyze/write/json.h"

#include <stdio.h>

/* The only name under which a reader may look for percentiles that the file does not have. */
#define AGGREGATE_NO_PERCENTILES                                                                   \
    "not in this file: percentiles were averaged by the recorder, over 10-second groups"

/* Writes what an aggregate tells as JSON (docs/aggregated-captures.md lists the keys). False: out
 * of memory. */
bool aggregate_json(const struct aggregate *a, const struct findings *found, FILE *f,
                    struct err *e);

/* Its object among the captures of `info --json`: the same keys as of a capture, where they make
 * sense. */
void aggregate_json_info(struct json_out *w, const struct aggregate *a);

#endif
