/* What is dropped before anything is analysed, and what stands beside where that leaves little. */
#ifndef S3_ANALYZE_ANALYSIS_DROP_H
#define S3_ANALYZE_ANALYSIS_DROP_H

#include "analyze/analysis/plan.h"

/* Drops what skip, from and to leave out. After plan_scan. */
bool drop_early_and_late(struct plan *p, struct err *e);

/* Drops what lies outside the time that all threads, or all clients, have in common
 * (docs/how-the-numbers-are-made.md, section 2). Runs the tasks that wait before it drops rows. */
bool drop_outside(struct plan *p, struct err *e);

/* Whether the set's active range keeps under half of it. */
bool drop_is_short(const struct set *s);
/* The figures of an entry's single range beside, for an entry whose own set is short. */
bool drop_fill_single(void *entry, struct err *e);

#endif
