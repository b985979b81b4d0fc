/* analyze/stats on comparisons: vectors V9-V13 and V17 of docs/how-the-numbers-are-made.md, section
 * 12, brute force, verdicts and the gate. */
#include "analyze/stats/stats.h"

#include "analyze/stats/exactdist.h"
#include "tests/unit/statvec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

static struct err e;

static void assert_mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b, double u,
                                double p)
{
    struct stats_mann_whitney t;
    assert_true(stats_mann_whitney(a, n_a, b, n_b, &t, &e));
    if (!isnan(u))
        assert_true(t.u == u);
    statvec_assert_close(t.p, p, DIGITS_10);
}

static void test_v9_mann_whitney(void **state)
{
    (void)state;
    assert_mann_whitney((const double[]){2, 1, 3, 5}, 4, (const double[]){0, 4, 6, 7}, 4, NAN,
                        .4857142857);
    assert_mann_whitney((const double[]){1, 2, 3, 5}, 4, (const double[]){1, 1, 1, 1, 1}, 5, 17.5,
                        .09523809524);
    assert_mann_whitney((const double[]){1}, 1, (const double[]){1, 1, 2}, 3, NAN, 1);
    assert_mann_whitney((const double[]){101, 102, 103, 103, 105}, 5,
                        (const double[]){103, 104, 106, 106, 108, 109}, 6, 3, .03030303030);
    double a[500], b[600];
    for (size_t i = 0; i < 500; i++)
        a[i] = 2 * (double)i;
    for (size_t i = 0; i < 600; i++)
        b[i] = 2 * (double)i - 41;
    assert_mann_whitney(a, 500, b, 600, 135250, .004933536081);
}

/* Compares exact p-values with all assignments of 9 values with ties. */
static void test_mann_whitney_by_brute_force(void **state)
{
    (void)state;
    const double v[9] = {3, 1, 4, 1, 5, 2, 2, 5, 2};
    const size_t n_a = 4;
    struct stats_mann_whitney t;
    assert_true(stats_mann_whitney(v, n_a, v + n_a, 9 - n_a, &t, &e));
    double le = 0, ge = 0, all = 0;
    for (unsigned bits = 0; bits < 1u << 9; bits++) {
        if (__builtin_popcount(bits) != (int)n_a)
            continue;
        double u = 0;
        for (size_t i = 0; i < 9; i++)
            for (size_t j = 0; j < 9; j++)
                if ((bits >> i & 1) != 0 && (bits >> j & 1) == 0)
                    u += v[i] > v[j] ? 1 : v[i] == v[j] ? .5 : 0;
        all++;
        le += u <= t.u;
        ge += u >= t.u;
    }
    statvec_assert_close(t.p_le, le / all, 1e-12);
    statvec_assert_close(t.p_ge, ge / all, 1e-12);
}

/* Compares the largest exact case with the normal approximation; tests the smallest p-values of
 * section 8. */
static void test_exact_limits(void **state)
{
    (void)state;
    double a[50], b[50];
    for (size_t i = 0; i < 50; i++) {
        a[i] = (double)i * 3;
        b[i] = (double)i * 3.3 + 12.1;
    }
    struct stats_mann_whitney t;
    assert_true(stats_mann_whitney(a, 50, b, 50, &t, &e));
    assert_true(t.exact);
    double z = (fabs(t.u - 1250) - .5) / sqrt(2500. / 12 * 101);
    statvec_assert_close(t.p, erfc(z / sqrt(2)), .05);
    const double smallest[] = {.02857, .00794, .00216};
    for (size_t n = 4; n <= 6; n++) {
        assert_true(stats_mann_whitney(a, n, b + 40, n, &t, &e));
        statvec_assert_close(t.p, smallest[n - 4], 3e-3);
    }
    double cdf[2501];
    assert_true(exactdist_wilcoxon_cdf(50, 50, cdf, NULL));
    statvec_assert_close(cdf[2500], 1, 1e-12);
    statvec_assert_close(cdf[1249] + cdf[1250], 1, 1e-12);
}

static const double v10_a[6] = {1842, 1850, 1829, 1861, 1838, 1847};
static const double v10_b[6] = {1701, 1688, 1723, 1695, 1710, 1840};

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns how many values of both groups are below x. */
static size_t n_below(double x)
{
    size_t n = 0;
    for (size_t i = 0; i < 6; i++)
        n += (size_t)(v10_a[i] < x) + (size_t)(v10_b[i] < x);
    return n;
}

static void test_v10_groups(void **state)
{
    (void)state;
    struct stats_cmp c;
    assert_true(stats_cmp_groups(v10_a, 6, v10_b, 6, false, &c, &e));
    assert_true(c.ok);
    assert_int_equal(c.method, STATS_MANN_WHITNEY);
    statvec_assert_close(c.p, .008658008658, DIGITS_10);
    statvec_assert_close(exp(c.theta), .9256440434, DIGITS_10);
    statvec_assert_close(exp(c.lo), .9162162162, DIGITS_10);
    statvec_assert_close(exp(c.hi), .9887157442, DIGITS_10);
    statvec_assert_close(exp(c.lo90), .9177043855, DIGITS_10);
    statvec_assert_close(exp(c.hi90), .9374319913, DIGITS_10);
    bool beyond;
    const struct stats_question rate = {true, .05}, latency = {false, .05};
    assert_int_equal(stats_verdict(&c, rate, c.p, &beyond), STATS_WORSE);
    assert_false(beyond);
    assert_int_equal(stats_verdict(&c, latency, c.p, &beyond), STATS_BETTER);
    assert_int_equal(stats_verdict(&c, rate, .06, &beyond), STATS_INCONCLUSIVE);
    const struct stats_question one = {true, .01}, wide = {true, .2};
    const struct stats_question tost = {true, .083}; /* contains the 90 % CI, but not the 95 % CI */
    assert_int_equal(stats_verdict(&c, one, c.p, &beyond), STATS_WORSE);
    assert_true(beyond);
    assert_int_equal(stats_verdict(&c, wide, c.p, &beyond), STATS_SAME);
    assert_int_equal(stats_verdict(&c, tost, c.p, &beyond), STATS_SAME);

    /* A bucket for each value, in order: as many buckets as there are values. */
    uint64_t a[12] = {0}, b[12] = {0};
    for (size_t i = 0; i < 6; i++) {
        a[n_below(v10_a[i])]++;
        b[n_below(v10_b[i])]++;
    }
    struct stats_effect effect;
    stats_effect_counts(a, b, 12, &effect);
    statvec_assert_close(effect.ks_d, .8333333333, DIGITS_10);
    statvec_assert_close(effect.p_b_less, 34. / 36, 1e-12);
    const uint64_t counts_a[] = {1, 2, 0, 1}, counts_b[] = {2, 1, 1, 0};
    stats_effect_counts(counts_a, counts_b, 4, &effect);
    statvec_assert_close(effect.ks_d, .25, 1e-12);
    /* of 16 pairs, b < a: 2*2 + 4, equal: 2 + 2 */
    statvec_assert_close(effect.p_b_less, 10. / 16, 1e-12);
}

static void test_center(void **state)
{
    (void)state;
    struct stats_center c;
    assert_true(stats_center(v10_a, 6, &c, &e));
    statvec_assert_close(c.median, 1844.5, 1e-12);
    statvec_assert_close(c.spread_frac, 1861 / 1844.5 - 1, 1e-9);
    assert_true(stats_center(v10_b, 6, &c, &e));
    statvec_assert_close(c.median, 1705.5, 1e-12);
    statvec_assert_close(c.spread_frac, 1840 / 1705.5 - 1, 1e-9);
    assert_true(stats_center(v10_b, 5, &c, &e));
    assert_true(isinf(c.spread_frac));
}

static struct stats_ci mean_ci(double value, double se, double df)
{
    return (struct stats_ci){.ok = true, .why = "", .value = value, .se = se, .df = df};
}

static const struct stats_noise unknown = {STATS_NOISE_UNKNOWN, 0, 0};

static void test_v11_means(void **state)
{
    (void)state;
    struct stats_ci a = mean_ci(1000, 12, 11), b = mean_ci(940, 15, 17);
    struct stats_cmp c;
    stats_cmp_single(STATS_MEANS, &a, &b, unknown, &c);
    assert_true(c.ok);
    statvec_assert_close(c.t, -3.099042623, DIGITS_10);
    statvec_assert_close(c.df, 27.88305342, DIGITS_10);
    statvec_assert_close(c.p, .004402702, DIGITS_7);
    statvec_assert_close(exp(c.lo), .9023240409, DIGITS_10);
    statvec_assert_close(exp(c.hi), .9792490945, DIGITS_10);
    stats_cmp_single(STATS_MEANS, &a, &b, (struct stats_noise){STATS_NOISE_CV, .02, 0}, &c);
    statvec_assert_close(c.p, .07510619, DIGITS_7);
    statvec_assert_close(exp(c.lo), .8780432644, DIGITS_10);
    statvec_assert_close(exp(c.hi), 1.006328544, DIGITS_10);
    assert_true(isnan(c.break_even));
    statvec_assert_close(stats_mde_single(&c), exp(2.8 * c.se) - 1, 1e-12);
}

static void test_v17_break_even(void **state)
{
    (void)state;
    struct stats_ci a = mean_ci(1000, 12, 11), b = mean_ci(940, 15, 17);
    struct stats_cmp c;
    bool beyond;
    const struct stats_question rate = {true, .05};
    stats_cmp_single(STATS_MEANS, &a, &b, unknown, &c);
    statvec_assert_close(c.break_even, .0170852358, DIGITS_9);
    assert_int_equal(stats_verdict(&c, rate, c.p, &beyond), STATS_DIFFERS);
    struct stats_ci x = mean_ci(1000, 5, 30), y = mean_ci(800, 6, 30);
    stats_cmp_single(STATS_MEANS, &x, &y, unknown, &c);
    statvec_assert_close(c.break_even, .0802519183, DIGITS_9);
    b.value = 990;
    stats_cmp_single(STATS_MEANS, &a, &b, unknown, &c);
    assert_true(c.break_even == 0);
    assert_int_equal(stats_verdict(&c, rate, c.p, &beyond), STATS_SAME_WITHIN_RUN);
    b.se = 60;
    stats_cmp_single(STATS_MEANS, &a, &b, unknown, &c);
    assert_int_equal(stats_verdict(&c, rate, c.p, &beyond), STATS_INCONCLUSIVE);
    y = mean_ci(1e-9, 1e-12, 30);
    stats_cmp_single(STATS_MEANS, &x, &y, unknown, &c);
    assert_true(c.break_even == 1);
    double sigma;
    assert_true(stats_history_sigma(v10_a, 6, &sigma));
    statvec_assert_close(sigma, .0059249788, DIGITS_9);
    assert_false(stats_history_sigma(v10_a, 2, &sigma));
    assert_false(stats_history_sigma((const double[]){1, 0, 2}, 3, &sigma));
}

static void test_history(void **state)
{
    (void)state;
    struct stats_ci a = mean_ci(1000, 12, 11), b = mean_ci(940, 15, 17);
    struct stats_cmp c;
    stats_cmp_single(STATS_MEANS, &a, &b, (struct stats_noise){STATS_NOISE_HISTORY, .05, 5}, &c);
    statvec_assert_close(c.se, .05 * sqrt(2), 1e-12);
    assert_true(c.df == 4);
    stats_cmp_single(STATS_MEANS, &a, &b, (struct stats_noise){STATS_NOISE_HISTORY, .001, 5}, &c);
    statvec_assert_close(c.se, hypot(.012, 15. / 940), 1e-12); /* never below the runs' own */
    struct stats_ci q = {.ok = true,
                         .why = "",
                         .value = 10,
                         .lo = 10 / exp(.196),
                         .hi = 10 * exp(.196),
                         .lo90 = 9,
                         .hi90 = 11};
    stats_cmp_single(STATS_QUANTILES, &q, &q, (struct stats_noise){STATS_NOISE_HISTORY, .001, 5},
                     &c);
    statvec_assert_close(c.se, .1 * sqrt(2), 1e-12);
    assert_true(c.p == 1);
}

static void test_v12_mover(void **state)
{
    (void)state;
    struct stats_ci a = {
        .ok = true, .why = "", .value = 10, .lo = 9.5, .hi = 10.8, .lo90 = 9.6, .hi90 = 10.7};
    struct stats_ci b = {
        .ok = true, .why = "", .value = 11.2, .lo = 10.7, .hi = 12.1, .lo90 = 10.8, .hi90 = 12};
    struct stats_cmp c;
    stats_cmp_single(STATS_QUANTILES, &a, &b, unknown, &c);
    assert_true(c.ok);
    statvec_assert_close(exp(c.theta), 1.12, 1e-12);
    statvec_assert_close(exp(c.lo), 1.024123416, DIGITS_10);
    statvec_assert_close(exp(c.hi), 1.228866072, DIGITS_10);
    statvec_assert_close(c.p, erfc(3.92 * c.theta / (c.hi - c.lo) / sqrt(2)), 1e-9);
    assert_true(c.break_even > 0);
    struct stats_cmp wide;
    stats_cmp_single(STATS_QUANTILES, &a, &b, (struct stats_noise){STATS_NOISE_CV, .03, 0}, &wide);
    statvec_assert_close(wide.theta - wide.lo, hypot(c.theta - c.lo, 1.96 * .03 * sqrt(2)), 1e-12);
    statvec_assert_close(wide.hi90 - wide.theta, hypot(c.hi90 - c.theta, 1.645 * .03 * sqrt(2)),
                         1e-12);
    a.lo = 0; /* no information below */
    stats_cmp_single(STATS_QUANTILES, &a, &b, unknown, &c);
    assert_true(c.ok && isinf(c.hi) && c.p == 1);
}

static void test_comparisons_without_an_answer(void **state)
{
    (void)state;
    struct stats_ci a = mean_ci(1000, 0, 11), b = mean_ci(940, 0, 17);
    struct stats_cmp c;
    bool beyond;
    const struct stats_question rate = {true, .05};
    stats_cmp_single(STATS_MEANS, &a, &b, (struct stats_noise){STATS_NOISE_CV, .02, 0}, &c);
    assert_false(c.ok); /* both errors are 0 */
    assert_int_equal(stats_verdict(&c, rate, c.p, &beyond), STATS_NOT_ENOUGH_DATA);
    b.se = 5;
    stats_cmp_single(STATS_MEANS, &a, &b, unknown, &c);
    assert_true(c.ok);
    statvec_assert_close(c.df, 17, 1e-12);
    b.value = 0;
    stats_cmp_single(STATS_MEANS, &a, &b, unknown, &c);
    assert_false(c.ok);
    b.value = 940;
    b.ok = false;
    b.why = "fewer than 20 segments";
    stats_cmp_single(STATS_MEANS, &a, &b, unknown, &c);
    assert_string_equal(c.why, "fewer than 20 segments");
    statvec_assert_close(exp(c.theta), .94, 1e-12); /* the ratio is still known */
    assert_true(stats_cmp_groups(v10_a, 1, v10_b, 2, false, &c, &e));
    assert_false(c.ok);
    const double zero[] = {0, 1, 2, 3};
    assert_true(stats_cmp_groups(zero, 4, v10_b, 4, false, &c, &e));
    assert_false(c.ok);
    assert_true(stats_cmp_groups(zero, 4, v10_b, 4, true, &c, &e));
    assert_true(c.ok && c.is_difference);
    const double flat[] = {5, 5, 5};
    assert_true(stats_cmp_groups(flat, 3, flat, 3, false, &c, &e));
    assert_false(c.ok);
}

static void test_error_rates(void **state)
{
    (void)state;
    struct stats_ci a = mean_ci(.01, .001, 20), b = mean_ci(.02, .002, 20);
    struct stats_cmp c;
    stats_cmp_single(STATS_DIFFERENCE, &a, &b, unknown, &c);
    assert_true(c.ok && c.is_difference);
    statvec_assert_close(c.theta, .01, 1e-12);
    statvec_assert_close(c.se, hypot(.001, .002), 1e-12);
    assert_true(c.break_even > 0);
}

static void test_small_groups(void **state)
{
    (void)state;
    struct stats_cmp c;
    /* Welch by hand: logs 0, .1, .2 against .3, .5. */
    const double a[] = {1, exp(.1), exp(.2)}, b[] = {exp(.3), exp(.5)};
    assert_true(stats_cmp_groups(a, 3, b, 2, false, &c, &e));
    assert_int_equal(c.method, STATS_WELCH);
    double va = .01 / 3, vb = .02 / 2;
    statvec_assert_close(c.theta, .3, 1e-12);
    statvec_assert_close(c.se, sqrt(va + vb), 1e-12);
    statvec_assert_close(c.df, (va + vb) * (va + vb) / (va * va / 2 + vb * vb), 1e-12);
    statvec_assert_close(c.sd, sqrt((2 * .01 + .02) / 3), 1e-12);
    /* One run against three: the error of predicting one. */
    assert_true(stats_cmp_groups(a, 3, b, 1, false, &c, &e));
    assert_int_equal(c.method, STATS_ONE_MANY);
    statvec_assert_close(c.theta, .2, 1e-12);
    statvec_assert_close(c.t, .2 / (.1 * sqrt(1 + 1. / 3)), 1e-12);
    assert_true(c.df == 2);
    double p = c.p;
    assert_true(stats_cmp_groups(b, 1, a, 3, false, &c, &e));
    statvec_assert_close(c.theta, -.2, 1e-12);
    statvec_assert_close(c.p, p, 1e-12);
}

static void test_mde_of_groups(void **state)
{
    (void)state;
    double f, again;
    assert_true(stats_mde_groups(4, 4, 1, &f, &e));
    assert_true(isfinite(f) && f > 2 && f < 4);
    assert_true(stats_mde_groups(4, 4, 2, &f, &e));
    assert_true(isinf(f)); /* n = 4 can never pass Holm over two */
    assert_true(stats_mde_groups(1, 2, 1, &f, &e));
    assert_true(isinf(f));
    assert_true(stats_mde_groups(5, 5, 3, &f, &e));
    assert_true(isfinite(f));
    assert_true(stats_mde_groups(5, 5, 3, &again, &e));
    assert_true(f == again);
    /* Many runs: the textbook (1.96 + .84) sqrt(2/n), over the test's efficiency of 3/pi. */
    assert_true(stats_mde_groups(60, 60, 1, &f, &e));
    statvec_assert_close(f, (1.96 + .8416) * sqrt(2. / 60) / sqrt(3 / M_PI), .05);
    assert_true(stats_mde_groups(3, 3, 1, &f, &e));
    assert_true(f > 2.5 && f < 6);
    assert_true(stats_mde_groups(1, 6, 1, &f, &e));
    assert_true(f > 2.5 && f < 6);
}

/* A change of the size of the MDE is found in about 80 % of fresh draws, by the whole
 * comparison. */
static void test_mde_is_found(void **state)
{
    (void)state;
    double factor;
    assert_true(stats_mde_groups(5, 6, 1, &factor, &e));
    uint64_t seed = 99;
    int n_found = 0;
    enum { N = 1000 };
    for (int r = 0; r < N; r++) {
        double a[5], b[6];
        for (size_t i = 0; i < 11; i++) {
            double z = sqrt(-2 * log(statvec_pm(&seed))) * cos(2 * M_PI * statvec_pm(&seed));
            if (i < 5)
                a[i] = exp(.03 * z);
            else
                b[i - 5] = exp(.03 * (z + factor));
        }
        struct stats_cmp c;
        assert_true(stats_cmp_groups(a, 5, b, 6, false, &c, &e));
        n_found += c.p < .05;
    }
    assert_true(n_found > .75 * N && n_found < .85 * N);
}

static struct stats_gate gate_of(const struct stats_cmp *c, double worsening, bool up)
{
    double limit = stats_gate_limit(worsening, up);
    return (struct stats_gate){c, up, limit, stats_p_worse(c, limit, up)};
}

static void test_gate(void **state)
{
    (void)state;
    const struct stats_noise known = {STATS_NOISE_CV, .005, 0};
    struct stats_ci a = mean_ci(1000, 5, 50), same = mean_ci(1001, 5, 50),
                    slow = mean_ci(900, 5, 50), near = mean_ci(945, 5, 50);
    struct stats_cmp c_same, c_slow, c_near, c_unknown;
    stats_cmp_single(STATS_MEANS, &a, &same, known, &c_same);
    stats_cmp_single(STATS_MEANS, &a, &slow, known, &c_slow);
    stats_cmp_single(STATS_MEANS, &a, &near, known, &c_near);
    stats_cmp_single(STATS_MEANS, &a, &slow, unknown, &c_unknown);
    enum exit_code code;
    struct stats_gate g[2] = {gate_of(&c_same, .05, true), gate_of(&c_same, .1, true)};
    assert_true(stats_gate_decide(g, 2, &code, &e));
    assert_int_equal(code, EXIT_DONE);
    g[1] = gate_of(&c_near, .05, true); /* neither shown to be worse nor shown to be good */
    assert_true(stats_gate_decide(g, 2, &code, &e));
    assert_int_equal(code, EXIT_UNDECIDED);
    g[1] = gate_of(&c_slow, .05, true);
    assert_true(stats_gate_decide(g, 2, &code, &e));
    assert_int_equal(code, EXIT_FAILED);
    g[1] = gate_of(&c_slow, .05, false); /* a latency that fell */
    assert_true(stats_gate_decide(g, 2, &code, &e));
    assert_int_equal(code, EXIT_DONE);
    g[1] = gate_of(&c_unknown, .05, true);
    assert_true(stats_gate_decide(g, 2, &code, &e));
    assert_int_equal(code, EXIT_UNDECIDED);
    c_slow.ok = false;
    g[1] = gate_of(&c_slow, .05, true);
    assert_true(isnan(g[1].p_worse));
    assert_true(stats_gate_decide(g, 2, &code, &e));
    assert_int_equal(code, EXIT_UNDECIDED);
}

static void test_gate_of_groups(void **state)
{
    (void)state;
    struct stats_cmp c;
    double p;
    assert_true(stats_cmp_groups(v10_a, 6, v10_b, 6, false, &c, &e));
    /* All but one of `after` are lower even with 5 % allowed: 1840/.95 passes all of before. */
    double limit = stats_gate_limit(.05, true);
    assert_true(stats_p_worse_groups(&c, v10_a, v10_b, limit, true, &p, &e));
    struct stats_mann_whitney t;
    double shifted[6];
    for (size_t i = 0; i < 6; i++)
        shifted[i] = v10_b[i] / .95;
    assert_true(stats_mann_whitney(v10_a, 6, shifted, 6, &t, &e));
    statvec_assert_close(p, t.p_ge, 1e-12);
    assert_true(
        stats_p_worse_groups(&c, v10_a, v10_b, stats_gate_limit(.05, false), false, &p, &e));
    assert_true(p > .9);
    /* 2-3 a side: by t. */
    assert_true(stats_cmp_groups(v10_a, 3, v10_b, 3, false, &c, &e));
    assert_true(stats_p_worse_groups(&c, v10_a, v10_b, limit, true, &p, &e));
    statvec_assert_close(p, stats_p_worse(&c, limit, true), 1e-12);
    assert_true(p < .025);
}

static void test_large_groups(void **state)
{
    (void)state;
    double a[80], b[70];
    statvec_ar(a, 80, 0, 1);
    statvec_ar(b, 70, 0, 2);
    struct stats_cmp c;
    assert_true(stats_cmp_groups(a, 80, b, 70, false, &c, &e));
    assert_true(c.ok && c.lo < c.lo90 && c.lo90 < c.theta && c.theta < c.hi90 && c.hi90 < c.hi);
    /* The normal approximation of rank k agrees with the exact rank where both are known. */
    struct stats_hodges_lehmann hl;
    assert_true(stats_hodges_lehmann(a, 50, b, 50, &hl, &e));
    double diff[2500], cdf[2501];
    size_t k = (size_t)ceil(1250 - 1.959964 * sqrt(2500. / 12 * 101) - .5);
    assert_true(exactdist_wilcoxon_cdf(50, 50, cdf, NULL));
    assert_true(cdf[k - 2] < .025 && cdf[k + 1] >= .025);
    for (size_t i = 0; i < 2500; i++)
        diff[i] = b[i % 50] - a[i / 50];
    qsort(diff, 2500, sizeof *diff, compare_double);
    assert_true(hl.lo >= diff[k - 3] && hl.lo <= diff[k + 1]);
}

static void test_v13_holm(void **state)
{
    (void)state;
    double p[] = {.01, .04, NAN, .03, .005};
    assert_true(stats_holm(p, 5, &e));
    const double want[] = {.03, .06, NAN, .06, .02};
    for (size_t i = 0; i < 5; i++)
        if (i != 2)
            statvec_assert_close(p[i], want[i], 1e-12);
    assert_true(isnan(p[2]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_v9_mann_whitney),
        cmocka_unit_test(test_mann_whitney_by_brute_force),
        cmocka_unit_test(test_exact_limits),
        cmocka_unit_test(test_v10_groups),
        cmocka_unit_test(test_center),
        cmocka_unit_test(test_v11_means),
        cmocka_unit_test(test_v17_break_even),
        cmocka_unit_test(test_history),
        cmocka_unit_test(test_v12_mover),
        cmocka_unit_test(test_comparisons_without_an_answer),
        cmocka_unit_test(test_error_rates),
        cmocka_unit_test(test_small_groups),
        cmocka_unit_test(test_mde_of_groups),
        cmocka_unit_test(test_mde_is_found),
        cmocka_unit_test(test_gate),
        cmocka_unit_test(test_gate_of_groups),
        cmocka_unit_test(test_large_groups),
        cmocka_unit_test(test_v13_holm),
    };
    return cmocka_run_group_tests(tests, statvec_setup, NULL);
}
