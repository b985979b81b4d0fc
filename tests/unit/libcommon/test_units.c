#include "libcommon/units.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

struct parse_case {
    const char *text;
    int64_t value;
};

static void test_parse_size(void **state)
{
    (void)state;
    static const struct parse_case good[] = {
        {"0", 0},
        {"65536", 65536},
        {"12B", 12},
        {"64K", 65536},
        {"64k", 65536},
        {"1KiB", 1024},
        {"1KB", 1024},
        {"10MB", 10485760},
        {"10MiB", 10485760},
        {"10 MiB", 10485760},
        {"10mib", 10485760},
        {"1.5GiB", 1610612736},
        {".5K", 512},
        {"0.0001K", 0},
        {"2TiB", INT64_C(2) << 40},
        {"1PB", INT64_C(1) << 50},
        {"7E", INT64_C(7) << 60},
        {"9223372036854775807", INT64_MAX},
        {"1.0", 1},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t v;
        struct err e = {0};
        if (!units_parse_size(good[i].text, &v, &e))
            fail_msg("%s: %s", good[i].text, e.msg);
        if (v != good[i].value)
            fail_msg("%s gave %lld", good[i].text, (long long)v);
    }
    static const char *const bad[] = {
        "",
        " 1",
        "-1",
        "+1",
        "1X",
        "K",
        ".",
        "1.5",
        "1.5B",
        "1KiBs",
        "1iB",
        "1Ki",
        "0x10",
        "1e3",
        "1 ",
        "inf",
        "1,000",
        "1KK",
        "8EiB",
        "8192P",
        "9223372036854775808",
        "99999999999999999999",
        "18446744073709551616",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t v;
        struct err e = {0};
        if (units_parse_size(bad[i], &v, &e))
            fail_msg("accepted '%s'", bad[i]);
        assert_non_null(strstr(e.msg, "expected a size"));
    }
}

static void test_parse_duration(void **state)
{
    (void)state;
    static const struct parse_case good[] = {
        {"0", 0},
        {"0s", 0},
        {"0.0", 0},
        {"7d", 7 * 86400 * S},
        {"1w", 7 * 86400 * S},
        {"1d12h", 36 * 3600 * S},
        {"10s", 10 * S},
        {"500ms", 500 * MS},
        {"250us", 250 * US},
        {"250\u00b5s", 250 * US},
        {"7ns", 7},
        {"1m30s", 90 * S},
        {"1.5h", 5400 * S},
        {"1h2m3.004005006s", 3723 * S + 4005006},
        {"2h45m", 165 * 60 * S},
        {".5s", 500 * MS},
        {"1.s", S},
        {"0.1ns", 0},
        {"9223372036.854775807s", INT64_MAX},
        {"9223372036s854775807ns", INT64_MAX},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t v;
        struct err e = {0};
        if (!units_parse_duration(good[i].text, false, &v, &e))
            fail_msg("%s: %s", good[i].text, e.msg);
        if (v != good[i].value)
            fail_msg("%s gave %lld", good[i].text, (long long)v);
    }
    static const char *const bad[] = {
        "",
        "s",
        "1x",
        "1m30",
        "1 s",
        " 1s",
        "-1s",
        "+1s",
        "1s ",
        "1..",
        "1.2.3s",
        "1e3s",
        "10",
        "1.5",
        "1y",
        "--1s",
        "1s-2s",
        "ms",
        "1sm",
        "0x1s",
        "9223372036.854775808s",
        "9223372037s",
        "2562048h",
        "9223372036s854775808ns",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t v;
        struct err e = {0};
        if (units_parse_duration(bad[i], false, &v, &e))
            fail_msg("accepted '%s'", bad[i]);
        assert_non_null(strstr(e.msg, "expected a "));
    }
    int64_t v;
    assert_true(units_parse_duration("-1m30s", true, &v, NULL));
    assert_int_equal(v, -90 * S);
    assert_true(units_parse_duration("+2s", true, &v, NULL));
    assert_int_equal(v, 2 * S);
    assert_false(units_parse_duration("--2s", true, &v, NULL));
    assert_false(units_parse_duration("-", true, &v, NULL));
}

static void test_parse_numbers(void **state)
{
    (void)state;
    int64_t i;
    assert_true(units_parse_int("-42", &i, NULL));
    assert_int_equal(i, -42);
    assert_true(units_parse_int("9223372036854775807", &i, NULL));
    assert_int_equal(i, INT64_MAX);
    static const char *const bad_ints[] = {
        "", "-", " 1", "1 ", "1.0", "0x1", "1e3", "+-1", "9223372036854775808"};
    for (size_t k = 0; k < sizeof bad_ints / sizeof bad_ints[0]; k++)
        assert_false(units_parse_int(bad_ints[k], &i, NULL));

    double d;
    assert_true(units_parse_double("-2.5e3", &d, NULL));
    assert_true(d == -2500);
    assert_true(units_parse_double(".25", &d, NULL));
    assert_true(d == 0.25);
    static const char *const bad_doubles[] = {"",     ".",  "nan", "inf", "-inf", "1e999",
                                              "0x10", " 1", "1 ",  "1,5", "e5",   "-"};
    for (size_t k = 0; k < sizeof bad_doubles / sizeof bad_doubles[0]; k++)
        assert_false(units_parse_double(bad_doubles[k], &d, NULL));

    assert_true(units_parse_pct("7.5%", &d, NULL));
    assert_true(d == 7.5);
    assert_true(units_parse_pct("-3", &d, NULL));
    assert_true(d == -3);
    assert_true(units_parse_pct("0", &d, NULL));
    assert_true(units_parse_pct("0.5", &d, NULL));
    assert_true(units_parse_pct("0.05%", &d, NULL));
    assert_true(d == 0.05);
    assert_false(units_parse_pct("0.49", &d, NULL));
    assert_false(units_parse_pct("5%%", &d, NULL));
    assert_false(units_parse_pct("5 %", &d, NULL));
    assert_false(units_parse_pct("%", &d, NULL));

    assert_true(units_parse_byte_rate("1.5MiB/s", &d, NULL));
    assert_true(d == 1.5 * MIB);
    assert_false(units_parse_byte_rate("1.5MiB", &d, NULL));
    assert_false(units_parse_byte_rate("/s", &d, NULL));
    assert_false(units_parse_byte_rate("000000000000000000000000000001KiB/s", &d, NULL));
    assert_true(units_parse_rate("250", &d, NULL));
    assert_true(d == 250);
    assert_true(units_parse_rate("1.5k", &d, NULL));
    assert_true(d == 1500);
    assert_true(units_parse_rate("90/m", &d, NULL));
    assert_true(d == 1.5);
    assert_true(units_parse_rate("2k/s", &d, NULL));
    assert_true(d == 2000);
    assert_true(units_parse_rate("36/h", &d, NULL));
    assert_true(d == 0.01);
    assert_false(units_parse_rate("-1", &d, NULL));
    assert_false(units_parse_rate("1/d", &d, NULL));
    assert_false(units_parse_rate("1kk", &d, NULL));
    assert_false(units_parse_rate("1e308M", &d, NULL));
}

static void test_duration(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        {0, "0s"},
        {1, "1ns"},
        {999, "999ns"},
        {US, "1us"},
        {1870, "1.87us"},
        {1871, "1.87us"},
        {1996, "2.00us"},
        {9994, "9.99us"},
        {9996, "10.0us"},
        {25400, "25.4us"},
        {254000, "254us"},
        {999400, "999us"},
        {999600, "1.00ms"},
        {1874321, "1.87ms"},
        {33000000, "33ms"},
        {33000001, "33.0ms"},
        {99960000, "100ms"},
        {500 * MS, "500ms"},
        {S, "1s"},
        {1500 * MS, "1.5s"},
        {2518 * MS, "2.52s"},
        {2496 * MS, "2.50s"},
        {10 * S, "10s"},
        {59949 * MS, "59.9s"},
        {59960 * MS, "1m0.0s"},
        {60 * S, "1m"},
        {90 * S, "1m30s"},
        {299862 * MS, "4m59.9s"},
        {299976 * MS, "5m0.0s"},
        {300 * S, "5m"},
        {3599960 * MS, "1h0m0s"},
        {3600 * S, "1h"},
        {5400 * S, "1h30m"},
        {3723 * S, "1h2m3s"},
        {3723 * S + 600 * MS, "1h2m4s"},
        {100 * 3600 * S, "100h"},
        {-1874321, "-1.87ms"},
        {-90 * S, "-1m30s"},
        {INT64_MAX, "2562047h47m17s"},
        {INT64_MIN, "-2562047h47m17s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(units_duration(cases[i].ns).s, cases[i].text);
}

static void test_size(void **state)
{
    (void)state;
    static const struct {
        double bytes;
        const char *text;
    } cases[] = {
        {0, "0B"},
        {0.0123, "0.0123B"},
        {12.5, "12.5B"},
        {512, "512B"},
        {1023, "1023B"},
        {1024, "1KiB"},
        {1996, "1.95KiB"},
        {10235, "10.0KiB"},
        {98.0 * 1048576 + 4, "98.0MiB"},
        {10485760, "10MiB"},
        {321.35 * 1048576, "321.4MiB"},
        {1023.96 * 1024, "1.00MiB"},
        {2.0 * 1024 * 1048576 * 1024, "2TiB"},
        {-1536, "-1.50KiB"},
        {9223372036854775807.0, "8EiB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(units_size(cases[i].bytes).s, cases[i].text);
    assert_string_equal(units_byte_rate(98.04 * 1048576).s, "98.0MiB/s");
    assert_string_equal(units_byte_rate(2 * 1048576).s, "2.00MiB/s");
    assert_string_equal(units_byte_rate(512).s, "512B/s");
}

static void test_rate_pct_count(void **state)
{
    (void)state;
    assert_string_equal(units_rate(0).s, "0");
    assert_string_equal(units_rate(0.01234).s, "0.0123");
    assert_string_equal(units_rate(1).s, "1.00");
    assert_string_equal(units_rate(73.094).s, "73.09");
    assert_string_equal(units_rate(99.96).s, "100.0");
    assert_string_equal(units_rate(9652.01).s, "9652.0");
    assert_string_equal(units_rate(-9652.06).s, "-9652.1");
    assert_string_equal(units_rate(1e300).s, "1.0e+300");
    assert_string_equal(units_object_rate(9652.01).s, "9652.0 obj/s");
    assert_string_equal(units_object_rate(-1e300).s, "-1.0e+300 obj/s");
    assert_string_equal(units_pct(-3.214).s, "-3.21 %");
    assert_string_equal(units_pct(0).s, "0 %");
    assert_string_equal(units_change(2.5).s, "+2.50");
    assert_string_equal(units_change(-0.267).s, "-0.27");
    assert_string_equal(units_change(-0.004).s, "+0.00");
    assert_string_equal(units_change(-0.0).s, "+0.00");
    assert_string_equal(units_change(-9.996).s, "-10.0");
    assert_string_equal(units_change(112.7).s, "+113");
    assert_string_equal(units_change(-INFINITY).s, "-inf");
    assert_string_equal(units_count(0).s, "0");
    assert_string_equal(units_count(999).s, "999");
    assert_string_equal(units_counted(1, "request").s, "1 request");
    assert_string_equal(units_counted(24032, "request").s, "24,032 requests");
    assert_string_equal(units_count(84886).s, "84,886");
    assert_string_equal(units_count(-1000000).s, "-1,000,000");
    assert_string_equal(units_count(INT64_MIN).s, "-9,223,372,036,854,775,808");
}

static void test_real_duration(void **state)
{
    (void)state;
    assert_string_equal(units_real_duration(1.5e6).s, "1.5ms");
    assert_string_equal(units_real_duration(-0.4).s, "0s");
    assert_string_equal(units_real_duration(NAN).s, "-");
    assert_string_equal(units_real_duration(1e300).s, units_duration(INT64_MAX).s);
    assert_string_equal(units_real_duration(-INFINITY).s, units_duration(INT64_MIN).s);
}

/* Three significant digits that read back as the value rounded: 0.5 % at most. */
static void test_duration_reads_back(void **state)
{
    (void)state;
    for (int64_t ns = 1; ns < INT64_MAX / 3 * 2; ns += ns / 37 + 1) {
        int64_t back;
        assert_true(units_parse_duration(units_duration(ns).s, false, &back, NULL));
        int64_t off = back > ns ? back - ns : ns - back;
        if (off > ns / 199)
            fail_msg("%lld -> %s", (long long)ns, units_duration(ns).s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_size),
        cmocka_unit_test(test_parse_duration),
        cmocka_unit_test(test_parse_numbers),
        cmocka_unit_test(test_duration),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_rate_pct_count),
        cmocka_unit_test(test_duration_reads_back),
        cmocka_unit_test(test_real_duration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
