/* Statistics as JSON: the member `statistics` of an operation in schema s3analyze/analysis/1, and
 * estimates with their limits wherever else they are needed. */
#ifndef S3_JSON_STATISTICS_H
#define S3_JSON_STATISTICS_H

#include "json_out.h"
#include "statistics.h"

/* {value lo hi lo90 hi90 se df why}: no limit and no number are null; why is null if the limits
 * hold. */
json_t *json_statistics_ci(struct json_out *w, const struct stats_ci *ci);

/* Writes the member; null if s is NULL. */
void json_statistics_put(struct json_out *w, const struct statistics *s);

#endif
