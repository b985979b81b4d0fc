/* What each operation is to its run. */
#ifndef S3_ANALYZE_MODEL_ROLE_H
#define S3_ANALYZE_MODEL_ROLE_H

#include "analyze/model/model.h"

/* Operations that ran one after another: name, first start, last end, and what role_assign says. */
struct role_step {
    const char *op;
    int64_t start_ns, end_ns;
    enum role role;
};

/* Fills in the roles of n operations, which are in the order of their starts. A short deletion at
 * the end cleans up. An upload before one other operation prepares it; of more than two operations
 * each is a phase. */
void role_assign(struct role_step *steps, size_t n);

/* Fills in the roles of a run's operations; those that ran together are all of the benchmark.
 * False: out of memory. */
bool role_set(struct analysis *a, struct err *e);

/* Returns the index of what a report is about: -1 for all operations of a mixed run together, else
 * the operation of the benchmark that began last. There is at least one. */
int role_main(const struct analysis *a);

#endif
