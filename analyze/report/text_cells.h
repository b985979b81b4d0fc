/* What the parts of the text report share: what to show, and cells for figures of the model. */
#ifndef S3_ANALYZE_REPORT_TEXT_CELLS_H
#define S3_ANALYZE_REPORT_TEXT_CELLS_H

#include "analyze/analysis/analysis.h"
#include "analyze/report/figures.h"
#include "analyze/write/text.h"
#include "libcommon/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a report is to be shown. */
struct text_view {
    const struct analysis *a;
    bool verbose;
    bool has_dates; /* the run goes over midnight: a time of day says too little */
    struct text *out;
};

/* The time of day, with the date where the run needs it. */
struct units_text text_cells_time(const struct text_view *v, int64_t ns);

/* Figures of requests, those of `columns`. */
void text_cells_figures(struct text_table *t, const struct figures *x, const enum figure *columns);

/* A byte rate in the unit that suits `largest`, so that the rates of a column compare at a glance.
 */
struct units_text text_cells_rate_like(double bytes_per_s, double largest);

#endif
