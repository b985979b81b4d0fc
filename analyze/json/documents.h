/* The analysis of a run, and a comparison, as JSON. Write errors stay in `f` for whoever closes it.
 */
#ifndef S3_ANALYZE_JSON_DOCUMENTS_H
#define S3_ANALYZE_JSON_DOCUMENTS_H

#include "analyze/aggregated/aggregate.h"
#include "analyze/analysis/analysis.h"
#include "analyze/compare/compare.h"
#include "analyze/read/recfile.h"
#include "analyze/write/json.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

/* The whole document, schema s3analyze/analysis/1 (docs/json-statistics.md), of an aggregated
 * capture s3analyze/aggregate-exact/1 (docs/aggregated-captures.md); memory does not grow with the
 * number of hosts. False: out of memory. */
bool report_json(const struct analysis *a, FILE *f, struct err *e);

/* An aggregated capture among the captures of `info --json`: the same keys as of a capture, where
 * they make sense. */
void aggregate_json_info(struct json_out *w, const struct aggregate *a);

/* Schema s3analyze/compare/1. False: out of memory. */
bool compare_json(const struct compare *c, FILE *f, struct err *e);

/* ---- Members that documents share ---- */

/* How a capture is recorded: "g4", or "sums" of what has no rows. */
json_t *json_capture_generation(const struct recfile_info *info);

/* What was dropped from a capture: a list of reasons, each with its number of rows and the first of
 * them. */
void json_capture_dropped(struct json_out *w, const struct recfile_info *info);

#endif
