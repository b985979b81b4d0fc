/* Parts of JSON documents: statistics and findings. For this folder only. */
#ifndef S3_ANALYZE_RENDER_JSON_JSON_INTERNAL_H
#define S3_ANALYZE_RENDER_JSON_JSON_INTERNAL_H

#include "analyze/findings/finding.h"
#include "analyze/summary/estimate/confidence.h"
#include "analyze/summary/model/model.h"
#include "analyze/write/json.h"

/* Writes the member `statistics` of an operation in schema s3analyze/analysis/1; null if s is NULL.
 */
void json_statistics_put(struct json_out *w, const struct statistics *s);

/* Writes the member `slo`: the answers to assertions. NULL: nothing. */
void json_slo_put(struct json_out *w, const struct slo_report *r);

/* Writes the array "findings" into the open object, worst first. */
void findings_json_put(struct json_out *w, const struct findings *all);

#endif
