/* Data of the charts of latency that have no axis of time: the spectrum of percentiles, latency by
 * host, and latency by object size. */
#ifndef S3_ANALYZE_PLOT_LATENCY_CHARTS_H
#define S3_ANALYZE_PLOT_LATENCY_CHARTS_H

#include "analyze/plot/data.h"

#include <stdbool.h>
#include <stdio.h>

/* Each pair as struct plot_kind wants it. */
bool plot_spectrum_has_data(const struct plot_data *p);
/* What a page's script says under the pointer, as JSON: {"steps": of a nine, "right": nines at the
 * right end of the axis, NAME: [[ms], [lower limits], [upper limits]]}, the last value of each
 * being that of all requests. False: out of memory. */
bool plot_spectrum_readings(FILE *f, const struct plot_data *p);
bool plot_spectrum_write(FILE *f, const struct plot_data *p, const char *title);

/* Pixels of height that its rows need. */
int plot_host_latency_height(const struct plot_data *p);
bool plot_host_latency_has_data(const struct plot_data *p);
bool plot_host_latency_write(FILE *f, const struct plot_data *p, const char *title);

bool plot_latency_size_has_data(const struct plot_data *p);
bool plot_latency_size_write(FILE *f, const struct plot_data *p, const char *title);

#endif
