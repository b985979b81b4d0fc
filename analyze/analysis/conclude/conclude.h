/* The findings of an analysis: those of its course, and those that its figures give. */
#ifndef S3_ANALYZE_ANALYSIS_CONCLUDE_CONCLUDE_H
#define S3_ANALYZE_ANALYSIS_CONCLUDE_CONCLUDE_H

#include "analyze/findings/course.h"
#include "analyze/summary/model/model.h"
#include "analyze/summary/sets/scan.h"
#include "libcommon/err.h"

/* Fills the course of the operations first to end - 1, in the order of the analysis. False: out of
 * memory. The caller calls course_fini in any case. */
typedef bool conclude_source(struct course *c, const void *source, size_t first, size_t end,
                             struct err *e);

/* Finds what happened in the operations that ran together, or in each phase of the benchmark. For a
 * preparation or clean-up it finds errors only. *run_ns: from first start to last end of the
 * benchmark; unchanged if the benchmark has no requests. */
bool conclude_course(struct analysis *a, conclude_source *course_of, const void *source,
                     int64_t *run_ns, struct err *e);

/* Adds findings from the figures of the benchmark, the files and the recorder's comments; several
 * operations may have a finding of the same kind. scans: by operation; NULL: there are no rows, and
 * findings that need them are left out. False: out of memory. */
bool conclude_figures(struct analysis *a, const struct scan *const *scans, struct err *e);

/* Adds findings from s3load's comments: machines that were not fit to measure, and retransmits that
 * explain stalls. Call it after all stalls are found. False: out of memory. */
bool conclude_machines(struct analysis *a, struct err *e);

/* Adds an operation's coverage to the coverage of several. */
void conclude_add_coverage(struct coverage *to, const struct coverage *of);

/* Adds the findings of figures and of requests that no figure counts, links causes to consequences,
 * and ranks all findings. run_ns: from first start to last end of the benchmark. Call it last. */
bool conclude(struct analysis *a, const struct scan *const *scans, int64_t run_ns, struct err *e);

#endif
