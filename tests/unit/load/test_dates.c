#include "loadgen/load/load.h"

#include "libcommon/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

#define S  NS_PER_S
#define MS NS_PER_MS

/* 2026-11-21T05:45:58Z */
#define START_NS (INT64_C(1795239958) * S)

/* A server, and when requests are sent to it. */
struct server {
    int64_t ahead_ns, drift_ppm;
    int64_t cached_ns, phase_ns; /* it renews its Date at this age; 0: for each answer */
    int64_t every_ns, length_ns; /* interval between requests, and time over which they are sent */
};

/* Returns the bounds from its Dates, with requests that take 1 ms. */
static struct date_bracket seen(const struct server *v, int64_t first_ns)
{
    struct date_bracket d = {0};

    for (int64_t t = first_ns; t < first_ns + v->length_ns; t += v->every_ns) {
        int64_t at = t + MS / 2;
        char text[32];

        if (v->cached_ns > 0)
            at -= (at - v->phase_ns + v->cached_ns) % v->cached_ns;
        time_t date = (START_NS + at + v->ahead_ns + at / 1000000 * v->drift_ppm) / S;
        struct tm tm;
        gmtime_r(&date, &tm);
        size_t n = strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &tm);
        dates_saw(&d, START_NS + t, START_NS + t + MS, text, n);
    }
    return d;
}

/* Returns whether bounds are known. If so, they must be true, and at most within_ns apart. */
static bool tells(const struct server *v, int64_t within_ns)
{
    struct date_bracket d = seen(v, 0);
    int64_t end_ahead_ns = v->ahead_ns + v->length_ns / 1000000 * v->drift_ppm;

    if (!dates_settle(&d))
        return false;
    assert_true(d.lower_ns <= end_ahead_ns && end_ahead_ns <= d.upper_ns);
    assert_in_range(d.upper_ns - d.lower_ns, 0, within_ns);
    return true;
}

static void test_fresh(void **state)
{
    static const int64_t ahead[] = {0, 300 * MS, -888 * MS, 3600 * S, -100 * S - 1};

    (void)state;
    for (size_t i = 0; i < sizeof ahead / sizeof *ahead; i++) {
        assert_true(tells(&(struct server){ahead[i], 0, 0, 0, 10 * MS, 5 * S}, 20 * MS));
        /* From one request alone, the Date may be old. */
        assert_true(tells(&(struct server){ahead[i], 0, 0, 0, S, S}, 6 * S + MS));
        /* A slow drift between clocks is no contradiction. */
        assert_true(tells(&(struct server){ahead[i], 100, 0, 0, 10 * MS, 600 * S}, 20 * MS));
        assert_true(tells(&(struct server){ahead[i], -100, 0, 0, 10 * MS, 600 * S}, 20 * MS));
    }
}

/* A Date that is renewed every 5 s is not the clock. Any bounds must still be true. */
static void test_cached(void **state)
{
    size_t n_told = 0;

    (void)state;
    for (int64_t phase = 0; phase < 5 * S; phase += 130 * MS) {
        struct server v = {0, 0, 5 * S, phase, 10 * MS, 10 * S};
        assert_false(tells(&v, 0));
        v.length_ns = 2 * S;
        n_told += tells(&v, 6 * S + MS);
        v.length_ns = 10 * MS;
        assert_true(tells(&v, 6 * S + MS));
    }
    assert_true(n_told > 10);
    /* A Date that is renewed every second makes the clock seem behind by its age, which cannot be
     * detected. */
    struct date_bracket d = seen(&(struct server){0, 0, S, 888 * MS, 10 * MS, 5 * S}, 0);
    assert_true(dates_settle(&d));
    assert_in_range(-d.upper_ns, 868 * MS, 888 * MS);
}

static void test_join(void **state)
{
    const struct server right = {0, 100, 0, 0, 10 * MS, 3 * S};
    const struct server wrong = {2 * S, 0, 0, 0, 10 * MS, 3 * S};
    const struct date_bracket none = {0};
    struct date_bracket d = none;

    (void)state;
    assert_false(dates_settle(&d));
    /* A loop whose bounds are old contributes them, widened by the drift. */
    struct date_bracket all = none, early = seen(&right, 0), late = seen(&right, 600 * S);
    dates_join(&all, &early);
    dates_join(&all, &none);
    dates_join(&all, &late);
    assert_true(dates_settle(&all));
    assert_in_range(all.lower_ns, 39 * MS, 61 * MS);
    struct date_bracket other = late;
    dates_join(&other, &early);
    assert_true(dates_settle(&other));
    assert_int_equal(other.lower_ns, all.lower_ns);
    assert_int_equal(other.upper_ns, all.upper_ns);
    struct date_bracket far = seen(&wrong, 0);
    dates_join(&far, &early);
    assert_false(dates_settle(&far));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fresh),
        cmocka_unit_test(test_cached),
        cmocka_unit_test(test_join),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
