/* Finds what happened in a run (docs/how-the-numbers-are-made.md, "Findings"). */
#ifndef S3_ANALYZE_FINDINGS_FINDINGS_H
#define S3_ANALYZE_FINDINGS_FINDINGS_H

#include "analyze/findings/course.h"
#include "analyze/findings/finding.h"
#include "libcommon/err.h"

/* Appends what it finds in the course to *out, unranked; beside the benchmark errors alone. False:
 * out of memory. */
bool findings_find(struct findings *out, const struct course *c, enum role role, struct err *e);

#endif
