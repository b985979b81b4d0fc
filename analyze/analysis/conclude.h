/* The findings of an analysis: those of its course, and what its figures call for. */
#ifndef S3_ANALYZE_ANALYSIS_CONCLUDE_H
#define S3_ANALYZE_ANALYSIS_CONCLUDE_H

#include "analyze/analysis/plan.h"

/* Finds what happened in the operations that ran together, or in the last to begin; of what ran
 * before it, which is preparation, errors alone. A task of a struct plan, to be run before rows are
 * dropped. */
bool conclude_course(void *plan, struct err *e);

/* Whether entry k belongs to the benchmark: all operations of a mix, else the last to begin. */
static inline bool conclude_is_benchmark(const struct plan *p, size_t k)
{
    return p->a->mixed || k + 1 == p->n;
}

/* Adds findings that the figures of the benchmark, the files and the recorder's comments call for;
 * several operations may have one of the same kind. False: out of memory. */
bool conclude_figures(struct plan *p, struct err *e);

/* Adds what s3load's comments in an input say; n_threads: of all inputs. False: out of memory. */
bool conclude_recorder(struct findings *out, const struct dataset *d, size_t input,
                       uint64_t n_threads, struct err *e);

/* Adds that no request of the operation succeeded for its last tenth or more. False: out of
 * memory. */
bool conclude_coverage(struct findings *out, const struct operation *op, struct err *e);

/* Adds an operation's coverage to that of several. */
void conclude_add_coverage(struct coverage *to, const struct coverage *of);

/* Adds the findings of figures and what the requests in no figure amount to, ties causes to
 * consequences, and ranks. To be called last. */
bool conclude(struct plan *p, struct err *e);

#endif
