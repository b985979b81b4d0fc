/* Charts of an aggregated capture: those for which its seconds are enough. */
#ifndef S3_ANALYZE_PLOT_AGGREGATE_H
#define S3_ANALYZE_PLOT_AGGREGATE_H

#include "analyze/model/model.h"
#include "analyze/plot/plot.h"
#include "analyze/plot/timeline.h"

/* Adds throughput and errors over time of each operation (and of all, where they overlap), and
 * throughput by host and by client of all operations together (op ""), and of each operation the
 * durations of its groups of 10 s. With a stem: one picture, as
 * plot_add_analysis. False: *e says why. */
bool plot_add_aggregate(struct plot_set *s, const struct analysis *a, const struct plot_options *o,
                        struct err *e);

/* The course of an operation, or with index -1 of all, by whole seconds or several: a bin of which
 * no second is known has NAN objects, which stands for its bytes too; requests in flight are NAN.
 * Percentiles are those of groups of 10 s, where these have one client. No second known: n is 0.
 * False: *e says why. The caller calls plot_timeline_fini in any case. */
bool plot_aggregate_timeline(struct plot_timeline *t, const struct analysis *a, int index,
                             size_t n_most, struct err *e);

#endif
