/* Finds what happened in a run (docs/how-the-numbers-are-made.md, "Findings"). */
#ifndef S3_ANALYZE_FINDINGS_FINDINGS_H
#define S3_ANALYZE_FINDINGS_FINDINGS_H

#include "analyze/findings/course.h"
#include "analyze/findings/finding.h"
#include "libcommon/err.h"

/* Appends the findings of a course to *out, unranked. Looks only for errors unless the role is that
 * of the benchmark. False: out of memory. */
bool findings_find(struct findings *out, const struct course *c, enum role role, struct err *e);

#endif
