/* Quantiles of many latencies with their confidence intervals (docs/how-the-numbers-are-made.md,
 * section 7) without storing the latencies. The caller passes the same
 * latencies in each of three passes, in any order:
 *
 * latency_init; for each pass: latency_take for each latency, latency_end; latency_finish;
 * latency_fini. */
#ifndef S3_ANALYZE_SUMMARY_ESTIMATE_LATENCY_H
#define S3_ANALYZE_SUMMARY_ESTIMATE_LATENCY_H

#include "analyze/stats/moments.h"
#include "analyze/summary/estimate/confidence.h"
#include "analyze/summary/model/fields.h"
#include "libcommon/err.h"
#include "libcommon/hist.h"
#include "libcommon/int64.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LATENCY_N_CLASSES  (STATISTICS_N_QUANTILES + 1)
/* Ranks looked up in the third pass: five for each quantile, then those of struct times. */
#define LATENCY_FIRST_RANK (5 * STATISTICS_N_QUANTILES)
#define LATENCY_N_RANKS    (LATENCY_FIRST_RANK + TIMES_N_RANKS)

/* The latencies kept of a few buckets. */
struct latency_kept {
    size_t bucket[LATENCY_N_RANKS], n_buckets; /* each bucket once */
    int64_t *v;
    uint32_t *segment; /* second pass only */
    size_t n;
};

struct latency {
    size_t n_segments;
    /* The quantiles, ascending. latency_init sets those of statistics_permille; a caller may set
     * others after it. */
    struct stats_ratio ratio[STATISTICS_N_QUANTILES];
    const struct stats_ci
        *rate;       /* for stats_quantile, set by the caller after latency_init; NULL */
    uint64_t *count; /* by bucket; after LATENCY_COUNT: latencies in lower buckets */
    size_t end;      /* all buckets from here on are empty */
    uint64_t n;
    struct moments moments;

    /* Limits of the quantiles' buckets, ascending. */
    int64_t lower[STATISTICS_N_QUANTILES], upper[STATISTICS_N_QUANTILES];
    int64_t *n_above; /* segment x class: latencies above exactly `class` quantile buckets */
    int64_t *n_requests, *sum; /* by segment; the sum of their latencies */
    struct latency_kept near;

    struct stats_ci mean;
    struct stats_quantile plan[STATISTICS_N_QUANTILES];
    size_t rank[LATENCY_N_RANKS]; /* 0-based */
    bool *wanted;                 /* by bucket */
    struct latency_kept kept;
};

/* Returns false if out of memory. latency_fini may be called in any case. */
bool latency_init(struct latency *l, size_t n_segments, struct err *e);
void latency_fini(struct latency *l);

/* The passes, in their order. */
enum latency_pass {
    LATENCY_COUNT,   /* counts latencies by histogram bucket */
    LATENCY_SPLIT,   /* counts those above each quantile by segment; keeps those in its bucket */
    LATENCY_COLLECT, /* keeps those in the buckets of the limits */
};

/* Takes the latency of a request that ends in `segment`. */
static inline void latency_take(struct latency *l, enum latency_pass pass, int64_t v,
                                size_t segment)
{
    size_t class = 0;

    if (pass == LATENCY_COUNT) {
        size_t bucket = hist_index(v);
        l->count[bucket]++;
        moments_add(&l->moments, v);
        if (bucket >= l->end)
            l->end = bucket + 1;
    } else if (pass == LATENCY_SPLIT) {
        for (size_t q = 0; q < STATISTICS_N_QUANTILES; q++)
            class += v > l->upper[q];
        if (class < STATISTICS_N_QUANTILES && v >= l->lower[class]) {
            l->near.v[l->near.n] = v;
            l->near.segment[l->near.n++] = (uint32_t)segment;
        }
        l->n_above[segment * LATENCY_N_CLASSES + class]++;
        l->sum[segment] = int64_add_clamped(l->sum[segment], v);
    } else if (l->wanted[hist_index(v)]) {
        l->kept.v[l->kept.n++] = v;
    }
}

/* Ends a pass. False: *e says why. */
bool latency_end(struct latency *l, enum latency_pass pass, struct err *e);

/* Fills *out; out->count only if `with_counts`. */
bool latency_finish(struct latency *l, struct statistics_latency *out, bool with_counts,
                    struct err *e);

#endif
