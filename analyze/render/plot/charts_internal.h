/* Shared only by the files *_charts.c, each of which writes the data files of some charts of a
 * run. */
#ifndef S3_ANALYZE_RENDER_PLOT_CHARTS_INTERNAL_H
#define S3_ANALYZE_RENDER_PLOT_CHARTS_INTERNAL_H

#include "analyze/render/plot/data.h"
#include "analyze/render/plot/kinds.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

extern const struct plot_kind plot_kind_throughput, plot_kind_hosts, plot_kind_latency,
    plot_kind_latency_heat, plot_kind_spectrum, plot_kind_host_latency, plot_kind_errors,
    plot_kind_cdf, plot_kind_latency_size, plot_kind_sizes, plot_kind_in_flight, plot_kind_clients,
    plot_kind_autoterm, plot_kind_groups;

/* The first columns of each block "chart", and the values of those after the title: the start of
 * the run in seconds since 1970, and the ends of the axis in seconds into the run. */
#define CHARTS_COLUMNS      "title zero_unix t_min t_max"
#define CHARTS_ZERO_UNIX(p) ((double)(p)->a->run_start_ns / 1e9)
#define CHARTS_TIMES(p)     CHARTS_ZERO_UNIX(p), charts_t_min(p), charts_t_max(p)
double charts_t_min(const struct plot_data *p);
double charts_t_max(const struct plot_data *p);

/* Returns the middle of bin k, in seconds into the run. */
double charts_bin_middle_s(const struct plot_data *p, const struct slice_grid *b, size_t k);

/* Writes the block "events", and the block "shades": the time outside the active range, and the
 * warm-up within. Returns the number of rows of "shades". */
int64_t charts_put_shades(FILE *f, const struct plot_data *p);

/* Whether there is one distribution of durations: not of several operations together. */
bool charts_has_durations(const struct plot_data *p);

#endif
