#ifndef S3_ANALYZE_PLAN_PLAN_INTERNAL_H
#define S3_ANALYZE_PLAN_PLAN_INTERNAL_H

#include "analyze/plan/plan.h"

/* How many of the points are of a level. */
size_t plan_n_at(const struct plan_point *v, size_t n, double level);

/* A random number that depends on its arguments alone (SplitMix64), so that a plan that goes on
 * decides as it would have. */
static inline uint64_t plan_random(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* ---- The runs of a plan: captures in its folder, named "run-NUMBER-LEVEL.csv.zst" ---- */

/* Why a run does not count: s3load could not send as many requests as were due. */
extern const char *const plan_not_offered;

/* Reads all runs of a folder into p->runs, p->points and, for ab, p->gates. */
bool plan_load_runs(struct plan *p, const char *folder, struct err *e);
void plan_free_runs(struct plan *p);

#endif
