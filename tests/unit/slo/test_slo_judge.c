#include "analyze/stats/stats.h"
#include "analyze/tools/slo/slo.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct slo_list parsed(const char *text)
{
    struct slo_list l;
    struct err e = {0};

    if (!slo_parse(&l, &(struct cli_list){&text, 1}, &e))
        fail_msg("%s: %s", text, e.msg);
    return l;
}

static void test_parse(void **state)
{
    (void)state;
    static const struct {
        const char *text, *op, *said;
        enum slo_figure figure;
        uint32_t ppm;
        bool is_least, or_equal;
        double limit;
    } good[] = {
        {"GET: p99<50ms", "GET", "p99<50ms", SLO_TIME, 990000, false, false, 50e6},
        {" p(99.9) <= 1.5s ", "", "p(99.9) <= 1.5s", SLO_TIME, 999000, false, true, 1.5e9},
        {"ttfb.p50>1us", "", "ttfb.p50>1us", SLO_TTFB, 500000, true, false, 1e3},
        {"errors<0.1%", "", "errors<0.1%", SLO_ERRORS, 0, false, false, .001},
        {"put:throughput>=1GiB/s", "put", "throughput>=1GiB/s", SLO_THROUGHPUT, 0, true, true,
         0x1p30},
        {"rate>5k", "", "rate>5k", SLO_RATE, 0, true, false, 5000},
        {"p99.9999<1m", "", "p99.9999<1m", SLO_TIME, 999999, false, false, 60e9},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct slo_list l = parsed(good[i].text);
        const struct slo_assertion *a = &l.v[0];

        assert_int_equal(l.n, 1);
        assert_string_equal(a->op, good[i].op);
        assert_string_equal(a->text, good[i].said);
        assert_int_equal(a->figure, good[i].figure);
        assert_int_equal(a->ppm, good[i].ppm);
        assert_int_equal(a->is_least, good[i].is_least);
        assert_int_equal(a->or_equal, good[i].or_equal);
        assert_true(fabs(a->limit - good[i].limit) <= 1e-12 * good[i].limit);
        slo_free(&l);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        ":p99<1s",
        "p99",
        "p99<",
        "p99<5",
        "<5ms",
        "p<5ms",
        "p0<5ms",
        "p100<5ms",
        "p(99<5ms",
        "p-1<5ms",
        "q99<5ms",
        "errors<",
        "p99=5ms",
        "errors<0.1",
        "throughput>1G",
        "rate>x",
        "errors<200%",
        "p99<1s,,",
        "ttfb<1s",
        "p99.99999999<1s",
        "@/nowhere",
        "pnan<1s",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct slo_list l;
        struct err e = {0};

        assert_false(slo_parse(&l, &(struct cli_list){(const char **)&bad[i], 1}, &e));
        assert_true(e.msg[0] != '\0');
        slo_free(&l);
    }
}

static enum slo_verdict judged(const char *text, double value, double lo, double hi, double *more)
{
    struct slo_list l = parsed(text);
    struct slo_answer a = {
        .of = &l.v[0],
        .measure = {
            .known = true, .value = value, .lo = lo, .hi = hi, .guard = 1, .n = 100, .why = ""}};

    slo_judge(&a);
    *more = a.n_more;
    slo_free(&l);
    return a.verdict;
}

static void test_judge(void **state)
{
    (void)state;
    double more;

    assert_int_equal(judged("p99<50ns", 40, 30, 49, &more), SLO_MET);
    assert_int_equal(judged("p99<50ns", 60, 51, 70, &more), SLO_MISSED);
    assert_int_equal(judged("p99<50ns", 40, 30, 60, &more), SLO_UNDECIDED);
    assert_true(more == 300); /* the interval must be half as wide: four times the requests */
    assert_int_equal(judged("p99<50ns", 60, 40, 75, &more), SLO_UNDECIDED);
    assert_true(more == 300);
    assert_int_equal(judged("p99<50ns", 50, 40, 60, &more), SLO_UNDECIDED);
    assert_true(isinf(more));
    assert_int_equal(judged("p99<50ns", 60, 50, 75, &more), SLO_MISSED); /* at it is not below it */
    assert_int_equal(judged("p99<=50ns", 40, 30, 50, &more), SLO_MET);
    assert_int_equal(judged("p99<=50ns", 60, 50, 75, &more), SLO_UNDECIDED);
    assert_int_equal(judged("rate>50", 60, 51, 75, &more), SLO_MET);
    assert_int_equal(judged("rate>50", 40, 30, 50, &more), SLO_MISSED);
    assert_int_equal(judged("rate>=50", 40, 30, 50, &more), SLO_UNDECIDED);
    assert_int_equal(judged("rate>=50", 60, 50, 75, &more), SLO_MET);
    assert_int_equal(judged("p99<50ns", 40, 30, INFINITY, &more), SLO_UNDECIDED);
    assert_true(more == 0);
    assert_int_equal(judged("p99<50ns", 90, 80, INFINITY, &more), SLO_MISSED);
}

/* Bounds are sure: the guard widens only what is beyond them. */
static void test_bounds(void **state)
{
    (void)state;
    const struct slo_assertion of = {.text = "", .figure = SLO_TIME, .limit = 50};
    struct slo_answer a = {.of = &of,
                           .measure = {true, 40, 28, 49, SLO_GUARD, 0, 100, 0, "", 8, 9, false}};

    slo_judge(&a);
    assert_int_equal(a.verdict, SLO_MET);
    assert_string_equal(slo_measured_text(&a).s, "32 to 49ns (bounds)");
    a.measure.above = 11;
    a.measure.hi = 51;
    slo_judge(&a);
    assert_int_equal(a.verdict, SLO_UNDECIDED);
    assert_true(a.n_more == 0);
}

/* The guard counts an interval as 1.25 times as wide. */
static void test_guard(void **state)
{
    (void)state;
    const struct slo_assertion of = {.text = "", .figure = SLO_TIME, .limit = 50};
    struct slo_answer a = {.of = &of,
                           .measure = {true, 40, 30, 49, SLO_GUARD, 0, 100, 0, "", 0, 0, false}};

    slo_judge(&a);
    assert_int_equal(a.verdict, SLO_UNDECIDED);
    a.measure.hi = 47;
    slo_judge(&a);
    assert_int_equal(a.verdict, SLO_MET);
}

static void test_verdict(void **state)
{
    (void)state;
    struct slo_answer v[3] = {
        {.verdict = SLO_MET}, {.verdict = SLO_MISSED}, {.verdict = SLO_UNDECIDED}};

    assert_int_equal(slo_verdict(&(struct slo_report){v, 1}), SLO_MET);
    assert_int_equal(slo_verdict(&(struct slo_report){v, 3}), SLO_MISSED);
    v[0].verdict = SLO_UNDECIDED;
    assert_int_equal(slo_verdict(&(struct slo_report){v, 3}), SLO_MISSED);
    v[0].verdict = v[1].verdict = SLO_MET;
    assert_int_equal(slo_verdict(&(struct slo_report){v, 3}), SLO_UNDECIDED);
}

static void test_margin(void **state)
{
    (void)state;
    struct slo_answer v[3] = {{.margin = 3}, {.margin = -2}, {.margin = 1}};

    assert_true(slo_margin(&(struct slo_report){v, 3}) == -2);
}

static void test_excess(void **state)
{
    (void)state;
    const struct slo_assertion most = {.limit = 20}, least = {.limit = 20, .is_least = true};
    struct slo_answer v[2] = {{.of = &most, .measure.value = 21},
                              {.of = &least, .measure.value = 18}};

    assert_true(fabs(slo_excess(&(struct slo_report){v, 1}) - .05) < 1e-9);
    /* A rate or throughput that is too low at low rates. */
    assert_true(fabs(slo_excess(&(struct slo_report){v, 2}) - .05) < 1e-9);
    assert_true(isinf(slo_excess(&(struct slo_report){v + 1, 1})));
    v[1].of = &most;
    v[1].measure.value = 22;
    assert_true(fabs(slo_excess(&(struct slo_report){v, 2}) - .10) < 1e-9);
    v[1].measure.value = NAN;
    assert_true(fabs(slo_excess(&(struct slo_report){v, 2}) - .05) < 1e-9);
}

/* With one request less, an assertion without an error is undecided. */
static void test_least_requests(void **state)
{
    (void)state;
    const struct slo_assertion of = {.figure = SLO_ERRORS, .limit = .001};
    double n = ceil(slo_least_requests(&of));

    for (int less = 0; less < 2; less++) {
        struct slo_answer a = {.of = &of, .measure = {.known = true, .guard = SLO_GUARD}};
        stats_wilson(0, n - less, 0, INFINITY, &a.measure.lo, &a.measure.hi);
        slo_judge(&a);
        assert_int_equal(a.verdict, less ? SLO_UNDECIDED : SLO_MET);
    }
}

/* Textbook values of Wilson's interval: 0 and 10 of 100; and a design effect of 4 with a df so
 * large that t is normal: 25 of them. */
static void test_wilson(void **state)
{
    (void)state;
    double lo, hi;

    stats_wilson(0, 100, 0, NAN, &lo, &hi);
    assert_true(lo == 0 && fabs(hi - .0369935) < 1e-6);
    stats_wilson(.1, 100, .03, INFINITY, &lo, &hi);
    assert_true(fabs(lo - .0552291) < 1e-6 && fabs(hi - .1743657) < 1e-6);
    stats_wilson(.1, 100, .06, INFINITY, &lo, &hi);
    double lo25, hi25;
    stats_wilson(.1, 25, 0, NAN, &lo25, &hi25);
    assert_true(fabs(lo - lo25) < 1e-6 && fabs(hi - hi25) < 1e-6);
}

/* An interval that is unreliable is judged wider. If it lacks an end, only requests that are all on
 * one side of the limit decide. */
static void test_doubted_percentile(void **state)
{
    (void)state;
    struct slo_list l = parsed("p99<100ns");
    struct statistics_percentile x = {
        .n = 2000,
        .q = {.ci = {.ok = true, .why = "", .value = 60, .lo = 50, .hi = 80, .df = 9}},
        .above = {.ok = true, .value = .001, .se = .0005, .df = 9}};
    struct slo_answer a = {.of = l.v, .measure = slo_measure_percentile(&x, "", l.v)};
    slo_judge(&a);
    assert_int_equal(a.verdict, SLO_MET);
    a.measure = slo_measure_percentile(&x, "noise", l.v);
    slo_judge(&a);
    assert_int_equal(a.verdict, SLO_UNDECIDED);
    assert_string_equal(a.measure.why, "noise");
    assert_true(a.measure.hi == 80 && fabs(a.measure.guard - 1.25 * sqrt(20) / 2.2621572) < 1e-6);

    x.q.ci.ok = false;
    x.q.ci.hi = INFINITY;
    a.measure = slo_measure_percentile(&x, "", l.v);
    assert_int_equal(a.measure.side, -1);
    a.measure = slo_measure_percentile(&x, "noise", l.v);
    assert_int_equal(a.measure.side, 0);
    x.above.value = 0;
    a.measure = slo_measure_percentile(&x, "noise", l.v);
    assert_int_equal(a.measure.side, -1);
    slo_free(&l);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_judge),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_guard),
        cmocka_unit_test(test_verdict),
        cmocka_unit_test(test_wilson),
        cmocka_unit_test(test_margin),
        cmocka_unit_test(test_excess),
        cmocka_unit_test(test_least_requests),
        cmocka_unit_test(test_doubted_percentile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
