/* Findings as marks on the charts whose horizontal axis is time. */
#ifndef S3_ANALYZE_RENDER_PLOT_EVENTS_H
#define S3_ANALYZE_RENDER_PLOT_EVENTS_H

#include "analyze/render/plot/data.h"

#include <stdbool.h>
#include <stdio.h>

/* Writes the block "events": a row for each finding of these requests that begins or ends while
 * they run, the worst first, with its number in the list of findings; then the first error, unless
 * a finding begins with it. A dummy row comes first, so that the block is never empty. */
void plot_events_put(FILE *f, const struct plot_data *p);

#endif
