/* What JSON says of a capture that was read. */
#ifndef S3_JSON_CAPTURE_H
#define S3_JSON_CAPTURE_H

#include "json_out.h"
#include "recfile.h"

/* What was dropped: a list of reasons, each with its number of rows and the first of them. */
json_t *json_capture_dropped(struct json_out *w, const struct recfile_info *info);

#endif
