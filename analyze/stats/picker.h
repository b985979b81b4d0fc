/* Exact values by rank, without sorting (docs/how-the-numbers-are-made.md, section 5): a histogram
 * finds the bucket of each rank, and one of the bucket's values is selected. */
#ifndef S3_ANALYZE_STATS_PICKER_H
#define S3_ANALYZE_STATS_PICKER_H

#include "libcommon/err.h"
#include "libcommon/hist.h"

#include <stdbool.h>

/* out[i] = the value of 0-based rank ranks[i] in ascending order of v[0..n-1], which stays as it
 * is; ranks in any order, repeats allowed. Linear in n. False: out of memory, or a rank >= n. */
bool picker_select(const int64_t *v, size_t n, const size_t *ranks, size_t n_ranks, int64_t *out);

/* Selects ascending ranks, all in [base, base + n): v has the values of these in any order, and is
 * reordered. */
void picker_select_in_place(int64_t *v, size_t n, size_t base, const size_t *ranks, size_t n_ranks,
                            int64_t *out);

/* Selects by rank in two passes over the values, each in any order. Memory holds only the values of
 * the buckets with wanted ranks. */
struct picker {
    uint32_t *count; /* values by bucket; then where the next one goes, or PICKER_NOT_WANTED */
    size_t end;      /* buckets from here on have no value */
    struct picker_wanted *wanted;
    size_t n_wanted;
    int64_t *kept;
};

#define PICKER_NOT_WANTED UINT32_MAX

/* False: out of memory. picker_fini may be called in any case. */
bool picker_init(struct picker *p);
void picker_fini(struct picker *p);

static inline void picker_count_in(struct picker *p, size_t bucket)
{
    p->count[bucket]++;
    if (bucket >= p->end)
        p->end = bucket + 1;
}

static inline void picker_count(struct picker *p, int64_t v)
{
    picker_count_in(p, hist_index(v));
}

static inline void picker_count32(struct picker *p, uint32_t v)
{
    picker_count_in(p, hist_index32(v));
}

/* Counts in `to` what was counted in `from`. */
void picker_merge(struct picker *to, const struct picker *from);

/* Chooses the buckets to keep. Ranks are ascending, repeats allowed. False: out of memory, or a
 * rank too high. */
bool picker_aim(struct picker *p, const size_t *ranks, size_t n_ranks);

/* Sets wanted[i] for the buckets i whose values will be held; others need not be collected. */
void picker_mark(const struct picker *p, bool *wanted);

static inline void picker_collect(struct picker *p, int64_t v)
{
    uint32_t *at = &p->count[hist_index(v)];
    if (*at != PICKER_NOT_WANTED)
        p->kept[(*at)++] = v;
}

/* out[i] = the value of ranks[i], which are those given to picker_aim. */
void picker_finish(struct picker *p, const size_t *ranks, int64_t *out);

/* out[i] = the quantile permille[i] (quantile.h) of v[0..n-1], which stays as it is. n > 0,
 * n_wanted <= PICKER_QUANTILES_MAX. False: out of memory. */
#define PICKER_QUANTILES_MAX 8
bool picker_quantiles(const int64_t *v, size_t n, const unsigned *permille, size_t n_wanted,
                      int64_t *out, struct err *e);

#endif
