/* Finds what happened in a run (docs/how-the-numbers-are-made.md, "Findings"). */
#ifndef S3_ANALYZE_FINDINGS_FINDINGS_H
#define S3_ANALYZE_FINDINGS_FINDINGS_H

#include "analyze/findings/course.h"
#include "analyze/findings/finding.h"
#include "libcommon/err.h"

/* What a course is of: the whole benchmark, one of several operations that ran one after another,
 * or what is beside the benchmark. */
enum findings_of {
    FINDINGS_OF_RUN,
    FINDINGS_OF_PHASE,
    FINDINGS_OF_PREPARATION,
    FINDINGS_OF_CLEAN_UP
};

static inline bool findings_is_beside(enum findings_of of)
{
    return of == FINDINGS_OF_PREPARATION || of == FINDINGS_OF_CLEAN_UP;
}

/* Appends what it finds in the course to *out, unranked; beside the benchmark errors alone. False:
 * out of memory. */
bool findings_find(struct findings *out, const struct course *c, enum findings_of of,
                   struct err *e);

#endif
