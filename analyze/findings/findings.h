/* Finds what happened in a run (docs/how-the-numbers-are-made.md, "Findings"). */
#ifndef S3_ANALYZE_FINDINGS_FINDINGS_H
#define S3_ANALYZE_FINDINGS_FINDINGS_H

#include "analyze/data/dataset.h"
#include "analyze/findings/finding.h"
#include "libcommon/err.h"

#include <stddef.h>

/* Looks at the requests of `tables`, operations that ran together, as they were recorded: before
 * the analysis drops what lies outside of the time that all threads have in common. Appends what it
 * finds to *out, unranked; *run_ns is how long they ran. False: out of memory. */
bool findings_find(struct findings *out, const struct dataset *d, const struct table **tables,
                   size_t n_tables, int64_t *run_ns, struct err *e);

/* Errors alone: of what ran before the benchmark. */
bool findings_find_errors(struct findings *out, const struct dataset *d,
                          const struct table **tables, size_t n_tables, struct err *e);

#endif
