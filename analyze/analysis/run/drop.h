/* Drops requests before anything is analysed, and adds further figures if that leaves little. */
#ifndef S3_ANALYZE_ANALYSIS_RUN_DROP_H
#define S3_ANALYZE_ANALYSIS_RUN_DROP_H

#include "analyze/analysis/run/plan.h"

/* Drops the requests that skip, from and to leave out. Call it after plan_scan. */
bool drop_early_and_late(struct plan *p, struct err *e);

/* Drops the requests outside of the time that all threads, or all clients, share
 * (docs/how-the-numbers-are-made.md, section 2). Runs the waiting tasks before it drops rows. */
bool drop_outside(struct plan *p, struct err *e);

/* True if the active range covers under half of the set. */
bool drop_is_short(const struct set *s);
/* A task: adds the single range's figures to an entry whose own set is short. */
bool drop_fill_single(void *entry, struct err *e);

#endif
