/* The parts of pages: the first screen, and tables of a run's model. Used by the room's pages and
 * by nothing else. */
#ifndef S3_ANALYZE_REPORT_HTML_INTERNAL_H
#define S3_ANALYZE_REPORT_HTML_INTERNAL_H

#include "analyze/analysis/aggregate.h"
#include "analyze/analysis/analysis.h"
#include "analyze/analysis/confidence.h"
#include "analyze/plot/timeline.h"
#include "analyze/report/figures.h"

#include <stdint.h>
#include <stdio.h>

/* Whether the figures of n requests, n_ok successful ones among what they are about, can be taken
 * as they are, and what was found. */
void html_trust(FILE *f, int64_t n, int64_t n_ok, const struct findings *all);
/* What happened, worst first, with links to the timeline and to `put_place`'s; many are folded
 * away.
 */
struct html_findings {
    const struct findings *all;
    const struct plot_timeline *timeline;
    void (*put_place)(FILE *f, const struct finding *x, const void *ctx);
    const void *ctx;
};
void html_findings(FILE *f, const struct html_findings *of);
/* How long the requests of an operation took, or where sizes differ, how fast each was. */
void html_requests(FILE *f, const char *section, const struct requests *q);
/* By host; nothing where there is one host. */
void html_requests_hosts(FILE *f, const char *section, const struct requests *q);
/* By client, likewise. */
void html_requests_clients(FILE *f, const char *section, const struct operation *op);

/* Why the interval of the throughput that there is may not hold; "": nothing says so. `s` as below.
 */
const char *html_statistics_doubt(const struct statistics *s);
/* How sure an operation's figures are: confidence intervals, warm-up, drift, changes. `s` NULL:
 * nothing. */
void html_statistics(FILE *f, const char *section, const struct statistics *s);

/* What happened when: of what the page is about, and of each operation. */
struct html_course {
    int main; /* as plot_timeline_main */
    struct plot_timeline all;
    struct plot_timeline *ops; /* as many as the analysis has operations */
    int64_t *slowest_ns;       /* of each, in the active range or not; -1: no request */
    size_t n_ops;
};
/* False: *e says why. html_course_fini may be called in any case. */
bool html_course_init(struct html_course *c, const struct analysis *a, struct err *e);
bool html_course_init_aggregate(struct html_course *c, const struct aggregate *a, struct err *e);
void html_course_fini(struct html_course *c);
/* Whether operation k only prepared what the page is about. */
bool html_course_prepares(const struct html_course *c, size_t k);
/* A section for each operation, which `put` fills: what the page is about first; what only prepared
 * it is folded away. */
bool html_course_sections(FILE *f, const struct html_course *c,
                          bool (*put)(const void *ctx, FILE *f, const char *section, size_t k,
                                      struct err *e),
                          const void *ctx, struct err *e);

/* The slowest requests, one by one. */
void html_slowest(FILE *f, const struct analysis *a, const struct html_course *c);

/* The first screen: what was reached, whether that can be trusted, what happened, the timeline, and
 * a table of the operations. */
void html_first(FILE *f, const struct analysis *a, const struct html_course *c);

/* Tables of one operation. */
void html_run_operation(FILE *f, const char *section, const struct operation *op);
/* Tables of all operations of a mixed run together. */
void html_run_total(FILE *f, const char *section, const struct cluster_total *t);

#endif
