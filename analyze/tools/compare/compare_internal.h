/* Shared by the files of the comparison (compare.c, judge.c, settings.c, where.c) and by nothing
 * else. */
#ifndef S3_ANALYZE_TOOLS_COMPARE_COMPARE_INTERNAL_H
#define S3_ANALYZE_TOOLS_COMPARE_COMPARE_INTERNAL_H

#include "analyze/tools/compare/compare.h"

/* Adds the settings of kinds first .. last in which the sides differ in some of the operations. */
void compare_settings(const struct compare_op *ops, size_t n_ops, enum run_setting first,
                      enum run_setting last, struct compare_setting *out, size_t *n);

/* Adds the settings of s3load in which the sides of a group differ to c->options. A setting counts
 * if the comments of all captures have it. */
bool compare_recorded(struct compare *c, size_t group, struct err *e);

/* Fills c->group and c->keys. */
bool compare_groups(struct compare *c, const struct compare_options *o, struct err *e);

/* Fills c->ops with the cells that both sides have, and warns of others. False: there is none. */
bool compare_find_cells(struct compare *c, const struct compare_options *o, struct err *e);

/* Counts the runs of a side in a group. */
size_t compare_n_in(const struct compare *c, bool is_after, size_t group);

/* Fills in what a judged cell shows, and counts it. */
void compare_conclude(struct compare *c, struct compare_op *op);

/* Tests a metric whose values are filled in. `noise`: of single runs. */
bool compare_test(struct compare_metric *m, struct stats_noise noise, struct err *e);

/* Fills in what is shown of both sides, and op->few_segments. */
bool compare_figures(struct compare_op *op, struct err *e);

/* Computes the effect sizes of the durations, over all runs of a side together, and finds the parts
 * that carry the changes. Call it after compare_judge. */
bool compare_where(struct compare *c, struct err *e);

/* Chooses the family, adjusts its p-values, and decides the verdicts and the gate. */
bool compare_judge(struct compare *c, const struct compare_options *o, struct err *e);

#endif
