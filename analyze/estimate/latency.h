/* Quantiles of many latencies with their confidence intervals (docs/how-the-numbers-are-made.md,
 * section 7), and the residual life, without storing the latencies. The caller passes the same
 * latencies three times, in any order:
 *
 * latency_init; latency_count for each; latency_aim;
 * latency_split for each; latency_plan;
 * latency_collect for each; latency_finish; latency_fini.
 *
 * The first pass counts them by histogram bucket. The second counts those above each quantile per
 * segment, and keeps those in the quantiles' buckets. The third keeps those in the buckets of the
 * limits. */
#ifndef S3_ANALYZE_ESTIMATE_LATENCY_H
#define S3_ANALYZE_ESTIMATE_LATENCY_H

#include "analyze/estimate/confidence.h"
#include "libcommon/err.h"
#include "libcommon/hist.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LATENCY_N_CLASSES  (STATISTICS_N_QUANTILES + 1)
/* Ranks looked up in the third pass: five for each quantile, then the first and the last. */
#define LATENCY_FIRST_RANK (5 * STATISTICS_N_QUANTILES)
#define LATENCY_N_RANKS    (LATENCY_FIRST_RANK + 2)

/* The latencies kept of a few buckets. */
struct latency_kept {
    size_t bucket[LATENCY_N_RANKS + STATISTICS_N_RESIDUALS], n_buckets; /* each bucket once */
    int64_t *v;
    uint32_t *segment; /* second pass only */
    size_t n;
};

struct latency {
    size_t n_segments;
    /* The quantiles, ascending. latency_init sets those of statistics_permille; a caller may set
     * others after it. */
    struct stats_ratio ratio[STATISTICS_N_QUANTILES];
    uint64_t *count; /* by bucket; after latency_aim: latencies in lower buckets */
    uint64_t *sum;   /* by bucket, modulo 2^64; NULL: residual life not wanted */
    size_t end;      /* all buckets from here on are empty */
    uint64_t n;
    __int128 total;

    /* Limits of the quantiles' buckets, ascending. */
    int64_t lower[STATISTICS_N_QUANTILES], upper[STATISTICS_N_QUANTILES];
    int64_t *n_above;    /* segment x class: latencies above exactly `class` quantile buckets */
    int64_t *n_requests; /* by segment */
    struct latency_kept near;

    struct stats_quantile plan[STATISTICS_N_QUANTILES];
    size_t rank[LATENCY_N_RANKS]; /* 0-based */
    struct stats_residual residual[STATISTICS_N_RESIDUALS];
    bool *wanted; /* by bucket */
    struct latency_kept kept;
};

/* Returns false if out of memory. latency_fini may be called in any case. */
bool latency_init(struct latency *l, size_t n_segments, bool with_residual, struct err *e);
void latency_fini(struct latency *l);

/* A TTFB may be negative if clocks were wrong: it counts as zero. */
static inline int64_t latency_positive(int64_t v)
{
    return v < 0 ? 0 : v;
}

static inline void latency_count_in(struct latency *l, size_t bucket, int64_t v)
{
    l->count[bucket]++;
    l->total += v;
    if (l->sum != NULL)
        l->sum[bucket] += (uint64_t)v;
    if (bucket >= l->end)
        l->end = bucket + 1;
}

static inline void latency_count(struct latency *l, int64_t v)
{
    v = latency_positive(v);
    latency_count_in(l, hist_index(v), v);
}

/* Counts packed values, none of them wide; skips PACKED_NONE, as the other _packed functions do. */
void latency_count_packed(struct latency *l, const uint32_t *v, size_t n);

bool latency_aim(struct latency *l, struct err *e);

/* Takes the latency of a request that ends in `segment`. */
static inline void latency_split(struct latency *l, int64_t v, size_t segment)
{
    size_t class = 0;
    v = latency_positive(v);
    for (size_t q = 0; q < STATISTICS_N_QUANTILES; q++)
        class += v > l->upper[q];
    if (class < STATISTICS_N_QUANTILES && v >= l->lower[class]) {
        l->near.v[l->near.n] = v;
        l->near.segment[l->near.n++] = (uint32_t)segment;
    }
    l->n_above[segment * LATENCY_N_CLASSES + class]++;
}

/* Takes the latencies of requests that all end in `segment`. */
void latency_split_packed(struct latency *l, const uint32_t *v, size_t n, size_t segment);

bool latency_plan(struct latency *l, struct err *e);

static inline void latency_collect(struct latency *l, int64_t v)
{
    v = latency_positive(v);
    if (l->wanted[hist_index(v)])
        l->kept.v[l->kept.n++] = v;
}

void latency_collect_packed(struct latency *l, const uint32_t *v, size_t n);

/* Fills *out. residual_ns has STATISTICS_N_RESIDUALS places. If it is NULL, out->count is not
 * filled. */
bool latency_finish(struct latency *l, struct statistics_latency *out, double *residual_ns,
                    struct err *e);

#endif
