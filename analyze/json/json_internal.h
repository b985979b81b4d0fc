/* Parts of JSON documents: statistics and findings. Used by the room's documents and by nothing
 * else.
 */
#ifndef S3_ANALYZE_JSON_JSON_INTERNAL_H
#define S3_ANALYZE_JSON_JSON_INTERNAL_H

#include "analyze/estimate/confidence.h"
#include "analyze/findings/finding.h"
#include "analyze/model/model.h"
#include "analyze/write/json.h"

/* Writes the member `statistics` of an operation in schema s3analyze/analysis/1; null if s is NULL.
 */
void json_statistics_put(struct json_out *w, const struct statistics *s);

/* The document of an aggregated capture. False: out of memory. */
bool json_aggregate(const struct analysis *a, FILE *f, struct err *e);

/* Writes the array "findings" into the open object, worst first. */
void findings_json_put(struct json_out *w, const struct findings *all);

/* Writes them into an open array as warnings, which they replace: `code`, `message` and, unless
 * `path` names the run that they are of, `op` and `figures`. */
void findings_json_put_warnings(struct json_out *w, const struct findings *all, const char *path);

#endif
