/* The parts of the text reports of runs. Used by these and by nothing else. */
#ifndef S3_ANALYZE_REPORT_TEXT_INTERNAL_H
#define S3_ANALYZE_REPORT_TEXT_INTERNAL_H

#include "analyze/analysis/confidence.h"
#include "analyze/report/text_cells.h"

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
