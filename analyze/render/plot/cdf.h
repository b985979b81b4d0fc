/* Writes a cumulative distribution with few points. */
#ifndef S3_ANALYZE_RENDER_PLOT_CDF_H
#define S3_ANALYZE_RENDER_PLOT_CDF_H

#include <stdint.h>
#include <stdio.h>

/* Writes rows (ms, percent) of the cumulative distribution of n > 0 values, the greatest max_ns,
 * from HIST_N_INDEXES counters (by hist_index). Writes a point where the distribution has risen by
 * one part in `steps`, or moved by that to the right on a log scale. */
void plot_cdf_rows(FILE *f, const uint64_t *count, uint64_t n, int64_t max_ns, unsigned steps);

#endif
