/* The analysis of a run as a sheet, in parts, so that a page can put its charts between them. Each
 * function appends to *s. */
#ifndef S3_ANALYZE_RENDER_REPORT_RUN_SHEET_H
#define S3_ANALYZE_RENDER_REPORT_RUN_SHEET_H

#include "analyze/render/report/figures.h"
#include "analyze/summary/estimate/confidence.h"
#include "analyze/write/sheet.h"

/* What was read: the captures, what was dropped from them, what no figure counts. */
void run_sheet_inputs(struct sheet *s, const struct analysis *a);
/* The captures alone. */
void run_sheet_captures(struct sheet *s, const struct analysis *a);
/* What was dropped from captures or may be wrong in them, as items. */
void run_sheet_damage(struct sheet *s, const struct analysis *a);
/* The label of an operation that prepared the benchmark or cleaned up after it. NULL: it is the
 * benchmark or a part of it. */
const char *run_sheet_beside(enum role role);
/* A row for each operation, those beside the benchmark last, and one for all together. `page` is
 * what a page adds to it, or NULL. */
struct run_sheet_page {
    sheet_put *name, *course; /* of operation k */
    const void *ctx;
};
void run_sheet_summary(struct sheet *s, const struct analysis *a,
                       const struct run_sheet_page *page);
/* What all clients reached together, if it is known. */
void run_sheet_together(struct sheet *s, const struct together *x);
/* All that is known of one operation. */
void run_sheet_operation(struct sheet *s, const struct analysis *a, const struct operation *op);
/* All operations of a mixed run together. */
void run_sheet_total(struct sheet *s, const struct analysis *a);

/* ---- Parts of these ---- */

/* The headings of these figures, after an empty one for the names of the rows. */
void run_sheet_headings(struct sheet *s, const struct field *const *list);

/* Below a table that has "-": why these figures are not known. Nothing if they all are. */
void run_sheet_why(struct sheet *s, const struct known *known);
/* How long the requests of an operation took or, if sizes differ, how fast each was. known_ns is
 * the resolution of times; 0: exact. */
void run_sheet_requests(struct sheet *s, const struct requests *q, int64_t known_ns);
/* Hosts of an operation, or of the cluster total (`q` is NULL then). Nothing for one host. */
void run_sheet_hosts(struct sheet *s, const struct host_result *hosts, size_t n,
                     const struct requests *q);
/* Clients of an operation. Nothing for one client. */
void run_sheet_clients(struct sheet *s, const struct operation *op, bool has_dates);
/* Confidence intervals, the warm-up that --steady left out, and what --co-interval asked for.
 * Nothing for NULL. */
void run_sheet_statistics(struct sheet *s, const struct statistics *x);

#endif
