/* Finds the role of each operation in its run: preparation, benchmark, phase or clean-up. */
#ifndef S3_ANALYZE_SUMMARY_MODEL_ROLE_H
#define S3_ANALYZE_SUMMARY_MODEL_ROLE_H

#include "analyze/summary/model/model.h"

/* Operations that ran one after another: name, first start, last end, and what role_assign says. */
struct role_step {
    const char *op;
    int64_t start_ns, end_ns;
    enum role role;
};

/* Fills in the roles of n operations, in the order of their starts. A short deletion at the end is
 * clean-up. Of two others, an upload first is the preparation of the second; else all are phases. A
 * single one is the benchmark. */
void role_assign(struct role_step *steps, size_t n);

/* Fills in the roles of a run's operations. In a mixed run all are the benchmark. If the recorder
 * says that the benchmark never began, all are the preparation. False: out of memory. */
bool role_set(struct analysis *a, struct err *e);

/* Returns the index of the operation that a report is about: -1 for all operations of a mixed run
 * together, else the operation of the benchmark that began last, or the first one if there was no
 * benchmark. There is at least one. */
int role_main(const struct analysis *a);

#endif
