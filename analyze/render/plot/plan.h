/* Charts of the runs of a plan: results of each run against its level. */
#ifndef S3_ANALYZE_RENDER_PLOT_PLAN_H
#define S3_ANALYZE_RENDER_PLOT_PLAN_H

#include "analyze/render/plot/plot.h"
#include "analyze/tools/plan/plan.h"

/* Adds a chart of the response times of a capacity plan or a sweep, and one of the throughput of a
 * sweep. Adds nothing if no run has such a figure. False: *e says why. */
bool plot_add_plan(struct plot_set *s, const struct plan *p, const struct plot_options *o,
                   struct err *e);

#endif
