/* Charts of an aggregated capture: those for which its seconds are enough. */
#ifndef S3_ANALYZE_PLOT_AGGREGATE_H
#define S3_ANALYZE_PLOT_AGGREGATE_H

#include "analyze/analysis/aggregate.h"
#include "analyze/plot/plot.h"

/* Adds throughput and errors over time of each operation (and of all, where they overlap), and
 * throughput by host and by client of all operations together (op ""). With a stem: one picture, as
 * plot_add_analysis. False: *e says why. */
bool plot_add_aggregate(struct plot_set *s, const struct aggregate *a, const char *folder,
                        const char *stem, const struct plot_options *o, struct err *e);

#endif
