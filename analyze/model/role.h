/* What each operation is to its run. */
#ifndef S3_ANALYZE_MODEL_ROLE_H
#define S3_ANALYZE_MODEL_ROLE_H

#include "analyze/model/model.h"

/* Fills in the roles of a run's operations, by their names, their order, and their first start and
 * last end. Operations that ran together are all of the benchmark. Of operations one after another,
 * a short deletion at the end cleans up. An upload before one other operation prepares it; with
 * more than two operations each is a phase of the benchmark. */
void role_set(struct analysis *a);

/* How many operations are phases of the benchmark, one after another; 1: it has a single operation,
 * or all ran together. */
size_t role_n_phases(const struct analysis *a);

/* Returns the index of what a report is about: -1 for all operations of a mixed run together, else
 * the operation of the benchmark that began last. There is at least one. */
int role_main(const struct analysis *a);

#endif
