/* What JSON says of a capture that was read. */
#ifndef S3_ANALYZE_JSON_JSON_CAPTURE_H
#define S3_ANALYZE_JSON_JSON_CAPTURE_H

#include "analyze/read/recfile.h"
#include "analyze/write/json.h"

/* "g4", or "sums" of what has no rows. */
json_t *json_capture_generation(const struct recfile_info *info);

/* What was dropped: a list of reasons, each with its number of rows and the first of them. */
void json_capture_dropped(struct json_out *w, const struct recfile_info *info);

#endif
