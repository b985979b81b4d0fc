/* Charts of the runs of a plan: what was reached, against the level of each run. */
#ifndef S3_ANALYZE_PLOT_PLAN_H
#define S3_ANALYZE_PLOT_PLAN_H

#include "analyze/plan/plan.h"
#include "analyze/plot/plot.h"

/* Adds a chart of the response times of a capacity plan or of a sweep; of a sweep one of its
 * throughput, too. Nothing where no run has such a figure. False: *e says why. */
bool plot_add_plan(struct plot_set *s, const struct plan *p, const struct plot_options *o,
                   struct err *e);

#endif
