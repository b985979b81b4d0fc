/* Shared by the files compare*.c of the model and by nothing else. */
#ifndef S3_ANALYZE_COMPARE_COMPARE_INTERNAL_H
#define S3_ANALYZE_COMPARE_COMPARE_INTERNAL_H

#include "analyze/compare/compare.h"

/* Adds the settings of kinds first .. last in which the sides differ; op: NULL for those of whole
 * runs. */
void compare_settings(const struct compare *c, const char *op, enum compare_setting_kind first,
                      enum compare_setting_kind last, struct compare_setting *out, size_t *n);

/* Fills c->options: what s3load's comments say, where those of all runs say it. */
bool compare_recorded(struct compare *c, struct err *e);

/* Medians of the report's figures over the runs of a side. */
bool compare_figures(const struct compare_side *side, const char *op, struct run_figures *out,
                     struct err *e);

/* Effect sizes of the durations of all runs together. */
bool compare_effect(struct compare_op *op, const struct compare *c, struct err *e);

/* Finds what carries the changes, after the verdicts. */
bool compare_where(struct compare *c, struct err *e);

/* Counts of the durations of all runs of a side, HIST_N_INDEXES of them, freed by the caller. */
bool compare_side_counts(const struct compare_side *side, const char *op, uint64_t **count,
                         bool *any, struct err *e);

/* Chooses the family, adjusts p, and fills the verdicts and the gate's. */
bool compare_judge(struct compare *c, const struct compare_options *o, struct err *e);

#endif
