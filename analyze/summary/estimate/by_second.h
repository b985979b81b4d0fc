/* Confidence intervals of an operation whose amounts per second are known, but not its requests:
 * from sums and from aggregated captures. */
#ifndef S3_ANALYZE_SUMMARY_ESTIMATE_BY_SECOND_H
#define S3_ANALYZE_SUMMARY_ESTIMATE_BY_SECOND_H

#include "analyze/summary/model/model.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The amounts, failed requests and all requests of each of n seconds. */
struct by_second {
    size_t n;
    double *bytes, *objects;
    int64_t *errors, *requests;
    bool lacks_requests; /* `requests` is not known */
};

/* Makes n seconds of zeros. by_second_fini frees them, on failure too. */
bool by_second_init(struct by_second *s, size_t n, struct err *e);
void by_second_fini(struct by_second *s);

/* Computes op->statistics, which must be NULL: the rates of op->judged and the share of
 * op->n_errors, with confidence intervals from the seconds (docs/how-the-numbers-are-made.md,
 * section 7). Rates are absent where op has none; objects.why then repeats the reason. Leaves in *s
 * the rates without what failures explain. */
bool by_second_statistics(struct operation *op, struct by_second *s, struct err *e);

#endif
