/* A comparison as text for people, as Markdown (tables to paste into a pull request), as
 * comma-separated values, and as a sheet in parts, so that a page can put its charts between them.
 * Write errors stay in `f` for whoever closes it. */
#ifndef S3_ANALYZE_RENDER_REPORT_COMPARE_H
#define S3_ANALYZE_RENDER_REPORT_COMPARE_H

#include "analyze/tools/compare/compare.h"
#include "analyze/write/sheet.h"
#include "libcommon/err.h"
#include "libcommon/units.h"

#include <stdbool.h>
#include <stdio.h>

/* Writes text or Markdown; verbose text has all that the other formats have. Markdown is a comment
 * for a pull request: the answer, a row a cell, and the rest folded. False: out of memory. */
bool compare_text(const struct compare *c, const struct sheet_form *form, FILE *f, struct err *e);

/* Writes figures of metrics; then those of the runs' own reports and means, which have no verdict;
 * last notes, as rows whose metric is "note". Operations have the names of their
 * cells. `safe` is as in struct csv_out_style. False: out of
 * memory. */
bool compare_csv(const struct compare *c, bool safe, FILE *f, struct err *e);

/* ---- Parts of the sheet: each function appends to *s ---- */

/* Lists problems, or notices. In brief text a kind that several runs have is listed once, by its
 * first finding. */
void compare_sheet_findings(struct sheet *s, const struct compare *c, bool faults);
/* Problems of the runs, and the rates without them. */
void compare_sheet_faults(struct sheet *s, const struct compare *c);
/* One table of all operations, with a line for each metric: both sides, the change, p and n. */
void compare_sheet_table(struct sheet *s, const struct compare *c);
/* A row for each measured operation, in the colour of its verdict: both sides, what changed. */
void compare_sheet_cells(struct sheet *s, const struct compare *c);
/* The table of operation k alone. */
void compare_sheet_metrics(struct sheet *s, const struct compare *c, size_t k);
/* What limits the comparison: settings of the runs, warnings. */
void compare_sheet_limits(struct sheet *s, const struct compare *c);
/* The runs that were compared. */
void compare_sheet_runs(struct sheet *s, const struct compare *c);
/* Operation k: settings, methods, figures. */
void compare_sheet_op(struct sheet *s, const struct compare *c, size_t k);
/* Means over the operations. */
void compare_sheet_means(struct sheet *s, const struct compare *c);
/* How to read the columns. */
void compare_sheet_notes(struct sheet *s, const struct compare *c);
/* The answer of the gate; nothing without one. */
void compare_sheet_gate(struct sheet *s, const struct compare *c);

/* ---- For formats of values ---- */

/* A figure of the runs' own reports, the median over the runs of a side; NaN: not known. */
struct compare_figure {
    char name[40];
    struct units_text (*text)(double);
    double before, after;
};

/* Sets *x to what the reports show of metric i. False: no side has it, or it is compared. */
bool compare_sheet_figure(const struct compare_op *op, size_t i, struct compare_figure *x);

/* Sets *x to the geometric means of metric i over the operations that have it. False: less than two
 * have. */
struct compare_mean {
    double before, after;
    size_t n_ops;
};
bool compare_sheet_mean(const struct compare *c, size_t i, struct compare_mean *x);

/* Calls `take` with each sentence of the comparison, and the operation that it is about; "": all.
 * False: out of memory. */
typedef void compare_sheet_take_note(void *ctx, const char *op, const char *sentence);
bool compare_sheet_each_note(const struct compare *c, compare_sheet_take_note *take, void *ctx,
                             struct err *e);

#endif
