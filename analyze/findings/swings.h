/* Throughput that swings back and forth. */
#ifndef S3_ANALYZE_FINDINGS_SWINGS_H
#define S3_ANALYZE_FINDINGS_SWINGS_H

#include "analyze/findings/find.h"

/* The log of the completions per second that levels or a trend account for at a time. */
typedef double swings_expected_fn(const void *levels, int64_t at_ns);

/* Adds what the throughput does about what is expected. Without `expected` that is its mean, and
 * only a swing with a period counts that explains more of the throughput than anything else does:
 * then *found, and there are no levels to be told. False: out of memory. */
bool swings_find(struct search *s, swings_expected_fn *expected, const void *levels, bool *found,
                 struct err *e);

#endif
