/* The findings of an analysis: those of its course, and what its figures call for. */
#ifndef S3_ANALYZE_CONCLUDE_CONCLUDE_H
#define S3_ANALYZE_CONCLUDE_CONCLUDE_H

#include "analyze/findings/course.h"
#include "analyze/model/model.h"
#include "analyze/sets/scan.h"
#include "libcommon/err.h"

/* Fills the course of the operations first to end - 1, in the order of the analysis. False: out of
 * memory. The caller calls course_fini in any case. */
typedef bool conclude_source(struct course *c, const void *source, size_t first, size_t end,
                             struct err *e);

/* Finds what happened in the operations that ran together, or in each phase of the benchmark; of a
 * preparation and a clean-up errors alone. *run_ns: from first start to last end of the benchmark;
 * unchanged where it has no requests. */
bool conclude_course(struct analysis *a, conclude_source *course_of, const void *source,
                     int64_t *run_ns, struct err *e);

/* Adds findings that the figures of the benchmark, the files and the recorder's comments call for;
 * several operations may have one of the same kind. scans: by operation; NULL: there are no rows,
 * and what they alone tell is left out. False: out of memory. */
bool conclude_figures(struct analysis *a, const struct scan *const *scans, struct err *e);

/* Adds that a machine of s3load was not fit to measure, and retransmits that explain stalls, by
 * s3load's comments; after all stalls. False: out of memory. */
bool conclude_machines(struct analysis *a, struct err *e);

/* Adds an operation's coverage to that of several. */
void conclude_add_coverage(struct coverage *to, const struct coverage *of);

/* Adds the findings of figures and what the requests in no figure amount to, ties causes to
 * consequences, and ranks. run_ns: from first start to last end of the benchmark. To be called
 * last.
 */
bool conclude(struct analysis *a, const struct scan *const *scans, int64_t run_ns, struct err *e);

#endif
