#include "analyze/tools/plan/decide.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MAX 64

/* Searches the limit of a server. Rates within a factor `unsure` of the limit have margin 0. */
static size_t search(double truth, double unsure, const struct plan_capacity *c,
                     struct plan_point v[MAX])
{
    size_t n = 0;

    for (struct plan_next next; n < MAX; n++) {
        next = plan_capacity_next(c, v, n);
        if (next.done)
            break;
        double off = next.level / truth;
        v[n] = (struct plan_point){.level = next.level,
                                   .margin = off < 1 / unsure ? 5
                                             : off > unsure   ? -5
                                                              : 0};
    }
    return n;
}

static void test_sharp_limit(void **state)
{
    (void)state;
    const struct plan_capacity c = {.from = 100, .precision = .05, .max_runs = 25, .seed = 7};
    static const double truths[] = {3, 99, 101, 777, 12345, 99999};

    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        struct plan_point v[MAX];
        size_t n = search(truths[i], 1, &c, v);
        struct plan_interval x = plan_capacity_found(v, n);

        assert_true(x.confirmed);
        assert_true(x.met <= truths[i] && truths[i] <= x.missed);
        assert_true(x.missed / x.met <= 1.051);
        assert_true(n <= 25);
    }
}

/* Rates near the limit that no run can decide stay between the ends of the interval. */
static void test_undecided_middle(void **state)
{
    (void)state;
    const struct plan_capacity c = {.from = 100, .precision = .05, .max_runs = 25, .seed = 7};
    struct plan_point v[MAX];
    size_t n = search(1000, 1.04, &c, v);
    struct plan_interval x = plan_capacity_found(v, n);

    assert_true(x.confirmed && x.met < 1000 && x.missed > 1000);
    assert_true(x.missed / x.met < 1.15);
}

/* One run decides a rate that is 10 % off; four runs together decide one that is 5 % off. */
static void test_runs_decide_together(void **state)
{
    (void)state;
    const struct plan_capacity c = {.from = 100, .precision = .05, .max_runs = 25, .seed = 7};

    for (double truth = 750; truth < 1500; truth += 50) {
        struct plan_point v[MAX];
        size_t n = 0;

        for (struct plan_next next; !(next = plan_capacity_next(&c, v, n)).done; n++)
            v[n] =
                (struct plan_point){.level = next.level, .margin = (1 - next.level / truth) / .10};
        struct plan_interval x = plan_capacity_found(v, n);

        assert_true(x.confirmed && x.met < truth && truth < x.missed);
        assert_true(x.missed / x.met < 1.17);
        assert_true(n <= 20);
    }
}

static void test_one_wrong_run(void **state)
{
    (void)state;
    static const struct plan_point v[] = {{.level = 100, .margin = 3},
                                          {.level = 200, .margin = -3},
                                          {.level = 100, .margin = 3},
                                          {.level = 100, .margin = -3},
                                          {.level = 100, .margin = 3}};
    struct plan_interval x = plan_capacity_found(v, 5);

    assert_true(x.met == 100 && x.missed == 200 && !x.confirmed);
    x = plan_capacity_found(v + 2, 2); /* one met and one missed: undecided */
    assert_true(x.met == 0 && x.missed == 0);
}

/* A single run that misses by far counts no more than any run that clearly misses. */
static void test_one_run_far_off(void **state)
{
    (void)state;
    static const struct plan_point v[] = {{.level = 100, .margin = -50},
                                          {.level = 100, .margin = 1.5},
                                          {.level = 100, .margin = 1.5},
                                          {.level = 100, .margin = 1.5}};

    assert_true(plan_capacity_found(v, 4).met == 100);
}

static void test_runs_in_any_order(void **state)
{
    (void)state;
    static const struct plan_point v[] = {{.level = 200, .margin = 3},
                                          {.level = 400, .margin = -3},
                                          {.level = 800, .margin = -3},
                                          {.level = 100, .margin = 3}};
    struct plan_interval x = plan_capacity_found(v, 4);

    assert_true(x.met == 200 && x.missed == 400);
}

static void test_nothing_is_met(void **state)
{
    (void)state;
    const struct plan_capacity c = {.from = 100, .precision = .05, .max_runs = 25, .seed = 7};
    struct plan_point v[MAX];
    size_t n = search(1e-9, 1, &c, v);

    assert_true(n == 25);
    assert_true(plan_capacity_found(v, n).met == 0);
}

/* Searches a server whose figure, as a share of its limit, is a straight line over the rate. */
static size_t search_line(double at_zero, double per_rate, const struct plan_capacity *c,
                          struct plan_point v[MAX])
{
    size_t n = 0;

    for (struct plan_next next; !(next = plan_capacity_next(c, v, n)).done; n++) {
        double excess = at_zero + per_rate * next.level - 1;
        v[n] = (struct plan_point){.level = next.level, .margin = -excess / .01, .excess = excess};
    }
    return n;
}

static void test_no_rate_is_low_enough(void **state)
{
    (void)state;
    struct plan_capacity c = {.from = 100, .precision = .05, .max_runs = 25, .seed = 7};
    struct plan_point v[MAX];

    assert_int_equal(search_line(1.03, .001, &c, v), 4);
    assert_true(plan_capacity_found(v, 4).flat_to == 100);
    c.least = 60; /* a rate far above shows it, too */
    assert_int_equal(search_line(1.03, .001, &c, v), 3);
    assert_true(v[1].level == 60 && v[2].level == 480);
    assert_true(plan_capacity_found(v, 3).flat_to == 480);
    v[2].excess = -INFINITY; /* nothing is known of that run */
    assert_true(plan_capacity_found(v, 3).flat_to == 0);
}

/* A rate far above that is not missed contradicts that. */
static void test_a_high_rate_is_not_missed(void **state)
{
    (void)state;
    struct plan_point v[2] = {{.level = 100, .margin = -3, .excess = .03},
                              {.level = 800, .margin = -.5, .excess = .005}};

    assert_true(plan_capacity_found(v, 2).flat_to == 0);
    v[1].margin = -1;
    assert_true(plan_capacity_found(v, 2).flat_to == 800);
}

static void test_a_low_rate_is_met(void **state)
{
    (void)state;
    const struct plan_capacity c = {.from = 100, .precision = .05, .max_runs = 25, .seed = 7};
    struct plan_point v[MAX];
    size_t n = search_line(.97, .01, &c, v);
    struct plan_interval x = plan_capacity_found(v, n);

    assert_true(x.confirmed && x.met < 3 && x.missed > 3 && x.flat_to == 0);
}

/* No run above 5 requests/s keeps up with its rate: how far it is beyond its limit has no number.
 */
static void test_a_low_hard_limit(void **state)
{
    (void)state;
    const struct plan_capacity c = {.from = 100, .precision = .05, .max_runs = 25, .seed = 7};
    struct plan_point v[MAX];
    size_t n = 0;

    for (struct plan_next next; !(next = plan_capacity_next(&c, v, n)).done; n++) {
        bool met = next.level < 5;
        v[n] = (struct plan_point){
            .level = next.level, .margin = met ? 2 : -INFINITY, .excess = met ? -.5 : INFINITY};
    }
    struct plan_interval x = plan_capacity_found(v, n);

    assert_true(x.confirmed && x.met < 5 && x.missed >= 5 && x.flat_to == 0);
}

static void test_sweep(void **state)
{
    (void)state;
    static const double levels[] = {1, 2, 4, 8};
    struct plan_point v[MAX];
    size_t n = 0, in_order = 0;

    for (struct plan_next next; !(next = plan_sweep_next(levels, 4, 3, 5, v, n)).done; n++) {
        assert_true(n < 12);
        v[n].level = next.level;
        in_order += next.level == levels[n % 4];
        for (size_t i = n / 4 * 4; i < n; i++) /* each level comes once in each block */
            assert_true(v[i].level != next.level);
    }
    assert_int_equal(n, 12);
    assert_true(in_order < 12);
}

/* Compares two sides whose logs differ by `shift` and rise by `drift` from run to run. The scatter
 * alternates, so that each block has both signs. */
static enum slo_verdict compare(double shift, double scatter, double drift, double limit, size_t *n)
{
    const struct plan_gate gate = {.up_is_better = false, .limit = limit};
    struct plan_point v[MAX];
    double metric[MAX];

    for (*n = 0; *n < MAX; ++*n) {
        struct plan_next next = plan_ab_next(&gate, 1, 20, 3, v, *n);
        if (next.done)
            break;
        metric[*n] = next.level * shift + (*n % 2 ? scatter : -scatter) + drift * (double)*n;
        v[*n] = (struct plan_point){.level = next.level, .metric = &metric[*n]};
    }
    return plan_ab_answer(&gate, 1, v, *n);
}

static void test_ab(void **state)
{
    (void)state;
    size_t n;

    assert_int_equal(compare(.1, .01, 0, .05, &n), SLO_MISSED);
    assert_true(n % 4 == 0 && n <= 12);
    assert_int_equal(compare(0, .01, 0, .05, &n), SLO_MET);
    assert_int_equal(compare(-.1, .01, 0, .05, &n), SLO_MET);
    assert_int_equal(compare(.02, .2, 0, .05, &n), SLO_UNDECIDED);
    assert_int_equal(n, 40);
    /* A drift of 16 % over the runs of the first look hides no difference of 6 %, and makes none.
     */
    assert_int_equal(compare(.06, .001, .02, .05, &n), SLO_MISSED);
    assert_int_equal(compare(0, .001, .02, .05, &n), SLO_MET);
}

/* Without one of the captures the other pairs are as right. */
static void test_ab_of_a_lost_run(void **state)
{
    (void)state;
    static const double sides[] = {0, /* 1, */ 1, 0, 1, 0, 0, 1, 0, 1, 1, 0};
    const struct plan_gate gate = {.limit = .05};
    double metric[sizeof sides / sizeof *sides];
    struct plan_point v[sizeof sides / sizeof *sides];

    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        metric[i] = .01 * sides[i] + 1e-6 * (double)(i % 3);
        v[i] = (struct plan_point){.level = sides[i], .metric = &metric[i]};
    }
    struct plan_judged x = plan_ab_judge(&gate, 1, 0, v, sizeof sides / sizeof *sides);

    assert_true(fabs(x.theta - .01) < 1e-5 && x.answer == SLO_MET);
}

/* Differences of 1, 2, 3 and 4 %: a mean of 2.5 and a standard error of 0.6455 %. At the first look
 * the interval has 97.5 %, for which t with 3 degrees of freedom is 4.1765 (from tables). */
static void test_ab_interval(void **state)
{
    (void)state;
    const struct plan_gate gate = {.limit = .05};
    double metric[8];
    struct plan_point v[8];

    for (size_t i = 0; i < 8; i++) {
        metric[i] = i % 2 ? .01 * (double)(i / 2 + 1) : 0;
        v[i] = (struct plan_point){.level = (double)(i % 2), .metric = &metric[i]};
    }
    struct plan_judged x = plan_ab_judge(&gate, 1, 0, v, 8);

    assert_true(fabs(x.lo + .00196) < 1e-5 && fabs(x.hi - .05196) < 1e-5);
}

static void test_ab_blocks(void **state)
{
    (void)state;
    const struct plan_gate gate = {.limit = 1e-6};
    struct plan_point v[MAX];
    static const double zero = 0;
    size_t n_first_after = 0;

    for (size_t n = 0; n < 40; n++) {
        struct plan_next next = plan_ab_next(&gate, 1, 20, 3, v, n);
        v[n] = (struct plan_point){.level = next.level, .metric = &zero};
        n_first_after += n % 4 == 0 && next.level > 0;
        if (n % 4 == 3) /* the order is ABBA or BAAB */
            assert_true(v[n].level == v[n - 3].level && v[n - 1].level == v[n - 2].level &&
                        v[n].level != v[n - 1].level);
        if (n % 4 == 3 && plan_ab_next(&gate, 1, 20, 3, v, n + 1).done)
            break;
    }
    assert_true(n_first_after <= 10);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sharp_limit),
        cmocka_unit_test(test_undecided_middle),
        cmocka_unit_test(test_runs_decide_together),
        cmocka_unit_test(test_one_wrong_run),
        cmocka_unit_test(test_one_run_far_off),
        cmocka_unit_test(test_runs_in_any_order),
        cmocka_unit_test(test_nothing_is_met),
        cmocka_unit_test(test_no_rate_is_low_enough),
        cmocka_unit_test(test_a_high_rate_is_not_missed),
        cmocka_unit_test(test_a_low_rate_is_met),
        cmocka_unit_test(test_a_low_hard_limit),
        cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_ab),
        cmocka_unit_test(test_ab_of_a_lost_run),
        cmocka_unit_test(test_ab_interval),
        cmocka_unit_test(test_ab_blocks),
    };
    stats_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
