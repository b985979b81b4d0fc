/* Panels of the pages' own charts: unit, scale and position follow from their series. */
#include "analyze/render/page/chart.h"
#include "libcommon/units.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Two seconds: the first moved 1 MiB, the second 3, and had failures with two messages. */
struct fixture {
    struct series_row rows[2];
    int64_t first[2], second[2];
    struct plot_timeline t;
};

static void fixture_init(struct fixture *f)
{
    *f = (struct fixture){
        .rows = {{.duration_ns = NS_PER_S, .bytes = MIB, .p50_ns = 1e6, .p99_ns = 2e6},
                 {.start_ns = NS_PER_S,
                  .duration_ns = NS_PER_S,
                  .bytes = 3 * MIB,
                  .p50_ns = NAN,
                  .p99_ns = 90e6}},
        .first = {0, 4},
        .second = {0, 2},
        .t = {.op = "GET", .end_ns = 2 * NS_PER_S, .n = 2, .has_bytes = true, .n_messages = 2}};
    f->t.rows = f->rows;
    f->t.messages[0] = (struct plot_timeline_message){"a<b", 4, f->first};
    f->t.messages[1] = (struct plot_timeline_message){"c", 2, f->second};
}

static void test_units_follow_the_values(void **state)
{
    struct fixture f;
    struct chart_panel p = {.values = CHART_BYTES_PER_S, .n = 1};

    (void)state;
    fixture_init(&f);
    p.v[0] = (struct chart_series){.t = &f.t, .what = PLOT_THROUGHPUT};
    assert_true(chart_fit(&p));
    assert_string_equal(p.unit, "MiB/s");
    assert_float_equal(p.most, 3 * 1.05, 1e-9);
    f.rows[0].bytes = f.rows[1].bytes = 0;
    assert_false(chart_fit(&p));
}

/* Latencies that differ by more than a factor of 20 need a log axis; other axes begin at 0. */
static void test_an_axis_is_logarithmic_where_it_must(void **state)
{
    struct fixture f;
    struct chart_panel p = {.values = CHART_TIMES, .n = 1};

    (void)state;
    fixture_init(&f);
    p.v[0] = (struct chart_series){.t = &f.t, .what = PLOT_P99};
    assert_true(chart_fit(&p) && p.is_log);
    assert_string_equal(p.unit, "ms");
    assert_float_equal(p.least, 2 / 1.15, 1e-9);
    f.rows[1].p99_ns = 40e6;
    assert_true(chart_fit(&p) && !p.is_log);
    assert_float_equal(p.least, 0, 1e-9);
}

/* The second message's bar is stacked on the first one's, and both together are as high as the
 * panel. */
static void test_bars_stand_on_each_other(void **state)
{
    struct fixture f;
    struct chart_panel p = {
        .title = "Failed", .unit = "", .values = CHART_COUNTS, .height = 30, .n = 2};
    char *text = NULL;
    size_t n;

    (void)state;
    fixture_init(&f);
    for (size_t k = 0; k < 2; k++)
        p.v[k] = (struct chart_series){
            .t = &f.t, .message = &f.t.messages[k], .css = k == 0 ? "b1" : "b2", .name = "a<b"};
    assert_true(chart_fit(&p));
    assert_float_equal(p.most, 6, 1e-9);
    FILE *out = open_memstream(&text, &n);
    struct chart c = {.f = out, .end_ns = 2 * NS_PER_S, .width = 400, .right = 400};
    assert_float_equal(chart_height(&c, &p, 1), CHART_TITLE_PX + 30 + CHART_GAP_PX, 1e-9);
    chart_put(&c, &p);
    assert_int_equal(fclose(out), 0);
    assert_float_equal(c.y, chart_height(&c, &p, 1), 1e-9);
    assert_non_null(strstr(text, "class=\"b1\" d=\"M200.0 48.0H400.0V28.0H200.0z\""));
    assert_non_null(strstr(text, "class=\"b2\" d=\"M200.0 28.0H400.0V18.0H200.0z\""));
    assert_non_null(strstr(text, "a&lt;b"));
    free(text);
}

/* An axis of counts has a tick above 0, whatever the most is. */
static void test_counts_have_a_tick(void **state)
{
    (void)state;
    for (int64_t most = 1; most < 1200; most++) {
        struct fixture f;
        struct chart_panel p = {.values = CHART_COUNTS, .title = "Failed", .unit = "", .n = 1};
        char *text = NULL;
        size_t n, n_ticks = 0;

        fixture_init(&f);
        f.first[1] = most;
        p.height = 30;
        p.v[0] = (struct chart_series){.t = &f.t, .message = &f.t.messages[0], .css = "b1"};
        assert_true(chart_fit(&p));
        FILE *out = open_memstream(&text, &n);
        struct chart c = {.f = out, .end_ns = 2 * NS_PER_S, .width = 400, .right = 400};
        chart_put(&c, &p);
        assert_int_equal(fclose(out), 0);
        for (const char *at = text; (at = strstr(at, "class=\"grid\"")) != NULL; at++)
            n_ticks++;
        assert_in_range(n_ticks, 2, 3);
        free(text);
    }
}

/* A line is broken where a bin has no value. */
static void test_steps_are_broken(void **state)
{
    struct fixture f;
    struct chart_panel p = {.title = "Latency", .values = CHART_TIMES, .height = 30, .n = 1};
    char *text = NULL;
    size_t n;

    (void)state;
    fixture_init(&f);
    p.v[0] = (struct chart_series){.t = &f.t, .what = PLOT_P50, .css = "s1"};
    assert_true(chart_fit(&p));
    FILE *out = open_memstream(&text, &n);
    struct chart c = {.f = out, .end_ns = 2 * NS_PER_S, .width = 400, .right = 400};
    chart_put(&c, &p);
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, "class=\"s1\" d=\"M0.0 19.4H200.0\"/>"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units_follow_the_values),
        cmocka_unit_test(test_an_axis_is_logarithmic_where_it_must),
        cmocka_unit_test(test_bars_stand_on_each_other),
        cmocka_unit_test(test_counts_have_a_tick),
        cmocka_unit_test(test_steps_are_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
