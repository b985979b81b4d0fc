/* What a file of sums holds, as of a capture. */
#ifndef S3_ANALYZE_STREAM_SURVEY_SUMS_H
#define S3_ANALYZE_STREAM_SURVEY_SUMS_H

#include "analyze/sums/sums.h"
#include "analyze/stream/survey.h"
#include "libcommon/err.h"

#include <stdbool.h>

/* Sizes, lines and frames are those of rows, and 0 here. The caller calls survey_free, on failure
 * too. */
bool survey_sums(struct survey *s, const struct sums *sums, const char *path, struct err *e);

#endif
