/* How many requests end in a time, and how many usually do: finds the intervals in which next to
 * nothing ends. */
#include "analyze/findings/stalls_internal.h"
#include "analyze/stats/stats.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>

#define N_BLOCKS  100 /* that have a usual rate of their own, at most */
#define PER_BLOCK 10  /* requests, at least, on average */

/* Copies the median of the blocks around each block into its bins. Blocks in which next to nothing
 * ended do not count, so that neither a stall nor a change of level bends the usual rate. Requests
 * that are refused end many times faster than usual: only successes count. */
bool stalls_find_usual(struct stalls *x, bool *found, struct err *e)
{
    const struct course *c = x->s->c;
    size_t wanted = c->n < N_BLOCKS * PER_BLOCK ? (size_t)int64_max(c->n / PER_BLOCK, 1) : N_BLOCKS,
           per_block = (c->n_bins + wanted - 1) / wanted, n_blocks = c->n_bins / per_block;
    double rate[N_BLOCKS], counted[N_BLOCKS], mean = 0;
    size_t n_counted = 0, next = 0, n_local = n_blocks / 10 + 1;

    *found = false;
    if (!mem_new(&x->done, c->n_bins, e) || !mem_new(&x->usual, c->n_bins, e))
        return false;
    for (size_t b = 0; b < n_blocks; b++) {
        rate[b] = 0;
        for (size_t j = b * per_block; j < (b + 1) * per_block; j++)
            rate[b] += (double)c->ok[j] / (double)per_block;
        mean += rate[b] / (double)n_blocks;
    }
    for (size_t b = 0; b < n_blocks; b++)
        if (rate[b] > STALLS_RATE_FRAC * mean)
            counted[n_counted++] = rate[b];
    *found = n_counted > 1;
    x->window = n_local * per_block;
    for (size_t b = 0; *found && b < n_blocks; b++) {
        double around[N_BLOCKS];
        size_t n = 0, first = b * per_block;
        size_t end = b + 1 < n_blocks ? first + per_block : c->n_bins;

        for (size_t i = next > n_local ? next - n_local : 0; i <= next + n_local && i < n_counted;
             i++)
            around[n++] = counted[i];
        double usual = stats_sort_median(around, n);
        for (size_t j = first; j < end; j++) {
            x->done[j] = (int64_t)c->ok[j] + c->failed[j] - c->timed_out[j];
            x->usual[j] = usual * course_part(c, j, c->bin_ns);
        }
        next += rate[b] > STALLS_RATE_FRAC * mean;
    }
    return true;
}

struct sums {
    double done, usual;
};

static struct sums sum_bins(const struct stalls_series *a, size_t first, size_t end)
{
    struct sums sum = {0};

    for (size_t j = first; j < end && j < a->n; j++) {
        sum.done += (double)a->done[j];
        sum.usual += a->share * a->usual[j];
    }
    return sum;
}

double stalls_rate_frac(const struct stalls *x, int64_t start_ns, int64_t end_ns)
{
    const struct course *c = x->s->c;
    struct stalls_series all = {.done = x->done, .usual = x->usual, .share = 1, .n = c->n_bins};
    size_t first = course_bin(c, start_ns) + 1, end = course_bin(c, end_ns);
    struct sums sum = sum_bins(&all, first, end);
    double n = end > first ? (double)(end - first) : 0, around = 0, n_around = 0;

    if (first > x->window) {
        around += x->usual[first - x->window];
        n_around++;
    }
    if (end + x->window + 1 < c->n_bins) {
        around += x->usual[end + x->window];
        n_around++;
    }
    if (n_around > 0)
        sum.usual = n * around / n_around;
    return sum.usual > 0 ? sum.done / sum.usual : 0;
}

/* By seconds, returns for how long the system stalled within a bin, from how many requests are
 * missing: a stall begins or ends within a second. */
static int64_t stood_ns(const struct stalls *x, const struct stalls_series *a, size_t bin)
{
    const struct course *c = x->s->c;
    if (c->has_requests || bin >= a->n)
        return 0;
    struct sums sum = sum_bins(a, bin, bin + 1);
    double missing = 1 - sum.done / fmax(sum.usual, 1e-9);
    return (int64_t)(fmax(missing, 0) * course_part(c, bin, a->bin_ns) * (double)a->bin_ns);
}

static inline double score_of(struct sums sum)
{
    return (1 - STALLS_RATE_FRAC) * sum.usual + log(STALLS_RATE_FRAC) * sum.done;
}

/* Adds the bins [first, end) as a stall if they are long and empty enough. */
static void add_interval(const struct stalls *x, const struct stalls_series *a, size_t first,
                         size_t end, double least, struct stall *v, size_t *n)
{
    const struct course *c = x->s->c;
    int64_t full_ns = c->full_from_ns > c->bins_ns ? c->full_from_ns - c->bins_ns : 0;
    size_t begun = (size_t)(full_ns / a->bin_ns),
           until = (size_t)((c->full_until_ns - c->bins_ns) / a->bin_ns);
    struct sums sum = sum_bins(a, first, end),
                within = sum_bins(a, first > begun ? first : begun, end < until ? end : until);
    struct stall st = {.start_ns = course_at_ns(c, first, a->bin_ns) - stood_ns(x, a, first - 1),
                       .end_ns = course_at_ns(c, end, a->bin_ns) + stood_ns(x, a, end)};

    /* Low rates at the edges of a run are normal: threads may begin one after the other, and the
     * last requests end alone. */
    st.at_edge =
        (st.start_ns < c->full_from_ns || st.end_ns > c->full_until_ns) && score_of(within) < least;
    if (st.end_ns - st.start_ns >= x->least_ns && sum.done <= 2 * STALLS_RATE_FRAC * sum.usual &&
        *n < STALLS_MAX)
        v[(*n)++] = st;
}

void stalls_find_intervals(const struct stalls *x, const struct stalls_series *a, struct stall *v,
                           size_t *n)
{
    const double per_usual = (1 - STALLS_RATE_FRAC) * a->share, per_done = log(STALLS_RATE_FRAC),
                 least = FIND_LEAST_LLR;
    struct top_stretch top = {0};

    for (size_t j = 0; j <= a->n; j++) {
        double score = j < a->n ? per_usual * a->usual[j] + per_done * (double)a->done[j] : 0;

        if (j == a->n || top.sum + score <= 0 || top.sum + score < top.most - least) {
            if (top.most >= least)
                add_interval(x, a, top.first, top.last + 1, least, v, n);
            top = (struct top_stretch){0};
        } else {
            top_stretch_add(&top, j, score);
        }
    }
}
