/* Charts of the runs of an archive: a metric by run, with its levels. */
#ifndef S3_ANALYZE_RENDER_PLOT_TREND_H
#define S3_ANALYZE_RENDER_PLOT_TREND_H

#include "analyze/render/plot/plot.h"
#include "analyze/tools/archive/trend.h"

/* Adds a chart of each metric of a group, as pictures of the "operation" `id`; at most
 * PLOT_TREND_MOST of a group. False: *e says why. */
#define PLOT_TREND_MOST 12
bool plot_add_trend(struct plot_set *s, const struct trend_group *g, const char *id,
                    const struct plot_options *o, struct err *e);

#endif
