#include "analyze/tools/plan/plan_internal.h"

#include <math.h>

#define BLOCK 4 /* runs: two pairs, with one run of each side */

/* Returns the i-th run of a side; NULL: there is none. So pairs are right also if a capture was
 * lost. */
static const struct plan_point *nth(const struct plan_point *v, size_t n, double side, size_t i)
{
    for (size_t k = 0; k < n; k++)
        if (v[k].level == side && i-- == 0)
            return &v[k];
    return NULL;
}

size_t plan_ab_looks(const struct plan_point *v, size_t n)
{
    size_t n_pairs = 0;

    while (nth(v, n, 0, n_pairs) != NULL && nth(v, n, 1, n_pairs) != NULL)
        n_pairs++;
    return n_pairs < BLOCK ? 0 : n_pairs / 2 - 1;
}

struct plan_judged plan_ab_judge(const struct plan_gate *gates, size_t n_gates, size_t g,
                                 const struct plan_point *v, size_t n)
{
    struct plan_judged x = {SLO_UNDECIDED, NAN, NAN, NAN, NAN};
    double mean = 0, squares = 0, k = (double)plan_ab_looks(v, n), m = 2 * (k + 1);

    if (k < 1)
        return x;
    for (size_t i = 0; (double)i < m; i++) {
        double change = nth(v, n, 1, i)->metric[g] - nth(v, n, 0, i)->metric[g];
        double off = change - mean;

        mean += off / (double)(i + 1);
        squares += off * (change - mean);
    }
    x.alpha = PLAN_ALPHA / (k * (k + 1)) / (double)n_gates;
    x.theta = mean;
    double half = stats_t_quantile(1 - x.alpha / 2, m - 1) * sqrt(squares / (m - 1) / m);
    if (!isfinite(half))
        return x;
    x.lo = x.theta - half;
    x.hi = x.theta + half;
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
