/* The analysis of a run for people: as text, as a sheet in parts, so that a page can put its charts
 * between them, and its time series as a table, one row a segment
 * (docs/how-the-numbers-are-made.md, section 3). Write errors stay in `f` for whoever closes it. */
#ifndef S3_ANALYZE_RENDER_REPORT_RUN_H
#define S3_ANALYZE_RENDER_REPORT_RUN_H

#include "analyze/analysis/run/stopping.h"
#include "analyze/render/report/figures.h"
#include "analyze/summary/estimate/confidence.h"
#include "analyze/summary/model/model.h"
#include "analyze/tools/slo/slo.h"
#include "analyze/write/sheet.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

/* Writes the answers to assertions, then the analysis. Verbose text and Markdown have all hosts,
 * clients and errors, first and last accesses, and segments by host. False: out of memory. */
bool report_text(const struct analysis *a, const struct sheet_form *form, FILE *f, struct err *e);

/* ---- Parts of the sheet: each function appends to *s ---- */

/* Adds a sentence that sums up all answers, and a table of them. NULL: nothing. */
void slo_sheet(struct sheet *s, const struct slo_report *r);
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
/* Whether the run goes over midnight, so that times need a date. */
bool run_has_dates(const struct analysis *a);
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
/* Lists the percentiles that are known only to bounds, and not to the digits that are shown. op:
 * the name of the operation; "": it stands above. */
void run_sheet_bounds(struct sheet *s, const struct requests *q, const char *op);
/* How long the requests of an operation took or, if sizes differ, how fast each was. known_ns is
 * the resolution of times; 0: exact. */
void run_sheet_requests(struct sheet *s, const struct requests *q, int64_t known_ns);
/* Hosts of an operation, or of the cluster total (`q` is NULL then). Nothing for one host. */
void run_sheet_hosts(struct sheet *s, const struct host_result *hosts, size_t n,
                     const struct requests *q);
/* Clients of an operation. Nothing for one client. */
void run_sheet_clients(struct sheet *s, const struct operation *op, bool has_dates);
/* Confidence intervals of an operation, the warm-up that --steady left out, and what --co-interval
 * asked for. Nothing if it has no statistics. */
void run_sheet_statistics(struct sheet *s, const struct operation *op);

/* ---- The replay of autoterm, schema s3analyze/autoterm/1 ---- */

/* False: out of memory. Write errors stay in `f` for whoever closes it. */
bool stopping_report_text(const struct stopping *s, bool colour, FILE *f, struct err *e);
bool stopping_report_json(const struct stopping *s, FILE *f, struct err *e);

/* ---- Time series ---- */

enum report_csv_format {
    REPORT_CSV_TABS,
    REPORT_CSV_COMMAS,
    REPORT_CSV_JSON,
    REPORT_CSV_JSON_LINES
};

/* Returns the format by the extension of the name: .csv has commas, .json is an array, .ndjson
 * and .jsonl have JSON lines, all else tabs. */
enum report_csv_format report_csv_format(const char *path);

/* Writes the series of every operation: all hosts together, then, if there are several, host by
 * host. `with_total` adds those of the cluster total of a mixed capture, with an empty op. Columns
 * `in_range` and `t_s` (seconds since the run's first start) come with options.full_series. `safe`
 * is as in struct csv_out_style. Rows of which nothing is known are left out. An aggregated capture
 * has the series of hosts and clients only for all operations together, and a column client_id.
 * False: *e says why; write errors stay in `f` for whoever closes it. */
bool report_csv(const struct analysis *a, enum report_csv_format format, bool with_total, bool safe,
                FILE *f, struct err *e);

/* False: report_csv would write more than 10,000,000 rows, or their number is not known; *e says
 * so. */
bool report_csv_fits(const struct analysis *a, bool with_total, struct err *e);

#endif
