#ifndef S3_ANALYZE_TOOLS_PLAN_PLAN_INTERNAL_H
#define S3_ANALYZE_TOOLS_PLAN_PLAN_INTERNAL_H

#include "analyze/tools/plan/plan.h"
#include "libcommon/splitmix.h"

/* Returns a random number that depends only on its arguments, so that a plan that is resumed
 * decides the same. */
static inline uint64_t plan_random(uint64_t seed, uint64_t i)
{
    return splitmix_spread(seed + (i + 1) * SPLITMIX_STEP);
}

/* ---- The runs of a plan: captures in its folder, named "run-NUMBER-LEVEL.csv.zst" ---- */

/* Lists the runs of a folder in p->runs, without reading them. */
bool plan_list_runs(struct plan *p, const char *folder, struct err *e);

/* Reads all runs of a folder into p->runs, p->points and, for ab, p->gates. */
bool plan_load_runs(struct plan *p, const char *folder, struct err *e);
void plan_free_runs(struct plan *p);

#endif
