#include "analyze/findings/slow_excess.h"

#include "analyze/stats/stats.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>

#define PER_CELL  16        /* samples that a party should have in a period */
#define MOST_KEPT (1 << 17) /* values, one per stratum, party and period */

/* The excess in the requests of one stratum. */
struct slow_stratum {
    size_t n_blocks; /* of a period; 0: not filled */
    double *n, *r;   /* party x period: samples, and n times their excess */
};

static void stratum_fini(struct slow_stratum *x)
{
    free(x->n);
    free(x->r);
    *x = (struct slow_stratum){0};
}

bool slow_compared_init(struct slow_compared *x, const struct search *s,
                        const struct course_parties *p, struct err *e)
{
    *x = (struct slow_compared){.s = s, .p = p};
    return mem_cleared(&x->strata, s->c->n_strata, e);
}

void slow_compared_fini(struct slow_compared *x)
{
    for (size_t k = 0; x->strata != NULL && k < x->s->c->n_strata; k++)
        stratum_fini(&x->strata[k]);
    free(x->strata);
}

/* Adds to x the excess of each party's mean over the lower median of the other parties' means. */
static void add_excess(struct slow_stratum *x, size_t n_parties, size_t n_periods, size_t j,
                       const struct period_samples *of_party, double *means)
{
    size_t m = 0;
    for (size_t k = 0; k < n_parties; k++)
        if (of_party[k].n > 0)
            means[m++] = of_party[k].log_sum / of_party[k].n;
    if (m < 2)
        return;
    /* The lower median of the other m - 1 parties: leaving out a party at or below it moves the
     * median up by one. */
    double lower = stats_select(means, m, (m - 2) / 2);
    double upper = stats_select(means, m, (m - 2) / 2 + 1);
    for (size_t k = 0; k < n_parties; k++) {
        double n = of_party[k].n, mean = of_party[k].log_sum / n;
        if (n == 0)
            continue;
        x->n[k * n_periods + j] = n;
        x->r[k * n_periods + j] = n * (mean - (mean <= lower ? upper : lower));
    }
}

static bool stratum_fill(struct slow_stratum *x, const struct slow_compared *of, size_t stratum,
                         struct periods periods, struct err *e)
{
    size_t n_parties = of->p->n;
    struct period_samples *of_party = NULL;
    double *means = NULL;

    if (x->n_blocks == periods.n_blocks)
        return true;
    stratum_fini(x);
    bool ok = mem_cleared(&x->n, n_parties * periods.n, e) &&
              mem_cleared(&x->r, n_parties * periods.n, e) && mem_new(&of_party, n_parties, e) &&
              mem_new(&means, n_parties, e);
    for (size_t j = 0; ok && j < periods.n; j++) {
        if (search_period_free_frac(of->s, periods, j, FINDING_MASK_STALL) < .9)
            continue;
        search_sum_samples(of->s->c, of->p, stratum, periods, j, of_party);
        add_excess(x, n_parties, periods.n, j, of_party, means);
    }
    x->n_blocks = periods.n_blocks;
    free(of_party);
    free(means);
    return ok;
}

/* Fills in the excess over the periods of x. */
static bool fill(struct excess *x, struct slow_compared *of, struct strata strata, struct err *e)
{
    size_t n = of->p->n * x->periods.n;
    bool ok = mem_cleared(&x->n, n, e) && mem_cleared(&x->r, n, e);

    for (size_t k = strata.first; ok && k < strata.end; k++) {
        struct slow_stratum *one = &of->strata[k];

        ok = stratum_fill(one, of, k, x->periods, e);
        for (size_t i = 0; ok && i < n; i++) {
            x->n[i] += one->n[i];
            x->r[i] += one->r[i];
        }
        if (n * of->s->c->n_strata > MOST_KEPT)
            stratum_fini(one);
    }
    for (size_t i = 0; ok && i < n; i++)
        x->r[i] = x->n[i] > 0 ? x->r[i] / x->n[i] : 0;
    return ok;
}

/* Sets lrv to the lower median of the parties' long-run variances, in which slow parties do not
 * count. */
static bool fill_lrv(struct excess *x, size_t n_parties, struct err *e)
{
    double *used = NULL, *v = NULL;
    size_t n_known = 0;
    bool ok = mem_new(&used, x->periods.n, e) && mem_new(&v, n_parties, e);

    for (size_t k = 0; ok && k < n_parties; k++) {
        size_t m = 0;
        for (size_t i = k * x->periods.n; i < (k + 1) * x->periods.n; i++)
            if (x->n[i] > 0)
                used[m++] = x->r[i];
        if (m > 0)
            v[n_known++] = search_long_run_variance(used, m);
    }
    x->lrv = n_known > 0 ? stats_select(v, n_known, (n_known - 1) / 2) : 0;
    free(used);
    free(v);
    return ok;
}

bool slow_excess_init(struct excess *x, struct slow_compared *of, struct strata strata,
                      struct err *e)
{
    const struct course *c = of->s->c;
    struct samples all = search_samples(of->s, strata);
    double busy = 0, busy_all = 0;

    *x = (struct excess){.sd = search_sd(&all)};
    for (size_t k = 0; k < c->n_strata; k++) {
        struct samples one = search_samples(of->s, (struct strata){k, k + 1});
        double t = one.n > 0 ? one.n * exp(one.sum / one.n) : 0;

        busy_all += t;
        busy += k >= strata.first && k < strata.end ? t : 0;
    }
    x->share = busy_all > 0 ? busy / busy_all : 0;
    double periods = all.n / (double)of->p->n / (double)(strata.end - strata.first) / PER_CELL;
    x->periods = search_periods(c, fmin(fmax(periods, 8), (double)c->n_blocks));
    return fill(x, of, strata, e) && fill_lrv(x, of->p->n, e);
}

bool slow_excess_init_like(struct excess *x, struct slow_compared *of, struct strata strata,
                           const struct excess *like, struct err *e)
{
    *x = (struct excess){.periods = like->periods, .sd = like->sd};
    return fill(x, of, strata, e) && fill_lrv(x, of->p->n, e);
}

void slow_excess_fini(struct excess *x)
{
    free(x->n);
    free(x->r);
}
