/* Shared by the files that reduce a run (run.c, clear.c, parts.c) and by nothing else. */
#ifndef S3_ANALYZE_TOOLS_COMPARE_RUN_INTERNAL_H
#define S3_ANALYZE_TOOLS_COMPARE_RUN_INTERNAL_H

#include "analyze/summary/estimate/confidence.h"
#include "analyze/tools/compare/run.h"

/* Fills op->clear of operation k, which has its statistics. */
bool run_fill_clear(struct run_op *op, const struct analysis *a, size_t k, struct err *e);

/* Fills the values of a part; those of durations may be those of response times. */
void run_fill_values(struct run_part *p, const struct statistics *s,
                     const struct statistics_latency *duration);

/* Adds a part for each host or size class that has rows, if there are several. */
bool run_add_parts(struct run_op *op, const struct dataset *d, const struct table *t,
                   const struct statistics *all, enum run_part_kind kind, struct err *e);

/* Fills op->tally. */
bool run_fill_tallies(struct run_op *op, const struct dataset *d, const struct table *t,
                      const struct statistics *s, struct err *e);
void run_free_tallies(struct run_tallies *t);

#endif
