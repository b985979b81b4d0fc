/* Log-linear histogram of durations and exact selection by rank (docs/how-the-numbers-are-made.md,
 * section 5).
 *
 * A value below 2048 has a bucket of its own; above, each power of two is cut into 1024 buckets, so
 * a bucket is at most 1/1024 of its values wide (0.0977 %). */
#ifndef S3_LIBCOMMON_HIST_H
#define S3_LIBCOMMON_HIST_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HIST_N_COUNTERS 31744                    /* for values below 2^40 (18 minutes in ns) */
#define HIST_MAX_VALUE  ((INT64_C(1) << 40) - 1) /* the largest value with a bucket */
#define HIST_N_INDEXES  (52 * 1024 + 2048)       /* of all non-negative int64 */

/* Bucket of a value, below HIST_N_INDEXES; a negative one goes to the bucket of 0. */
static inline size_t hist_index(int64_t v)
{
    uint64_t u = v < 0 ? 0 : (uint64_t)v;
    unsigned e = 53u - (unsigned)__builtin_clzll(u | 1024u);

    return e * 1024u + (size_t)(u >> e);
}

/* The same for values of 32 bits, in fewer steps: exponent and first 10 bits of the double. */
static inline size_t hist_index32(uint32_t v)
{
    double d = v;
    uint64_t bits;

    memcpy(&bits, &d, sizeof bits);
    return v < 1024 ? v : (size_t)(bits >> 42) - (size_t)((1023 + 9) << 10);
}

/* Smallest and largest value of bucket `index` (below HIST_N_INDEXES). */
static inline int64_t hist_lower(size_t index)
{
    if (index < 2048)
        return (int64_t)index;
    size_t e = index / 1024 - 1;
    return (int64_t)(index - e * 1024) << e;
}

static inline int64_t hist_upper(size_t index)
{
    return index < 2048 ? (int64_t)index
                        : hist_lower(index) + ((INT64_C(1) << (index / 1024 - 1)) - 1);
}

struct hist {
    uint64_t *count;  /* HIST_N_COUNTERS of them, owned */
    uint64_t n;       /* values counted, those above HIST_MAX_VALUE included */
    uint64_t n_over;  /* values above HIST_MAX_VALUE */
    int64_t min, max; /* exact; meaningless while n is 0 */
};

/* False: out of memory. hist_fini may be called in any case. */
bool hist_init(struct hist *h, struct err *e);
void hist_fini(struct hist *h);

/* Counts a value. */
void hist_add(struct hist *h, int64_t v);

/* The value of 1-based rank k (1 <= k <= h->n): the upper end of its bucket, at most h->max. */
int64_t hist_value_at(const struct hist *h, uint64_t k);

/* out[i] = the value of 0-based rank ranks[i] in ascending order of v[0..n-1], which stays as it
 * is; ranks in any order, repeats allowed. Linear in n. False: out of memory, or a rank >= n. */
bool hist_select(const int64_t *v, size_t n, const size_t *ranks, size_t n_ranks, int64_t *out);

/* The same for ascending ranks < n; reorders v. */
void hist_select_in_place(int64_t *v, size_t n, const size_t *ranks, size_t n_ranks, int64_t *out);

/* The same for values that are never held all at once: they are shown twice, in any order. Holds
 * those of the buckets in which there are wanted ranks.
 *
 *   hist_picker_init; hist_picker_count for each; hist_picker_aim;
 *   hist_picker_collect for each; hist_picker_finish; hist_picker_fini.
 *
 * There must be fewer than HIST_NOT_WANTED values. */
struct hist_picker {
    uint32_t *count; /* values by bucket; then where the next one goes, or HIST_NOT_WANTED */
    size_t end;      /* buckets from here on have no value */
    struct hist_wanted *wanted;
    size_t n_wanted;
    int64_t *kept;
};

#define HIST_NOT_WANTED UINT32_MAX

/* False: out of memory. hist_picker_fini may be called in any case. */
bool hist_picker_init(struct hist_picker *p);
void hist_picker_fini(struct hist_picker *p);

static inline void hist_picker_count_in(struct hist_picker *p, size_t bucket)
{
    p->count[bucket]++;
    if (bucket >= p->end)
        p->end = bucket + 1;
}

static inline void hist_picker_count(struct hist_picker *p, int64_t v)
{
    hist_picker_count_in(p, hist_index(v));
}

static inline void hist_picker_count32(struct hist_picker *p, uint32_t v)
{
    hist_picker_count_in(p, hist_index32(v));
}

/* Counts in `to` what was counted in `from`. */
void hist_picker_merge(struct hist_picker *to, const struct hist_picker *from);

/* Ascending ranks, repeats allowed. False: out of memory, or a rank too high. */
bool hist_picker_aim(struct hist_picker *p, const size_t *ranks, size_t n_ranks);

/* Sets wanted[i] for the buckets i whose values will be held; others need not be collected. */
void hist_picker_mark(const struct hist_picker *p, bool *wanted);

static inline void hist_picker_collect(struct hist_picker *p, int64_t v)
{
    uint32_t *at = &p->count[hist_index(v)];
    if (*at != HIST_NOT_WANTED)
        p->kept[(*at)++] = v;
}

/* out[i] = the value of ranks[i], which are those given to hist_picker_aim. */
void hist_picker_finish(struct hist_picker *p, const size_t *ranks, int64_t *out);

#endif
