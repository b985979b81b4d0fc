/* Describes a file of sums in the form of a survey. */
#ifndef S3_ANALYZE_CAPTURE_STREAM_SURVEY_SUMS_H
#define S3_ANALYZE_CAPTURE_STREAM_SURVEY_SUMS_H

#include "analyze/analysis/sums/sums.h"
#include "analyze/capture/stream/survey.h"
#include "libcommon/err.h"

#include <stdbool.h>

/* Fills *s from the sums. A file of sums has no rows, so sizes, lines and frames are 0. False: *e
 * says why. The caller calls survey_free in any case. */
bool survey_sums(struct survey *s, const struct sums *sums, const char *path, struct err *e);

#endif
