/* Statistics as JSON: the member `statistics` of an operation in schema s3analyze/analysis/1. */
#ifndef S3_ANALYZE_REPORT_JSON_STATISTICS_H
#define S3_ANALYZE_REPORT_JSON_STATISTICS_H

#include "analyze/analysis/confidence.h"
#include "analyze/write/json.h"

/* Writes the member; null if s is NULL. */
void json_statistics_put(struct json_out *w, const struct statistics *s);

#endif
