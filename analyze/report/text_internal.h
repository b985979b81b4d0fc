/* The parts of the text reports of runs. Used by these and by nothing else. */
#ifndef S3_ANALYZE_REPORT_TEXT_INTERNAL_H
#define S3_ANALYZE_REPORT_TEXT_INTERNAL_H

#include "analyze/analysis/confidence.h"
#include "analyze/report/figures.h"
#include "analyze/write/text.h"

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

/* What happened: worst first. A consequence names its cause. */
void text_findings_put(struct text *out, const struct findings *all, int64_t n_requests);

/* Statistics of single requests. */
void text_requests_put(const struct text_view *v, const struct requests *q);

/* Hosts of an operation, or of the cluster total (`q` is NULL then). Nothing for one host. */
void text_parties_hosts(const struct text_view *v, const struct host_result *hosts, size_t n,
                        const struct requests *q);
/* Clients of an operation. Nothing for one client. */
void text_parties_clients(const struct text_view *v, const struct operation *op);

/* Confidence intervals and diagnostics of one operation, and what --co-interval asked for. Both
 * print nothing if s is NULL. */
void text_statistics_put(const struct text_view *v, const struct statistics *s);
void text_statistics_co(const struct text_view *v, const struct statistics *s);

#endif
