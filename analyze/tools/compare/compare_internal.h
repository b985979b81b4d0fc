/* Shared by the files of the comparison (compare.c, judge.c, settings.c, where.c) and by nothing
 * else. */
#ifndef S3_ANALYZE_TOOLS_COMPARE_COMPARE_INTERNAL_H
#define S3_ANALYZE_TOOLS_COMPARE_COMPARE_INTERNAL_H

#include "analyze/tools/compare/compare.h"

/* Adds the settings of kinds first .. last in which the sides differ. op: NULL for settings of
 * whole runs. */
void compare_settings(const struct compare *c, const char *op, enum compare_setting_kind first,
                      enum compare_setting_kind last, struct compare_setting *out, size_t *n);

/* Fills c->options with the settings of s3load in which the sides differ. A setting counts if the
 * comments of all captures have it. */
bool compare_recorded(struct compare *c, struct err *e);

/* Fills in what is shown of a side, op->before or op->after, and op->few_segments. */
bool compare_figures(struct compare_op *op, const struct compare_side *side,
                     double shown[RUN_MAX_METRICS], struct err *e);

/* Computes the effect sizes of the durations, over all runs of a side together. */
bool compare_effect(struct compare_op *op, const struct compare *c, struct err *e);

/* Finds the parts that carry the changes. Call it after compare_judge. */
bool compare_where(struct compare *c, struct err *e);

/* Adds up the histograms of the durations of all runs of a side: HIST_N_INDEXES counts, which the
 * caller frees. *any: some run has a histogram. */
bool compare_side_counts(const struct compare_side *side, const char *op, uint64_t **count,
                         bool *any, struct err *e);

/* Chooses the family, adjusts its p-values, and decides the verdicts and the gate. */
bool compare_judge(struct compare *c, const struct compare_options *o, struct err *e);

#endif
