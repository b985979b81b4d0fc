/* Findings as JSON. */
#ifndef S3_ANALYZE_REPORT_FINDINGS_JSON_H
#define S3_ANALYZE_REPORT_FINDINGS_JSON_H

#include "analyze/findings/finding.h"
#include "analyze/write/json.h"

/* Writes the array "findings" into the open object, worst first. */
void findings_json_put(struct json_out *w, const struct findings *all);

/* Writes them into an open array as warnings, which they replace: `code`, `message` and, unless
 * `path` names the run that they are of, `op` and `figures`. */
void findings_json_put_warnings(struct json_out *w, const struct findings *all, const char *path);

#endif
