#include "analyze/tools/plan/plan_internal.h"

#include <math.h>

#define BLOCK 4 /* runs: two pairs, with one run of each side */

/* Fills the changes of gate g from pair to pair. Returns how many looks there were at them. */
static size_t pair(const struct plan_point *v, size_t n, size_t g, double change[PLAN_MOST_RUNS])
{
    struct stats_turn turns[PLAN_MOST_RUNS];
    double mean[PLAN_MOST_RUNS];
    size_t m;

    for (size_t i = 0; i < n; i++)
        turns[i] = (struct stats_turn){(int64_t)i, (int64_t)i, v[i].metric[g], v[i].level > 0};
    stats_pair(turns, n, change, mean, &m);
    return m < BLOCK ? 0 : m / 2 - 1;
}

struct plan_judged plan_ab_judge(const struct plan_gate *gates, size_t n_gates, size_t g,
                                 const struct plan_point *v, size_t n)
{
    double change[PLAN_MOST_RUNS];
    size_t k = pair(v, n, g, change);
    struct plan_judged x = {SLO_UNDECIDED, k, NAN, NAN, NAN, NAN};
    struct stats_cmp c;
    struct err e;

    if (k < 1 || !stats_cmp_pairs(change, 2 * (k + 1), false, &c, &e))
        return x;
    x.alpha = PLAN_ALPHA / (double)(k * (k + 1)) / (double)n_gates;
    x.theta = c.theta;
    stats_widen(&c, x.alpha);
    if (!c.ok || !isfinite(c.lo))
        return x;
    x.lo = c.lo;
    x.hi = c.hi;
    double worse = gates[g].up_is_better ? -x.hi : x.lo,
           worst = gates[g].up_is_better ? -x.lo : x.hi;
    if (worst < gates[g].limit)
        x.answer = SLO_MET;
    else if (worse > 0 && (gates[g].up_is_better ? -x.theta : x.theta) > gates[g].limit)
        x.answer = SLO_MISSED;
    return x;
}

enum slo_verdict plan_ab_answer(const struct plan_gate *gates, size_t n_gates,
                                const struct plan_point *v, size_t n)
{
    enum slo_verdict all = n_gates > 0 ? SLO_MET : SLO_UNDECIDED; /* no run, no gates */

    for (size_t g = 0; g < n_gates && all != SLO_MISSED; g++) {
        enum slo_verdict one = plan_ab_judge(gates, n_gates, g, v, n).answer;
        all = one != SLO_MET ? one : all;
    }
    return all;
}

struct plan_next plan_ab_next(const struct plan_gate *gates, size_t n_gates, size_t max_runs,
                              uint64_t seed, const struct plan_point *v, size_t n)
{
    static const bool orders[2][BLOCK] = {{0, 1, 1, 0}, {1, 0, 0, 1}};
    bool whole = n % BLOCK == 0;
    const bool *order = orders[plan_random(seed, n / BLOCK) & 1];

    if (whole && n > 0 &&
        (n + BLOCK > 2 * max_runs || plan_ab_answer(gates, n_gates, v, n) != SLO_UNDECIDED))
        return (struct plan_next){.done = true};
    return (struct plan_next){.level = order[n % BLOCK]};
}
