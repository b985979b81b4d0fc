/* Counts values in the buckets of libcommon/hist.h. */
#ifndef S3_LOADGEN_UTIL_HISTOGRAM_H
#define S3_LOADGEN_UTIL_HISTOGRAM_H

#include "libcommon/err.h"
#include "libcommon/hist.h"

#include <stdbool.h>
#include <stdint.h>

struct histogram {
    uint64_t *count;  /* HIST_N_COUNTERS of them, owned */
    uint64_t n;       /* values counted, those above HIST_MAX_VALUE included */
    uint64_t n_over;  /* values above HIST_MAX_VALUE */
    int64_t min, max; /* exact; meaningless while n is 0 */
};

/* Makes an empty histogram. False: out of memory. histogram_fini may be called in any case. */
bool histogram_init(struct histogram *h, struct err *e);
void histogram_fini(struct histogram *h);

/* Counts a value. */
void histogram_add(struct histogram *h, int64_t v);

/* Returns the value of 1-based rank k (1 <= k <= h->n): the upper end of its bucket, at most
 * h->max. */
int64_t histogram_value_at(const struct histogram *h, uint64_t k);

/* Returns a quantile in tenths of a percent, to within a bucket; 0 if the histogram is empty. */
int64_t histogram_quantile(const struct histogram *h, unsigned permille);

#endif
