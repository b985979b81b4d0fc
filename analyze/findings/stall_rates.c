/* How many requests end in a stretch of time, and how many are usual there: stalls are judged by
 * both. */
#include "analyze/findings/stalls_internal.h"
#include "analyze/stats/stats.h"
#include "libcommon/mem.h"

#include <math.h>
#include <string.h>

#define N_LOCAL_BLOCKS 12 /* of STALLS_MAX_BLOCKS; a run of few bins has fewer of both */

bool stalls_count(struct stalls *x, struct err *e)
{
    const struct course *c = x->s->c;
    if (!mem_new(&x->done, c->n_bins, e))
        return false;
    for (size_t j = 0; j < c->n_bins; j++)
        x->done[j] = c->ok[j] + c->failed[j];
    for (size_t i = 0; i < c->n_hung; i++)
        if (c->hung[i].failed)
            x->done[course_bin(c, c->hung[i].end_ns)]--;
    return true;
}

double stalls_done(const struct stalls *x, size_t first, size_t end)
{
    double n = 0;
    for (size_t j = first; j < end; j++)
        n += x->done[j];
    return n;
}

/* How much of a bin the run has. */
static double part_of_bin(const struct stalls *x, size_t j)
{
    const struct course *c = x->s->c;
    return (double)(course_at_ns(c, j + 1, x->bin_ns) - course_at_ns(c, j, x->bin_ns)) /
           (double)x->bin_ns;
}

double stalls_usual(const struct stalls *x, size_t first, size_t end)
{
    double n = 0;
    for (size_t j = first; j < end; j++) {
        size_t b = j / x->bins_per_block;
        n += x->usual[b < x->n_blocks ? b : x->n_blocks - 1] * part_of_bin(x, j);
    }
    return n;
}

/* The median over the blocks around, so that neither a stall nor a change of level bends it, and at
 * least half of that of the run. That is the median over all blocks too, or half of the mean, where
 * the run stood for most of its time. */
bool stalls_find_usual(struct stalls *x)
{
    double *rate = x->rate, sorted[STALLS_MAX_BLOCKS];

    x->bins_per_block = (x->n_bins + STALLS_MAX_BLOCKS - 1) / STALLS_MAX_BLOCKS;
    x->n_blocks = x->n_bins / x->bins_per_block;
    x->n_local = (N_LOCAL_BLOCKS * x->n_blocks + STALLS_MAX_BLOCKS - 1) / STALLS_MAX_BLOCKS;
    if (x->n_blocks < 4)
        return false;
    for (size_t b = 0; b < x->n_blocks; b++)
        rate[b] = stalls_done(x, b * x->bins_per_block, (b + 1) * x->bins_per_block) /
                  (double)x->bins_per_block;
    memcpy(sorted, rate, x->n_blocks * sizeof *rate);
    double all = stats_sort_median(sorted, x->n_blocks), mean = 0;
    for (size_t b = 0; b < x->n_blocks; b++)
        mean += rate[b] / (double)x->n_blocks;
    all = fmax(all, mean / 2);
    for (size_t b = 0; b < x->n_blocks; b++) {
        size_t from = b > x->n_local ? b - x->n_local : 0;
        size_t to = b + x->n_local < x->n_blocks ? b + x->n_local + 1 : x->n_blocks;

        memcpy(sorted, rate + from, (to - from) * sizeof *rate);
        x->usual[b] = fmax(stats_sort_median(sorted, to - from), all / 2);
    }
    return all > 0;
}

double stalls_rate_frac(const struct stalls *x, int64_t start_ns, int64_t end_ns)
{
    size_t first = course_bin(x->s->c, start_ns) + 1, end = course_bin(x->s->c, end_ns);
    double usual = stalls_usual(x, first, end);

    return usual > 0 ? stalls_done(x, first, end) / usual : 0;
}

double stalls_rate_frac_around(const struct stalls *x, int64_t start_ns, int64_t end_ns)
{
    const struct course *c = x->s->c;
    size_t first = course_bin(c, start_ns) + 1, end = course_bin(c, end_ns), n_around = 0;
    size_t first_block = first / x->bins_per_block, last_block = end / x->bins_per_block;
    size_t from = first_block > x->n_local ? first_block - x->n_local : 0;
    double around[2 * N_LOCAL_BLOCKS + 2];

    for (size_t b = from; b <= last_block + x->n_local && b < x->n_blocks; b++)
        if (b < first_block || b > last_block)
            around[n_around++] = x->rate[b];
    double usual = n_around > 0 ? stats_sort_median(around, n_around) : 0;
    return usual > 0 && end > first ? stalls_done(x, first, end) / (double)(end - first) / usual
                                    : 0;
}
