/* Percentiles of a foreign file, from its groups. A group has the least value, the greatest, and
 * three percentiles, each the value of a known rank. So for any value v it is known how many of its
 * requests took at most v: at least so many as the ranks up to v say, at most so many as the next
 * rank says. These counts can be added, the percentiles cannot. */
#include "analyze/analysis/sums/foreign_internal.h"
#include "analyze/stats/stats.h"
#include "libcommon/mem.h"
#include "libcommon/slo.h"

#include <math.h>
#include <stdlib.h>

#define N_KNOWN 5 /* values of a group */

/* The groups with room for what is computed of them. */
struct groups {
    const struct sums_op *op;
    const struct foreign_part *x; /* of the operation */
    int64_t n_missing;            /* requests that are in no group */
    double *value;                /* all known values, ascending */
    size_t n_values;              /* at most N_KNOWN for each group */
    double *n, *n_above; /* requests, and those above a value: of the k-th groups of all clients */
    size_t n_times;      /* how many such k there are */
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Finds how many requests of a group took at most `ms`: at least, and at most. */
static void count_to(const struct request_group *g, double ms, int64_t *least, int64_t *most)
{
    const struct {
        double ms;
        unsigned permille;
    } known[N_KNOWN] = {
        {g->min_ms, 0}, {g->p50_ms, 500}, {g->p90_ms, 900}, {g->p99_ms, 990}, {g->max_ms, 1000}};

    *least = 0;
    *most = g->n_requests;
    for (size_t i = 0; i < N_KNOWN; i++) {
        int64_t rank = (int64_t)quantile_index((size_t)g->n_requests, known[i].permille);

        if (known[i].ms <= ms)
            *least = rank + 1;
        else if (*most > rank)
            *most = rank;
    }
}

/* Returns how many requests took at most `ms`: at least, or at most. */
static int64_t count_all(const struct groups *g, double ms, bool at_least)
{
    int64_t n = at_least ? 0 : g->n_missing;

    for (size_t i = 0; i < g->x->n_groups; i++) {
        int64_t least, most;

        count_to(&g->x->groups[i], ms, &least, &most);
        n += at_least ? least : most;
    }
    return n;
}

/* Returns the share of the successful requests that took longer than `ms`, at least or at most,
 * with the end of its interval on that side. The requests of 10 s count as one sample. */
static double share_above(const struct groups *g, double ms, bool at_least)
{
    const int64_t n_ok = g->op->all.n_requests - g->op->all.n_errors;
    int64_t above = at_least ? -g->op->all.n_errors : g->n_missing;
    double sum = 0, n = 0, squares = 0, lo, hi, times = (double)g->n_times;

    for (size_t k = 0; k < g->n_times; k++)
        g->n_above[k] = g->n[k] = 0;
    for (size_t i = 0, k = 0; i < g->x->n_groups; i++) {
        const struct request_group *of = &g->x->groups[i];
        int64_t least, most;

        k = i > 0 && of->client == of[-1].client ? k + 1 : 0;
        count_to(of, ms, &least, &most);
        g->n_above[k] += (double)(of->n_requests - (at_least ? most : least));
        above += of->n_requests - (at_least ? most : least);
        g->n[k] += (double)of->n_requests;
    }
    for (size_t k = 0; k < g->n_times; k++) {
        sum += g->n_above[k];
        n += g->n[k];
    }
    for (size_t k = 0; k < g->n_times; k++) {
        double off = g->n_above[k] - sum / n * g->n[k];

        squares += off * off;
    }
    double share = fmin(fmax((double)above / (double)n_ok, 0), 1);
    double se = times > 1 ? sqrt(squares * times / (times - 1)) / n : 0;
    stats_wilson(share, (double)n_ok, se, fmax(times - 1, 1), &lo, &hi);
    /* One sample does not show how much samples vary. */
    if (times < 2 && share > 0 && share < 1)
        return at_least ? 0 : 1;
    return at_least ? lo : hi;
}

/* Whether value i is high enough: `rank` requests took at most so long; or, with rank 0, no more
 * than the share `above` of further requests would take longer. */
static bool is_reached(const struct groups *g, size_t i, bool at_least, int64_t rank, double above)
{
    return rank > 0 ? count_all(g, g->value[i], at_least) >= rank
                    : share_above(g, g->value[i], !at_least) <= above;
}

/* Returns the index of the first value that is high enough; n_values: none is. */
static size_t first_reached(const struct groups *g, bool at_least, int64_t rank, double above)
{
    size_t lo = 0, hi = g->n_values;

    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;

        if (is_reached(g, middle, at_least, rank, above))
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

static double value_ns(const struct groups *g, size_t i)
{
    return i < g->n_values ? round(g->value[i] * 1e6) : INFINITY;
}

/* Returns false if out of memory. Without groups that hold requests of one size n_values is 0. */
static bool groups_init(struct groups *g, const struct sums_op *op, struct err *e)
{
    const struct foreign_part *x = op->foreign;
    __int128 n = 0;

    *g = (struct groups){.op = op, .x = x};
    if (!mem_new(&g->value, N_KNOWN * x->n_groups, e) || !mem_new(&g->n, x->n_groups, e) ||
        !mem_new(&g->n_above, x->n_groups, e))
        return false;
    for (size_t i = 0, k = 0; i < x->n_groups; i++) {
        const struct request_group *of = &x->groups[i];
        const double known[N_KNOWN] = {of->min_ms, of->p50_ms, of->p90_ms, of->p99_ms, of->max_ms};

        k = i > 0 && of->client == of[-1].client ? k + 1 : 0;
        g->n_times = k + 1 > g->n_times ? k + 1 : g->n_times;
        n += of->n_requests;
        for (size_t j = 0; j < N_KNOWN; j++) {
            if (of->is_multi || of->n_requests < 1 || !(known[j] >= (j > 0 ? known[j - 1] : 0))) {
                g->n_values = 0;
                return true;
            }
            g->value[g->n_values++] = known[j];
        }
    }
    if (n > op->all.n_requests)
        g->n_values = 0;
    g->n_missing = (int64_t)(op->all.n_requests - n);
    qsort(g->value, g->n_values, sizeof *g->value, by_value);
    return true;
}

bool sums_foreign_percentile(struct sums_bounds *to, const struct sums_op *op, uint32_t ppm,
                             struct err *e)
{
    const int64_t n_ok = op->all.n_requests - op->all.n_errors;
    struct groups g;
    bool ok = groups_init(&g, op, e);

    *to = (struct sums_bounds){.present = ok && g.n_values > 0 && n_ok > 0};
    if (to->present) {
        int64_t rank = (int64_t)quantile_index_of((size_t)n_ok, ppm, SLO_PPM) + 1;
        double above = 1 - (double)ppm / SLO_PPM;
        size_t lo = first_reached(&g, false, 0, above);

        /* Failed requests may be any of those in the groups. */
        to->most_ns = value_ns(&g, first_reached(&g, true, rank + op->all.n_errors, 0));
        to->least_ns = g.n_missing >= rank ? 0 : value_ns(&g, first_reached(&g, false, rank, 0));
        /* What holds for value lo - 1 holds for all below value lo, as nothing is known between. */
        bool has_lo = lo > 0 || share_above(&g, -1, true) > above;
        to->lo_ns = has_lo ? fmin(value_ns(&g, lo), to->least_ns) : -INFINITY;
        to->hi_ns = fmax(value_ns(&g, first_reached(&g, true, 0, above)), to->most_ns);
    }
    free(g.value);
    free(g.n);
    free(g.n_above);
    return ok;
}
