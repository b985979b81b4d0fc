/* The runs of a plan: captures in its folder, named "run-NUMBER-LEVEL.csv.zst". */
#ifndef S3_ANALYZE_PLAN_RUNS_H
#define S3_ANALYZE_PLAN_RUNS_H

#include "analyze/plan/plan.h"

/* Why a run does not count: s3load could not send as many requests as were due. */
extern const char *const plan_not_offered;

/* Reads all runs of p->folder into p->runs, p->points and, for ab, p->gates. */
bool plan_load_runs(struct plan *p, struct err *e);
void plan_free_runs(struct plan *p);

#endif
