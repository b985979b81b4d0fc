#include "analyze/tools/plan/plan_internal.h"

#include <math.h>

/* Returns how many of the points have this level. */
static size_t n_at(const struct plan_point *v, size_t n, double level)
{
    size_t at = 0;

    for (size_t i = 0; i < n; i++)
        at += v[i].level == level;
    return at;
}

struct plan_next plan_sweep_next(const double *levels, size_t n_levels, size_t n_each,
                                 uint64_t seed, const struct plan_point *v, size_t n)
{
    size_t least = n_each, n_least = 0;

    for (size_t i = 0; i < n_levels; i++) {
        size_t at = n_at(v, n, levels[i]);
        n_least = at < least ? 1 : n_least + (at == least);
        least = at < least ? at : least;
    }
    if (least == n_each)
        return (struct plan_next){.done = true};
    size_t choice = plan_random(seed, n) % n_least;
    for (size_t i = 0; i < n_levels; i++)
        if (n_at(v, n, levels[i]) == least && choice-- == 0)
            return (struct plan_next){.level = levels[i]};
    return (struct plan_next){.done = true};
}

struct plan_level plan_level_of(const struct plan *p, double level)
{
    struct plan_level x = {.level = level, .least_per_s = INFINITY};

    for (size_t k = 0; k < p->n; k++) {
        const struct plan_run *r = &p->runs[k];
        if (r->why_not != NULL || r->point.level != x.level)
            continue;
        x.n++;
        x.per_s += r->point.per_s;
        x.p50_ns += r->p50_ns;
        x.p99_ns += r->p99_ns;
        x.failed_frac += r->failed_frac;
        x.in_flight += r->point.per_s * r->mean_ns / 1e9;
        x.least_per_s = fmin(x.least_per_s, r->point.per_s);
        x.most_per_s = fmax(x.most_per_s, r->point.per_s);
    }
    double n = x.n > 0 ? (double)x.n : NAN;
    x.per_s /= n;
    x.p50_ns /= n;
    x.p99_ns /= n;
    x.failed_frac /= n;
    x.in_flight /= n;
    return x;
}
