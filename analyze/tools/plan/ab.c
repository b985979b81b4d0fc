#include "analyze/tools/plan/plan_internal.h"

#include <math.h>

#define BLOCK 4 /* runs: two a side */

/* Returns the mean of the first `most` runs of a side, and the sum of squares about it. */
static double moments(const struct plan_point *v, size_t n, double side, size_t g, size_t most,
                      double *squares)
{
    double mean = 0;
    size_t count = 0;

    *squares = 0;
    for (size_t i = 0; i < n && count < most; i++) {
        if (v[i].level != side)
            continue;
        double off = v[i].metric[g] - mean;
        mean += off / (double)++count;
        *squares += off * (v[i].metric[g] - mean);
    }
    return mean;
}

struct plan_judged plan_ab_judge(const struct plan_gate *gates, size_t n_gates, size_t g,
                                 const struct plan_point *v, size_t n)
{
    struct plan_judged x = {SLO_UNDECIDED, NAN, NAN, NAN, NAN};
    size_t n_before = plan_n_at(v, n, 0), n_after = plan_n_at(v, n, 1);
    size_t looks = (n_before < n_after ? n_before : n_after) / (BLOCK / 2),
           each = looks * BLOCK / 2;
    double before, after, k = (double)looks, m = (double)each;

    if (looks == 0)
        return x;
    x.alpha = PLAN_ALPHA / (k * (k + 1)) / (double)n_gates;
    x.theta = moments(v, n, 1, g, each, &after) - moments(v, n, 0, g, each, &before);
    double se = sqrt((before + after) / (2 * m - 2) * 2 / m);
    double half = stats_t_quantile(1 - x.alpha / 2, 2 * m - 2) * se;
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
