/* Statistics as JSON: the member `statistics` of an operation in schema s3analyze/analysis/1. */
#ifndef S3_JSON_STATISTICS_H
#define S3_JSON_STATISTICS_H

#include "json_out.h"
#include "statistics.h"

/* Writes the member; null if s is NULL. */
void json_statistics_put(struct json_out *w, const struct statistics *s);

#endif
