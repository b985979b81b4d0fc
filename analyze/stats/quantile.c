#include "analyze/stats/stats.h"

#include "analyze/stats/stats_internal.h"
#include "libcommon/mem.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

uint64_t stats_rank(uint64_t n, struct stats_ratio p)
{
    unsigned __int128 k = ((unsigned __int128)n * p.num + p.den - 1) / p.den;
    return k < 1 ? 1 : (uint64_t)k;
}

static double ratio_value(struct stats_ratio p)
{
    return (double)p.num / (double)p.den;
}

static double binomial_cdf(uint64_t k, uint64_t n, double p)
{
    double cdf = gsl_cdf_binomial_P((unsigned)k, p, (unsigned)n);
    if (!isnan(cdf))
        return cdf;
    /* GSL's continued fraction gives up near the mean of a large n; the normal limit is exact
     * enough there, since the quantiles looked for lie far out. */
    double mean = (double)n * p;
    return gsl_cdf_ugaussian_P(((double)k + .5 - mean) / sqrt(mean * (1 - p)));
}

uint64_t stats_binomial_quantile(double prob, uint64_t n, double p)
{
    uint64_t lo = 0, hi = n; /* the answer is in [lo, hi] */
    while (lo < hi) {
        uint64_t middle = lo + (hi - lo) / 2;
        if (binomial_cdf(middle, n, p) >= prob)
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

void stats_binomial_ranks(uint64_t n, double p, double level, uint64_t *l, uint64_t *u)
{
    *l = stats_binomial_quantile((1 - level) / 2, n, p);
    *u = stats_binomial_quantile((1 + level) / 2, n, p) + 1;
}

/* Ranks of the CI at one level, and n_e for it. */
static bool effective_ranks(double level, double z, struct stats_quantile *q, double p,
                            struct stats_ranks *r, uint64_t *n_e, struct err *e)
{
    *r = (struct stats_ranks){0, 0};
    double shrink = z / stats_t_quantile((1 + level) / 2, q->df);
    if (!isfinite(shrink))
        return err_set(e, "no quantile of the t distribution with %g degrees of freedom", q->df);
    /* GSL counts in unsigned; the ranks below scale with N / n_e. */
    *n_e = (uint64_t)fmin(floor((double)q->n / q->deff * shrink * shrink), UINT_MAX);
    if (*n_e == 0)
        return true;
    uint64_t l, u;
    stats_binomial_ranks(*n_e, p, level, &l, &u);
    if (l >= 1) {
        r->lo = (uint64_t)((unsigned __int128)l * (q->n + 1) / (*n_e + 1));
        if (r->lo < 1)
            r->lo = 1;
    }
    if (u <= *n_e) {
        r->hi = (uint64_t)(((unsigned __int128)u * (q->n + 1) + *n_e) / (*n_e + 1));
        if (r->hi > q->n)
            r->hi = q->n;
    }
    return true;
}

bool stats_quantile(struct stats_ratio ratio, const int64_t *n_exceed, const int64_t *n_requests,
                    size_t n_segments, const struct stats_ci *rate, struct stats_quantile *out,
                    struct err *e)
{
    *out = (struct stats_quantile){.why = ""};
    for (size_t j = 0; j < n_segments; j++)
        out->n += (uint64_t)n_requests[j];
    if (out->n == 0) {
        out->why = "no requests";
        return true;
    }
    out->rank = stats_rank(out->n, ratio);
    out->why = stats_too_few(n_segments, out->n);
    if (*out->why != '\0')
        return true;

    struct stats_bse bse;
    bool has_rate = rate != NULL && rate->m > 0;
    if (!stats_bse_counts(n_exceed, n_requests, n_segments, has_rate ? rate->m : 1, &bse,
                          &out->stretches, e))
        return false;
    if (has_rate)
        out->stretches = fmin(out->stretches, rate->stretches);
    double p = ratio_value(ratio), n = (double)out->n;
    double se = bse.se / (n / (double)n_segments);
    out->m = bse.m;
    out->df = bse.df;
    out->deff = fmax(1, se * se * n / (p * (1 - p)));
    uint64_t n_e90;
    if (!effective_ranks(.95, 1.959964, out, p, &out->r95, &out->n_e, e) ||
        !effective_ranks(.90, 1.644854, out, p, &out->r90, &n_e90, e))
        return false;
    out->ok = out->r95.lo > 0 && out->r95.hi > 0;
    if (!out->ok)
        out->why = "too few independent requests for this percentile";
    out->can_gate = out->ok && (double)out->n_e * (1 - p) >= 30;
    return true;
}

void stats_quantile_ranks(const struct stats_quantile *q, size_t ranks[5])
{
    const uint64_t wanted[5] = {q->rank, q->r95.lo, q->r95.hi, q->r90.lo, q->r90.hi};
    for (size_t i = 0; i < 5; i++)
        ranks[i] = (size_t)(wanted[i] > 0 ? wanted[i] : q->rank) - 1;
}

static void ci_from_values(const struct stats_quantile *q, const double v[5], struct stats_ci *out)
{
    *out = (struct stats_ci){.ok = q->ok,
                             .why = q->why,
                             .value = v[0],
                             .se = NAN,
                             .df = q->df,
                             .m = q->m,
                             .stretches = q->stretches};
    out->lo = q->r95.lo > 0 ? v[1] : -INFINITY;
    out->hi = q->r95.hi > 0 ? v[2] : INFINITY;
    /* Each level has its own n_e, so rounding may put the 90 % ranks outside the 95 % ranks. */
    out->lo90 = fmax(out->lo, q->r90.lo > 0 ? v[3] : -INFINITY);
    out->hi90 = fmin(out->hi, q->r90.hi > 0 ? v[4] : INFINITY);
}

void stats_quantile_ci(const struct stats_quantile *q, const int64_t values[5],
                       struct stats_ci *out)
{
    double v[5];
    for (size_t i = 0; i < 5; i++)
        v[i] = (double)values[i];
    ci_from_values(q, v, out);
}

bool stats_median_segment(const double *x, size_t n, struct stats_ci *out, struct err *e)
{
    const struct stats_ratio half = {1, 2};
    struct stats_quantile plan;

    *out = stats_no_ci(NAN, "no segments");
    if (n == 0)
        return true;
    double *sorted = NULL;
    int64_t *above = NULL, *one = NULL;
    bool ok = mem_new(&sorted, n, e) && mem_new(&above, n, e) && mem_new(&one, n, e);
    if (!ok)
        goto done;
    for (size_t i = 0; i < n; i++)
        sorted[i] = x[i];
    gsl_sort(sorted, 1, n);
    double median = sorted[stats_rank(n, half) - 1];
    for (size_t i = 0; i < n; i++) {
        above[i] = x[i] > median;
        one[i] = 1;
    }
    ok = stats_quantile(half, above, one, n, NULL, &plan, e);
    if (ok) {
        size_t ranks[5];
        double v[5];

        stats_quantile_ranks(&plan, ranks);
        for (size_t i = 0; i < 5; i++)
            v[i] = sorted[ranks[i]];
        ci_from_values(&plan, v, out);
        out->stretches = 0; /* what happens once hardly moves a median segment */
    }
done:
    free(sorted);
    free(above);
    free(one);
    return ok;
}

/* ---- Coordinated omission ---- */

/* Number of values that a latency counts as. */
static uint64_t co_values(int64_t v, int64_t interval)
{
    return v >= interval ? (uint64_t)(v / interval) : 1;
}

uint64_t stats_co_count(const int64_t *v, size_t n, int64_t interval)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        if (__builtin_add_overflow(sum, co_values(v[i], interval), &sum))
            return UINT64_MAX;
    return sum;
}

/* Number of values <= x after the correction. */
static unsigned __int128 co_count_to(const int64_t *v, size_t n, int64_t interval, int64_t x)
{
    unsigned __int128 sum = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t values = co_values(v[i], interval);
        uint64_t above = v[i] > x ? (uint64_t)((v[i] - x - 1) / interval) + 1 : 0;

        sum += above < values ? values - above : 0;
    }
    return sum;
}

int64_t stats_co_value(const int64_t *v, size_t n, int64_t interval, uint64_t rank)
{
    int64_t lo = 0, hi = v[0];

    for (size_t i = 1; i < n; i++)
        if (v[i] > hi)
            hi = v[i];
    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2;
        if (co_count_to(v, n, interval, middle) >= rank)
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}
