/* What a plan has found so far, as text and page show it. */
#ifndef S3_ANALYZE_RENDER_REPORT_PLAN_SHEET_H
#define S3_ANALYZE_RENDER_REPORT_PLAN_SHEET_H

#include "analyze/render/report/figures.h"
#include "analyze/tools/plan/plan.h"
#include "analyze/write/sheet.h"

/* The answer, or how far the plan is, in one sentence. */
struct phrase plan_sentence(const struct plan *p);

/* The answers of a gate, by enum slo_verdict: "no worse", "worse", "undecided". */
extern const char *const plan_gate_names[];

/* Adds the sentence, what is repeated, and the tables of a struct plan. */
void plan_sheet(struct sheet *s, const void *plan);
/* Adds the tables alone: gates or levels, then runs. */
void plan_sheet_tables(struct sheet *s, const struct plan *p);

#endif
