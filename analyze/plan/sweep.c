#include "analyze/plan/decide.h"
#include "analyze/plan/plan_internal.h"

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
