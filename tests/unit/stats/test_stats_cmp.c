/* analyze/stats on comparisons: vectors V10-V13 and V17 of docs/how-the-numbers-are-made.md,
 * sections 7 and 8, verdicts and the gate. */
#include "analyze/stats/stats.h"

#include "tests/unit/statvec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

static struct err e;

static const double v10_a[6] = {1842, 1850, 1829, 1861, 1838, 1847};
static const double v10_b[6] = {1701, 1688, 1723, 1695, 1710, 1840};

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
    assert_int_equal(c.method, STATS_WELCH);
    statvec_assert_close(c.t, -4.977471807, DIGITS_9);
    statvec_assert_close(c.df, 5.336087059, DIGITS_9);
    statvec_assert_close(c.p, .003493724191, DIGITS_7);
    statvec_assert_close(exp(c.theta), .9354458206, DIGITS_10);
    statvec_assert_close(exp(c.lo), .9043375309, DIGITS_9);
    statvec_assert_close(exp(c.hi), .9676242038, DIGITS_9);
    statvec_assert_close(exp(c.lo90), .9108508932, DIGITS_9);
    statvec_assert_close(exp(c.hi90), .9607048638, DIGITS_9);
    bool beyond;
    const struct stats_question rate = {true, .05}, latency = {false, .05};
    assert_int_equal(stats_verdict(&c, rate, &beyond), STATS_WORSE);
    assert_false(beyond);
    assert_int_equal(stats_verdict(&c, latency, &beyond), STATS_BETTER);
    const struct stats_question one = {true, .01}, wide = {true, .2};
    const struct stats_question tost = {true, .093}; /* contains the 90 % CI, but not the 95 % CI */
    assert_int_equal(stats_verdict(&c, one, &beyond), STATS_WORSE);
    assert_true(beyond);
    assert_int_equal(stats_verdict(&c, wide, &beyond), STATS_SAME);
    assert_int_equal(stats_verdict(&c, tost, &beyond), STATS_SAME);

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

/* An adjusted p at .05 and an adjusted interval at zero are the same thing. */
static void test_adjusted_intervals(void **state)
{
    (void)state;
    struct stats_cmp c, d;
    bool beyond;
    const struct stats_question rate = {true, .01};
    assert_true(stats_cmp_groups(v10_a, 6, v10_b, 6, false, &c, &e));
    d = c;
    stats_adjust(&d, NULL, NULL, NAN);
    assert_true(d.lo == c.lo && d.hi == c.hi);
    stats_adjust(&d, NULL, NULL, .06);
    statvec_assert_close(exp(d.lo), .8726701481, DIGITS_7);
    statvec_assert_close(exp(d.hi), 1.0027372715, DIGITS_7);
    assert_true(d.lo90 == c.lo90);
    assert_int_equal(stats_verdict(&d, rate, &beyond), STATS_INCONCLUSIVE);
    for (double p = .049; p < .0511; p += .0005) {
        d = c;
        stats_adjust(&d, NULL, NULL, p);
        assert_true((d.hi < 0) == (p < .05));
    }
    /* Single runs by quantiles, whose intervals are not symmetric, and with their break-even. */
    struct stats_ci a = {
        .ok = true, .why = "", .value = 10, .lo = 9.5, .hi = 10.8, .lo90 = 9.6, .hi90 = 10.7};
    for (double value = 10.5; value < 12; value += .05) {
        struct stats_ci b = {.ok = true,
                             .why = "",
                             .value = value,
                             .lo = value - .5,
                             .hi = value + .9,
                             .lo90 = value - .4,
                             .hi90 = value + .8};
        stats_cmp_single(STATS_QUANTILES, &a, &b, (struct stats_noise){0}, &c);
        assert_true((c.lo > 0) == (c.p < .05) && (c.break_even > 0) == (c.p < .05));
        d = c;
        stats_adjust(&d, &a, &b, 3 * c.p);
        assert_true((d.lo > 0) == (3 * c.p < .05) && (d.break_even > 0) == (3 * c.p < .05));
        assert_true(d.break_even <= c.break_even);
    }
}

/* Error rates differ by 100 points at most. */
static void test_differences_that_could_be(void **state)
{
    (void)state;
    const double x[] = {.1, .9}, y[] = {.2, .95};
    struct stats_cmp c;
    assert_true(stats_cmp_groups(x, 2, y, 2, true, &c, &e));
    assert_true(c.lo == -1 && c.hi == 1 && c.lo90 == -1 && c.hi90 == 1);
    stats_adjust(&c, NULL, NULL, 1);
    assert_true(c.lo == -1 && c.hi == 1);
}

/* Runs that do not vary are told apart by their order alone. */
static void test_without_variation(void **state)
{
    (void)state;
    const double five[] = {5, 5, 5, 5, 5}, six[] = {6, 6, 6, 6, 6};
    struct stats_cmp c;
    bool beyond;
    const struct stats_question rate = {true, .05};
    assert_true(stats_cmp_groups(five, 5, six, 5, false, &c, &e));
    statvec_assert_close(c.p, 2. / 252, 1e-12);
    assert_true(c.lo == c.theta && c.hi == c.theta);
    assert_int_equal(stats_verdict(&c, rate, &beyond), STATS_BETTER);
    statvec_assert_close(stats_p_worse(&c, log(1.1), false), 1. / 252, 1e-12);
    assert_true(stats_p_worse(&c, log(1.3), false) == 1);
    stats_adjust(&c, NULL, NULL, 12 * c.p);
    assert_true(isinf(c.lo) && isinf(c.hi));
    assert_int_equal(stats_verdict(&c, rate, &beyond), STATS_INCONCLUSIVE);
    assert_true(stats_cmp_groups(five, 2, six, 2, false, &c, &e));
    assert_true(isinf(c.lo) && isinf(c.lo90));
    assert_true(stats_cmp_groups(five, 2, five, 3, false, &c, &e));
    assert_true(c.p == 1 && c.lo == 0 && c.hi == 0);
    assert_int_equal(stats_verdict(&c, rate, &beyond), STATS_SAME);
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
    assert_int_equal(stats_verdict(&c, rate, &beyond), STATS_DIFFERS);
    struct stats_ci x = mean_ci(1000, 5, 30), y = mean_ci(800, 6, 30);
    stats_cmp_single(STATS_MEANS, &x, &y, unknown, &c);
    statvec_assert_close(c.break_even, .0802519183, DIGITS_9);
    b.value = 990;
    stats_cmp_single(STATS_MEANS, &a, &b, unknown, &c);
    assert_true(c.break_even == 0);
    assert_int_equal(stats_verdict(&c, rate, &beyond), STATS_SAME_WITHIN_RUN);
    b.se = 60;
    stats_cmp_single(STATS_MEANS, &a, &b, unknown, &c);
    assert_int_equal(stats_verdict(&c, rate, &beyond), STATS_INCONCLUSIVE);
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
    statvec_assert_close(c.p, erfc(1.959963984540054 * c.theta / (c.theta - c.lo) / sqrt(2)), 1e-9);
    assert_true(c.break_even > 0);
    struct stats_cmp wide;
    stats_cmp_single(STATS_QUANTILES, &a, &b, (struct stats_noise){STATS_NOISE_CV, .03, 0}, &wide);
    statvec_assert_close(wide.theta - wide.lo, hypot(c.theta - c.lo, 1.96 * .03 * sqrt(2)), 1e-12);
    statvec_assert_close(wide.hi90 - wide.theta, hypot(c.hi90 - c.theta, 1.645 * .03 * sqrt(2)),
                         1e-12);
    a.lo = 0; /* no information below */
    stats_cmp_single(STATS_QUANTILES, &a, &b, unknown, &c);
    assert_true(c.ok && isinf(c.hi) && c.lo > 0 && c.p < .05); /* the other limit decides */
    a.hi = INFINITY;
    stats_cmp_single(STATS_QUANTILES, &a, &b, unknown, &c);
    assert_true(c.ok && isinf(c.lo) && c.p == 1);
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
    assert_int_equal(stats_verdict(&c, rate, &beyond), STATS_NOT_ENOUGH_DATA);
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

/* ABBA, BAAB, by a clock that runs by 10 from run to run, and a drift of 3 from run to run: changes
 * of 1 - 3 and 1 + 3. The runs are not in order. */
static void test_pairs(void **state)
{
    (void)state;
    static const bool sides[] = {0, 1, 1, 0, 1, 0, 0, 1};
    struct stats_turn v[8];
    double change[4], mean[4], f;
    size_t n_pairs;
    struct stats_cmp c;

    for (size_t i = 0; i < 8; i++)
        v[7 - i] = (struct stats_turn){10 * (int64_t)i, 10 * (int64_t)i + 10,
                                       3 * (double)i + sides[i], sides[i]};
    assert_int_equal(stats_pair(v, 8, change, mean, &n_pairs), STATS_IN_TURNS);
    assert_int_equal(n_pairs, 4);
    for (size_t i = 0; i < 4; i++) {
        statvec_assert_close(change[i], i == 0 || i == 3 ? 4 : -2, 1e-12);
        statvec_assert_close(mean[i], 2 + 6 * (double)i, 1e-12);
    }
    assert_true(stats_cmp_pairs(change, 4, false, &c, &e));
    assert_true(c.ok && c.df == 3 && c.method == STATS_PAIRS);
    statvec_assert_close(c.theta, 1, 1e-12);
    statvec_assert_close(c.se, sqrt(12) / 2, 1e-12);
    statvec_assert_close(c.hi, 1 + 3.182446305284263 * sqrt(12) / 2, 1e-9);
    /* Pairs that do not vary: 2 of 2^4 ways to swap the sides. */
    for (size_t i = 0; i < 4; i++)
        change[i] = .25;
    assert_true(stats_cmp_pairs(change, 4, false, &c, &e));
    statvec_assert_close(c.p, .125, 1e-12);
    change[0] = NAN;
    assert_true(stats_cmp_pairs(change, 4, false, &c, &e));
    assert_false(c.ok);
    /* 1.156: a paired t of 8 pairs with a power of 80 %, from an independent simulation. */
    assert_true(stats_mde_groups(0, 8, 1, &f, &e));
    statvec_assert_close(f, 1.156, .02);
}

static void test_mde_of_groups(void **state)
{
    (void)state;
    double f, again;
    assert_true(stats_mde_groups(4, 4, 1, &f, &e));
    assert_true(isfinite(f) && f > 2 && f < 4);
    assert_true(stats_mde_groups(4, 4, 12, &again, &e));
    assert_true(isfinite(again) && again > f); /* also in the family of four operations */
    assert_true(stats_mde_groups(1, 2, 1, &f, &e));
    assert_true(isinf(f));
    assert_true(stats_mde_groups(5, 5, 3, &f, &e));
    assert_true(isfinite(f));
    assert_true(stats_mde_groups(5, 5, 3, &again, &e));
    assert_true(f == again);
    /* Many runs: the textbook (1.96 + .84) sqrt(2/n). */
    assert_true(stats_mde_groups(60, 60, 1, &f, &e));
    statvec_assert_close(f, (1.96 + .8416) * sqrt(2. / 60), .05);
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
    return (struct stats_gate){c, stats_gate_passes(c, limit, up), stats_p_worse(c, limit, up)};
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
    assert_true(stats_cmp_groups(v10_a, 6, v10_b, 6, false, &c, &e));
    statvec_assert_close(stats_p_worse(&c, stats_gate_limit(.05, true), true), .1492359150,
                         DIGITS_7);
    assert_true(stats_p_worse(&c, stats_gate_limit(.05, false), false) > .9);
    assert_true(stats_cmp_groups(v10_a, 3, v10_b, 3, false, &c, &e));
    assert_true(stats_p_worse(&c, stats_gate_limit(.05, true), true) < .025);
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

/* What bounds leave open adds up, and is no noise: with limits at the bounds, the interval is that
 * of the farthest values. */
static void test_bounds_add_up(void **state)
{
    (void)state;
    const struct stats_ci x = {.ok = true,
                               .why = "",
                               .value = 10,
                               .lo = 5,
                               .hi = 20,
                               .lo90 = 5,
                               .hi90 = 20,
                               .below = 5,
                               .above = 10};
    const double a[] = {10, 10.1, 9.9, 10.05}, b[] = {11, 11.1, 10.9, 11.05};
    struct stats_cmp c;
    struct err e = {0};

    stats_cmp_single(STATS_QUANTILES, &x, &x, (struct stats_noise){STATS_NOISE_UNKNOWN, 0, 0}, &c);
    assert_true(c.ok);
    assert_true(fabs(c.lo - log(5. / 20)) < 1e-12 && fabs(c.hi - log(20. / 5)) < 1e-12);
    assert_true(stats_cmp_groups(a, 4, b, 4, false, &c, &e));
    const struct stats_cmp exact = c;
    assert_true(exact.lo > 0 && exact.p < .05);
    stats_loosen(&c, .2);
    assert_true(c.lo90 <= exact.lo90 - .2 + 1e-12 && c.hi90 >= exact.hi90 + .2 - 1e-12);
    assert_true(c.lo <= exact.lo - .2 && c.p > .05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds_add_up),
        cmocka_unit_test(test_v10_groups),
        cmocka_unit_test(test_adjusted_intervals),
        cmocka_unit_test(test_differences_that_could_be),
        cmocka_unit_test(test_without_variation),
        cmocka_unit_test(test_center),
        cmocka_unit_test(test_v11_means),
        cmocka_unit_test(test_v17_break_even),
        cmocka_unit_test(test_history),
        cmocka_unit_test(test_v12_mover),
        cmocka_unit_test(test_comparisons_without_an_answer),
        cmocka_unit_test(test_error_rates),
        cmocka_unit_test(test_small_groups),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_mde_of_groups),
        cmocka_unit_test(test_mde_is_found),
        cmocka_unit_test(test_gate),
        cmocka_unit_test(test_gate_of_groups),
        cmocka_unit_test(test_v13_holm),
    };
    return cmocka_run_group_tests(tests, statvec_setup, NULL);
}
