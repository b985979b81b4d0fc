#include "analyze/findings/slow_ratio.h"

#include "analyze/stats/stats.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>

#define MOST_OF 16384 /* requests of the party, and of all; about */

/* Logarithms of the durations of requests, chosen as course_is_sampled does. */
struct sample {
    double *v;
    size_t n, cap;
    uint64_t below;
};

/* Fills in the mean logarithm of a duration (ns) of the others, by stratum, then period; 0: they
 * have no samples. */
static bool fill_usual(double **usual, const struct search *s, const struct course_parties *p,
                       const struct slow_stretch *g, struct err *e)
{
    const struct course *c = s->c;
    struct period_samples *of_party = NULL;
    bool ok = mem_cleared(usual, c->n_strata * g->periods.n, e) && mem_new(&of_party, p->n, e);

    for (size_t k = g->of.first; ok && k < g->of.end; k++)
        for (size_t j = g->first; j <= g->last; j++) {
            double n = 0, sum = 0;
            search_sum_samples(c, p, k, g->periods, j, of_party);
            for (size_t i = 0; i < p->n; i++) {
                bool counts = i != g->party && !g->is_faulty[i];
                n += counts ? of_party[i].n : 0;
                sum += counts ? of_party[i].log_sum : 0;
            }
            (*usual)[k * g->periods.n + j] = n > 0 ? sum / n : 0;
        }
    free(of_party);
    return ok;
}

/* Adds the requests of operation k within the stretch. False: out of memory. */
static bool add_table(const struct course *c, const struct course_parties *p,
                      const struct slow_stretch *g, const double *usual, size_t k,
                      struct sample *own, struct sample *others, struct err *e)
{
    const struct table *t = c->tables[k];
    size_t period_bins = (size_t)(c->block_ns / c->bin_ns) * g->periods.n_blocks;

    for (size_t i = 0; i < t->n; i++) {
        uint32_t party = p->of_place[course_place(t, i)];
        struct sample *to = party == g->party ? own : others;

        if (party == UINT32_MAX || (to == others && g->is_faulty[party]) || table_failed(t, i) ||
            !course_is_sampled(t->start[i], to->below))
            continue;
        size_t j = course_bin(c, t->start[i]) / period_bins, stratum = course_stratum(c, k, i);
        if (j < g->first || j > g->last || g->n[j] == 0)
            continue;
        double as_usual = usual[stratum * g->periods.n + j]; /* 0 of strata that do not count */
        if (as_usual == 0)
            continue;
        if (!mem_fit(&to->v, &to->cap, to->n + 1, e))
            return false;
        to->v[to->n++] = log(fmax((double)packed_get(&t->dur, i), 1)) - as_usual;
    }
    return true;
}

bool slow_ratio(const struct search *s, const struct course_parties *p,
                const struct slow_stretch *g, double *ratio, struct err *e)
{
    const struct course *c = s->c;
    struct sample own = {.below = course_sample_below(MOST_OF, (uint64_t)p->n_requests[g->party])},
                  others = {.below = course_sample_below(MOST_OF, (uint64_t)c->n)};
    double *usual = NULL;

    *ratio = 0;
    if (!c->has_requests)
        return true;
    bool ok = fill_usual(&usual, s, p, g, e);
    for (size_t k = 0; ok && k < c->n_ops; k++)
        if (c->stratum_of_table[k] < g->of.end && c->stratum_of_table[k + 1] > g->of.first)
            ok = add_table(c, p, g, usual, k, &own, &others, e);
    if (ok && own.n > 0 && others.n > 0)
        *ratio = exp(stats_select(own.v, own.n, (own.n - 1) / 2) -
                     stats_select(others.v, others.n, (others.n - 1) / 2));
    free(usual);
    free(own.v);
    free(others.v);
    return ok;
}
