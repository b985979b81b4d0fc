/* The findings of an analysis: those of its course, and what its figures call for. */
#ifndef S3_ANALYZE_ANALYSIS_CONCLUDE_H
#define S3_ANALYZE_ANALYSIS_CONCLUDE_H

#include "analyze/analysis/plan.h"

/* Finds what happened in the operations that ran together, or in the last to begin; of what ran
 * before it, which is preparation, errors alone. To be called before rows are dropped. */
bool conclude_course(struct plan *p, struct err *e);

/* Adds what the warnings and the requests in no figure amount to, ties causes to consequences, and
 * ranks. To be called last. */
bool conclude(struct plan *p, struct err *e);

#endif
