#include "analyze/stats/stats.h"

#include "analyze/stats/stats_internal.h"
#include "libcommon/mem.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

/* Half the width of a two-sided interval of 95 and of 90 %, in standard errors. */
#define Z_95   1.96
#define Z_90   1.645
/* A change of so many standard errors is found in 80 % of tests at 5 %: z(.975) + z(.8). */
#define MDE_SE 2.8

bool stats_history_sigma(const double *values, size_t n, double *sigma)
{
    if (n < 3)
        return false;
    double mean = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(values[i] > 0))
            return false;
        mean += log(values[i]) / (double)n;
    }
    for (size_t i = 0; i < n; i++)
        sum += (log(values[i]) - mean) * (log(values[i]) - mean);
    *sigma = sqrt(sum / (double)(n - 1));
    return true;
}

void stats_welch(double v_a, double df_a, double v_b, double df_b, double extra, double *v,
                 double *df)
{
    *v = v_a + v_b + extra;
    double spread = v_a * v_a / df_a + v_b * v_b / df_b;
    *df = spread > 0 ? *v * *v / spread : INFINITY;
}

/* Cuts limits of a difference of fractions off where none can be. */
static void cut_off(struct stats_cmp *c)
{
    if (!c->is_difference)
        return;
    c->lo = fmax(c->lo, -1);
    c->lo90 = fmax(c->lo90, -1);
    c->hi = fmin(c->hi, 1);
    c->hi90 = fmin(c->hi90, 1);
}

void stats_t_test(struct stats_cmp *c)
{
    c->t = c->theta / c->se;
    c->p = stats_dist_t_two_sided(c->t, c->df);
    double half = stats_t_quantile(.975, c->df) * c->se;
    double half90 = stats_t_quantile(.95, c->df) * c->se;
    c->lo = c->theta - half;
    c->hi = c->theta + half;
    c->lo90 = c->theta - half90;
    c->hi90 = c->theta + half90;
    cut_off(c);
}

/* MOVER (docs/how-the-numbers-are-made.md, section 8) on the logs: the distances from theta to its
 * limits, computed from the limits of the two quantiles and widened by run noise. z is Z_95 or
 * Z_90. */
struct reach {
    double down, up;
};

static double log_ratio(double larger, double smaller)
{
    return smaller > 0 ? log(larger / smaller) : INFINITY;
}

/* Returns by how much the log of down / up may be lower, as their bounds leave it open. */
static double slack_of(const struct stats_ci *down, const struct stats_ci *up)
{
    return (down->below > 0 ? log_ratio(down->value, down->value - down->below) : 0) +
           (up->above > 0 ? log_ratio(up->value + up->above, up->value) : 0);
}

static struct reach mover(const struct stats_ci *a, double a_lo, double a_hi,
                          const struct stats_ci *b, double b_lo, double b_hi, double z,
                          double sigma)
{
    double run = sqrt(2) * z * sigma;
    double a_least = a->value - a->below, a_most = a->value + a->above;
    double b_least = b->value - b->below, b_most = b->value + b->above;

    /* Bounds are no noise: they add up. */
    return (struct reach){
        slack_of(b, a) + hypot(hypot(log_ratio(b_least, b_lo), log_ratio(a_hi, a_most)), run),
        slack_of(a, b) + hypot(hypot(log_ratio(b_hi, b_most), log_ratio(a_least, a_lo)), run),
    };
}

/* Variance of an estimate's log; for STATS_DIFFERENCE, of the fraction itself. That of a quantile
 * follows from the width of its 95 % CI. */
static double run_variance(enum stats_method method, const struct stats_ci *r)
{
    double se = method == STATS_QUANTILES ? log_ratio(r->hi, r->lo) / 2 / Z_95
                : method == STATS_MEANS   ? r->se / r->value
                                          : r->se;
    return se * se;
}

/* Variance that run noise adds on both sides together. */
static double noise_variance(enum stats_method method, const struct stats_ci *a,
                             const struct stats_ci *b, double sigma)
{
    double scale = method == STATS_DIFFERENCE ? a->value * a->value + b->value * b->value : 2;
    return sigma * sigma * scale;
}

/* Tests theta with c->method and the given noise. */
static void test_single(struct stats_cmp *c, const struct stats_ci *a, const struct stats_ci *b,
                        struct stats_noise noise)
{
    double noise_v = noise_variance(c->method, a, b, noise.sigma);
    bool is_bounded = a->below + a->above + b->below + b->above > 0;
    bool by_history = noise.kind == STATS_NOISE_HISTORY && !is_bounded;

    if (c->method == STATS_QUANTILES && !by_history) {
        struct reach r = mover(a, a->lo, a->hi, b, b->lo, b->hi, Z_95, noise.sigma);
        struct reach r90 = mover(a, a->lo90, a->hi90, b, b->lo90, b->hi90, Z_90, noise.sigma);

        c->lo = c->theta - r.down;
        c->hi = c->theta + r.up;
        c->lo90 = c->theta - r90.down;
        c->hi90 = c->theta + r90.up;
        c->se = (r.down + r.up) / (2 * Z_95);
        c->df = INFINITY;
        /* By the limit on the side of zero, so that p is below 5 % if the interval leaves zero out.
         */
        c->t = c->theta * stats_t_quantile(.975, c->df) / (c->theta > 0 ? r.down : r.up);
        c->p = stats_dist_t_two_sided(c->t, c->df);
        return;
    }
    double v_a = run_variance(c->method, a), v_b = run_variance(c->method, b), v;
    if (by_history) {
        v = fmax(noise_v, v_a + v_b);
        c->df = (double)noise.n_history - 1;
    } else {
        stats_welch(v_a, a->df, v_b, b->df, noise_v, &v, &c->df);
    }
    c->se = sqrt(v);
    stats_t_test(c);
}

/* The largest sigma_run in [0, 1] at which p stays below alpha. */
static double break_even(const struct stats_cmp *c, const struct stats_ci *a,
                         const struct stats_ci *b, double alpha)
{
    struct stats_cmp trial = *c;
    if (!(c->p < alpha))
        return 0;
    double lo = 0, hi = 1;
    test_single(&trial, a, b, (struct stats_noise){STATS_NOISE_CV, hi, 0});
    if (trial.p < alpha)
        return hi;
    for (int i = 0; i < 60; i++) {
        double middle = (lo + hi) / 2;
        test_single(&trial, a, b, (struct stats_noise){STATS_NOISE_CV, middle, 0});
        if (trial.p < alpha)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

void stats_cmp_single(enum stats_method method, const struct stats_ci *a, const struct stats_ci *b,
                      struct stats_noise noise, struct stats_cmp *out)
{
    *out = stats_no_cmp(method, 1, 1, method == STATS_DIFFERENCE);
    if (noise.kind == STATS_NOISE_UNKNOWN)
        noise.sigma = 0;
    out->noise = noise;
    if (out->is_difference)
        out->theta = b->value - a->value;
    else if (a->value > 0 && b->value > 0)
        out->theta = log(b->value / a->value);
    if (!a->ok || !b->ok)
        out->why = !a->ok ? a->why : b->why;
    else if (isnan(out->theta))
        out->why = "a value is not positive";
    else if (run_variance(method, a) + run_variance(method, b) == 0)
        out->why = "no variation within either run";
    if (*out->why != '\0')
        return;
    test_single(out, a, b, noise);
    if (isnan(out->p) || isnan(out->lo) || isnan(out->hi)) {
        out->why = "the test could not be computed";
        return;
    }
    out->ok = true;
    if (noise.kind == STATS_NOISE_UNKNOWN)
        out->break_even = break_even(out, a, b, .05);
}

void stats_loosen(struct stats_cmp *c, double slack)
{
    if (!c->ok || !(slack > 0))
        return;
    /* By the narrower interval, that of 90 %: that of 95 % becomes a little wider. */
    c->se += slack / stats_t_quantile(.95, c->df);
    stats_t_test(c);
}

void stats_widen(struct stats_cmp *c, double alpha)
{
    if (c->se == 0) {
        bool bounded = c->p < alpha || c->theta == 0;
        c->lo = bounded ? c->theta : -INFINITY;
        c->hi = bounded ? c->theta : INFINITY;
        return;
    }
    double factor = stats_t_quantile(1 - alpha / 2, c->df) / stats_t_quantile(.975, c->df);
    c->lo = c->theta - factor * (c->theta - c->lo);
    c->hi = c->theta + factor * (c->hi - c->theta);
    cut_off(c);
}

void stats_adjust(struct stats_cmp *c, const struct stats_ci *a, const struct stats_ci *b,
                  double p_adjusted)
{
    double alpha = p_adjusted > c->p ? .05 * c->p / p_adjusted : .05;

    stats_widen(c, alpha);
    if (!isnan(c->break_even))
        c->break_even = break_even(c, a, b, alpha);
}

bool stats_holm(double *p, size_t n, struct err *e)
{
    size_t *order, m = 0;
    double adjusted = 0;

    if (!mem_new(&order, n, e))
        return false;
    for (size_t i = 0; i < n; i++) {
        m += !isnan(p[i]);
        p[i] = isnan(p[i]) ? INFINITY : p[i]; /* the last ones */
    }
    gsl_sort_index(order, p, 1, n);
    for (size_t i = 0; i < n; i++) {
        adjusted = fmin(1, fmax(adjusted, (double)(m - i) * p[order[i]]));
        p[order[i]] = i < m ? adjusted : NAN;
    }
    free(order);
    return true;
}

static bool is_single(const struct stats_cmp *c)
{
    return c->n_a == 1 && c->n_b == 1;
}

bool stats_is_same(const struct stats_cmp *c, double delta)
{
    double lo = c->is_difference ? -delta : log(1 - delta);
    double hi = c->is_difference ? delta : log(1 + delta);

    return c->ok && delta > 0 && c->lo90 > lo && c->hi90 < hi;
}

enum stats_verdict stats_verdict(const struct stats_cmp *c, struct stats_question q, bool *beyond)
{
    *beyond = false;
    if (!c->ok)
        return STATS_NOT_ENOUGH_DATA;
    bool unknown = is_single(c) && c->noise.kind == STATS_NOISE_UNKNOWN;
    if (stats_is_same(c, q.delta))
        return unknown ? STATS_SAME_WITHIN_RUN : STATS_SAME;
    if (c->lo <= 0 && c->hi >= 0)
        return STATS_INCONCLUSIVE;
    if (unknown)
        return STATS_DIFFERS;
    *beyond = q.delta > 0 && (c->lo > (c->is_difference ? q.delta : log(1 + q.delta)) ||
                              c->hi < (c->is_difference ? -q.delta : log(1 - q.delta)));
    return (c->theta > 0) == q.up_is_better ? STATS_BETTER : STATS_WORSE;
}

double stats_mde_single(const struct stats_cmp *c)
{
    return c->is_difference ? MDE_SE * c->se : expm1(MDE_SE * c->se);
}

double stats_p_worse(const struct stats_cmp *c, double limit, bool up_is_better)
{
    if (!c->ok)
        return NAN;
    if (c->se == 0)
        return up_is_better == (c->theta < limit) && c->theta != limit ? c->p / 2 : 1;
    double t = (c->theta - limit) / c->se;
    return stats_dist_t_upper(up_is_better ? -t : t, c->df);
}

double stats_gate_limit(double worsening, bool up_is_better)
{
    return up_is_better ? log1p(-worsening) : log1p(worsening);
}

bool stats_gate_passes(const struct stats_cmp *c, double limit, bool up_is_better)
{
    return c->ok && (up_is_better ? c->lo90 > limit : c->hi90 < limit);
}

bool stats_gate_decide(const struct stats_gate *g, size_t n, enum exit_code *code, struct err *e)
{
    double *p;
    if (!mem_new(&p, n, e))
        return false;
    bool all_pass = true, unknown = false, worse = false;
    for (size_t i = 0; i < n; i++) {
        p[i] = g[i].p_worse;
        all_pass = all_pass && g[i].passes;
        unknown = unknown || (is_single(g[i].cmp) && g[i].cmp->noise.kind == STATS_NOISE_UNKNOWN);
    }
    bool ok = stats_holm(p, n, e);
    for (size_t i = 0; ok && i < n; i++)
        worse = worse || p[i] < .025;
    if (ok)
        *code = unknown    ? EXIT_UNDECIDED
                : worse    ? EXIT_FAILED
                : all_pass ? EXIT_DONE
                           : EXIT_UNDECIDED;
    free(p);
    return ok;
}
