#include "analyze/summary/estimate/latency.h"

#include "analyze/stats/picker.h"
#include "libcommon/mem.h"
#include "libcommon/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const unsigned statistics_permille[STATISTICS_N_QUANTILES] = {500, 900, 990, 999};

static size_t rank_of(const struct latency *l, size_t q)
{
    return quantile_index_of(l->n, l->ratio[q].num, l->ratio[q].den);
}

bool latency_init(struct latency *l, size_t n_segments, struct err *e)
{
    *l = (struct latency){.n_segments = n_segments > 0 ? n_segments : 1};
    for (size_t q = 0; q < STATISTICS_N_QUANTILES; q++)
        l->ratio[q] = (struct stats_ratio){statistics_permille[q], 1000};
    return mem_cleared(&l->count, HIST_N_INDEXES + 1, e);
}

static void kept_fini(struct latency_kept *k)
{
    free(k->v);
    free(k->segment);
}

void latency_fini(struct latency *l)
{
    free(l->count);
    free(l->n_above);
    free(l->n_requests);
    free(l->sum);
    free(l->wanted);
    kept_fini(&l->near);
    kept_fini(&l->kept);
}

/* Finds the bucket of a 0-based rank from the numbers of latencies below each bucket. */
static size_t bucket_of_rank(const struct latency *l, uint64_t rank)
{
    size_t lo = 0, hi = l->end; /* count[lo] <= rank < count[hi] */
    while (hi - lo > 1) {
        size_t middle = lo + (hi - lo) / 2;
        if (l->count[middle] <= rank)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

static size_t n_in_bucket(const struct latency *l, size_t bucket)
{
    return (size_t)(l->count[bucket + 1] - l->count[bucket]);
}

/* Adds a bucket to those whose latencies are kept. */
static void keep_bucket(struct latency_kept *k, size_t bucket)
{
    for (size_t i = 0; i < k->n_buckets; i++)
        if (k->bucket[i] == bucket)
            return;
    k->bucket[k->n_buckets++] = bucket;
}

/* Makes room for the latencies of the buckets. */
static bool make_room(const struct latency *l, struct latency_kept *k, bool with_segments,
                      struct err *e)
{
    size_t n = 0;

    for (size_t i = 0; i < k->n_buckets; i++)
        n += n_in_bucket(l, k->bucket[i]);
    return mem_new(&k->v, n, e) && (!with_segments || mem_new(&k->segment, n, e));
}

/* Chooses the buckets of the quantiles. */
static bool aim(struct latency *l, struct err *e)
{
    for (size_t i = 0; i <= l->end; i++) {
        uint64_t n = l->count[i];
        l->count[i] = l->n;
        l->n += n;
    }
    for (size_t q = 0; q < STATISTICS_N_QUANTILES; q++) {
        l->lower[q] = l->upper[q] = INT64_MAX;
        if (l->n == 0)
            continue;
        size_t bucket = bucket_of_rank(l, rank_of(l, q));
        l->lower[q] = hist_lower(bucket);
        l->upper[q] = hist_upper(bucket);
        keep_bucket(&l->near, bucket);
    }
    return mem_cleared(&l->n_above, l->n_segments * LATENCY_N_CLASSES, e) &&
           mem_cleared(&l->n_requests, l->n_segments, e) &&
           mem_cleared(&l->sum, l->n_segments, e) && make_room(l, &l->near, true, e);
}

/* Looks up the values of n ranks, whose buckets are among those kept. */
static bool values_of_ranks(const struct latency *l, const struct latency_kept *kept,
                            const size_t *rank, size_t n, int64_t *out, struct err *e)
{
    size_t at[LATENCY_N_RANKS];
    int64_t *v;

    if (!mem_new(&v, kept->n, e))
        return false;
    memcpy(v, kept->v, kept->n * sizeof *v);
    for (size_t i = 0; i < n; i++) {
        size_t own = bucket_of_rank(l, rank[i]);
        at[i] = rank[i] - (size_t)l->count[own];
        for (size_t k = 0; k < kept->n_buckets; k++)
            at[i] += kept->bucket[k] < own ? n_in_bucket(l, kept->bucket[k]) : 0;
    }
    picker_select(v, kept->n, at, n, out);
    free(v);
    return true;
}

/* Counts the latencies above `value`, the quantile q, by segment in which they end. */
static void count_above(const struct latency *l, size_t q, int64_t value, int64_t *n_above)
{
    for (size_t j = 0; j < l->n_segments; j++) {
        n_above[j] = 0;
        for (size_t class = q + 1; class < LATENCY_N_CLASSES; class ++)
            n_above[j] += l->n_above[j * LATENCY_N_CLASSES + class];
    }
    /* Values of the quantile's own bucket are in no class above: compare them one by one. */
    for (size_t i = 0; i < l->near.n; i++)
        n_above[l->near.segment[i]] += l->near.v[i] > value && l->near.v[i] <= l->upper[q];
}

/* Marks the buckets of the ranks, and makes room for their latencies. */
static bool want_buckets(struct latency *l, struct err *e)
{
    if (!mem_cleared(&l->wanted, HIST_N_INDEXES, e))
        return false;
    for (size_t i = 0; i < LATENCY_N_RANKS; i++)
        keep_bucket(&l->kept, bucket_of_rank(l, l->rank[i]));
    for (size_t i = 0; i < l->kept.n_buckets; i++)
        l->wanted[l->kept.bucket[i]] = true;
    return make_room(l, &l->kept, false, e);
}

/* Widens limits to contain a rank. */
static void widen(struct stats_ranks *r, uint64_t rank)
{
    r->lo = r->lo < rank ? r->lo : rank;
    r->hi = r->hi == 0 || r->hi > rank ? r->hi : rank;
}

/* Takes the rank of the report's value, which may be one above the type 1 rank. */
static void take_rank(struct stats_quantile *q, uint64_t rank)
{
    q->rank = rank;
    widen(&q->r95, rank);
    widen(&q->r90, rank);
}

/* Chooses the ranks of the limits. */
static bool plan(struct latency *l, struct err *e)
{
    size_t rank[STATISTICS_N_QUANTILES];
    int64_t value[STATISTICS_N_QUANTILES];

    if (l->n == 0)
        return true;
    for (size_t q = 0; q < STATISTICS_N_QUANTILES; q++)
        rank[q] = rank_of(l, q);
    for (size_t j = 0; j < l->n_segments; j++)
        for (size_t class = 0; class < LATENCY_N_CLASSES; class ++)
            l->n_requests[j] += l->n_above[j * LATENCY_N_CLASSES + class];
    int64_t *n_above = NULL;
    bool ok = mem_new(&n_above, l->n_segments, e);
    ok = ok && values_of_ranks(l, &l->near, rank, STATISTICS_N_QUANTILES, value, e) &&
         stats_mean_of_requests(moments_mean(&l->moments), l->sum, l->n_requests, l->n_segments,
                                l->rate, &l->mean, e);
    for (size_t q = 0; ok && q < STATISTICS_N_QUANTILES; q++) {
        count_above(l, q, value[q], n_above);
        ok = stats_quantile(l->ratio[q], n_above, l->n_requests, l->n_segments, l->rate,
                            &l->plan[q], e);
        take_rank(&l->plan[q], rank[q] + 1);
        stats_quantile_ranks(&l->plan[q], &l->rank[5 * q]);
    }
    times_ranks((size_t)l->n, &l->rank[LATENCY_FIRST_RANK]);
    free(n_above);
    return ok && want_buckets(l, e);
}

bool latency_end(struct latency *l, enum latency_pass pass, struct err *e)
{
    return pass == LATENCY_COUNT ? aim(l, e) : pass == LATENCY_SPLIT ? plan(l, e) : true;
}

static bool take_counts(const struct latency *l, struct statistics_latency *out, struct err *e)
{
    out->first_bucket = bucket_of_rank(l, 0);
    out->n_buckets = l->end - out->first_bucket;
    if (!mem_new(&out->count, out->n_buckets, e))
        return false;
    for (size_t i = 0; i < out->n_buckets; i++)
        out->count[i] = n_in_bucket(l, out->first_bucket + i);
    return true;
}

bool latency_finish(struct latency *l, struct statistics_latency *out, bool with_counts,
                    struct err *e)
{
    int64_t value[LATENCY_N_RANKS];

    *out = (struct statistics_latency){0};
    if (l->n == 0)
        return true;
    if (!values_of_ranks(l, &l->kept, l->rank, LATENCY_N_RANKS, value, e))
        return false;
    for (size_t q = 0; q < STATISTICS_N_QUANTILES; q++) {
        struct statistics_quantile *to = &out->q[q];
        stats_quantile_ci(&l->plan[q], &value[5 * q], &to->ci);
        to->deff = l->plan[q].deff;
        to->n_e = l->plan[q].n_e;
        to->can_gate = l->plan[q].can_gate;
    }
    out->mean = l->mean;
    out->times = times_of(&l->moments, &value[LATENCY_FIRST_RANK]);
    return !with_counts || take_counts(l, out, e);
}
