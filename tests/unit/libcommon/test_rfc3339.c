#include "libcommon/rfc3339.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define NS INT64_C(1000000000)

static int64_t parsed(const char *text)
{
    int64_t ns;
    if (!rfc3339_parse(text, strlen(text), &ns))
        fail_msg("not accepted: %s", text);
    return ns;
}

static void test_known_times(void **state)
{
    (void)state;
    assert_int_equal(parsed("1970-01-01T00:00:00Z"), 0);
    assert_int_equal(parsed("1970-01-01T00:00:00.000000001Z"), 1);
    assert_int_equal(parsed("2000-02-29T23:59:59Z"), 951868799 * NS);
    assert_int_equal(parsed("2026-11-21T05:41:32.369461363Z"), 1795239692369461363);
    assert_int_equal(parsed("2262-04-11T23:47:16.854775807Z"), INT64_MAX);
    assert_int_equal(parsed("2100-03-01T00:00:00Z") - parsed("2100-02-28T00:00:00Z"), 86400 * NS);
}

static void test_fractions(void **state)
{
    (void)state;
    char text[64];
    int64_t expected = 0;
    int64_t weight = NS;
    for (int n = 1; n <= 9; n++) {
        weight /= 10;
        expected += n * weight;
        snprintf(text, sizeof text, "1970-01-01T00:00:00.%.*sZ", n, "123456789");
        assert_int_equal(parsed(text), expected);
    }
}

static void test_offsets(void **state)
{
    (void)state;
    int64_t utc = parsed("2026-11-21T05:41:32Z");
    assert_int_equal(parsed("2026-11-21T06:41:32+01:00"), utc);
    assert_int_equal(parsed("2026-11-20T22:11:32-07:30"), utc);
    assert_int_equal(parsed("2026-11-21T05:41:32-00:00"), utc);
    assert_int_equal(parsed("2026-11-22T05:40:32+23:59"), utc);
    /* The year as written is out of range, but the time is not; and the reverse. */
    assert_int_equal(parsed("1969-12-31T23:30:00-01:00"), 1800 * NS);
    assert_int_equal(parsed("2262-04-12T00:47:16.854775807+01:00"), INT64_MAX);
}

static void test_rejected(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "2026",
        "2026-11-21",
        "2026-11-21T05:41:32",
        "2026-11-21T05:41Z",
        "2026-11-21t05:41:32Z",
        "2026-11-21T05:41:32z",
        "2026-11-21 05:41:32Z",
        " 2026-11-21T05:41:32Z",
        "2026-11-21T05:41:32Z ",
        "2026-11-21T05:41:32ZZ",
        "2026/11/21T05:41:32Z",
        "2026-11-21T05-41-32Z",
        "2026-1-21T05:41:32Z",
        "202a-11-21T05:41:32Z",
        "2026-11-21T05:41:3/Z",
        "2026-11-21T05:41:32.Z",
        "2026-11-21T05:41:32,5Z",
        "2026-11-21T05:41:32.1234567890Z",
        "2026-11-21T05:41:32.12x4Z",
        "2026-11-21T05:41:32.5",
        "2026-11-21T05:41:32+01",
        "2026-11-21T05:41:32+0100",
        "2026-11-21T05:41:32+01:0",
        "2026-11-21T05:41:32+01.00",
        "2026-11-21T05:41:32+24:00",
        "2026-11-21T05:41:32+01:60",
        "2026-11-21T05:41:32Z+01:00",
        "2026-00-21T05:41:32Z",
        "2026-13-21T05:41:32Z",
        "2026-11-00T05:41:32Z",
        "2026-11-31T05:41:32Z",
        "2026-02-29T05:41:32Z",
        "2100-02-29T05:41:32Z",
        "2026-11-21T24:00:00Z",
        "2026-11-21T05:60:32Z",
        "2026-11-21T05:41:60Z",
        "1969-12-31T23:59:59.999999999Z",
        "1970-01-01T00:59:59+01:00",
        "2262-04-11T23:47:16.854775808Z",
        "2262-04-11T23:47:17Z",
        "2262-04-11T23:47:16.854775807-00:01",
        "2263-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "0000-01-01T00:00:00Z",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t ns = 42;
        if (rfc3339_parse(bad[i], strlen(bad[i]), &ns))
            fail_msg("accepted: '%s'", bad[i]);
        assert_int_equal(ns, 42);
    }
}

/* No prefix of a valid time is valid, and no byte beyond the given length is read. */
static void test_length(void **state)
{
    (void)state;
    const char text[] = "2026-11-21T06:41:32.369461363+01:00";
    for (size_t n = 0; n <= strlen(text); n++) {
        char *copy = malloc(n + (n == 0));
        assert_non_null(copy);
        memcpy(copy, text, n);
        int64_t ns;
        assert_int_equal(rfc3339_parse(copy, n, &ns), n == strlen(text));
        free(copy);
    }
}

static void test_format(void **state)
{
    (void)state;
    assert_string_equal(rfc3339_format(-1).s, "1969-12-31T23:59:59.999999999Z");
    assert_string_equal(rfc3339_format(-86400 * NS).s, "1969-12-31T00:00:00.000000000Z");
    assert_string_equal(rfc3339_format(0).s, "1970-01-01T00:00:00.000000000Z");
    assert_string_equal(rfc3339_format(INT64_MAX).s, "2262-04-11T23:47:16.854775807Z");
    char out[RFC3339_LENGTH];
    assert_ptr_equal(rfc3339_put(out, 951868799 * NS + 5), out + sizeof out);
    assert_memory_equal(out, "2000-02-29T23:59:59.000000005Z", sizeof out);
}

/* Compares every day of the range with the C library, in both directions. */
static void test_every_day(void **state)
{
    (void)state;
    for (int64_t day = 0; day <= INT64_MAX / (86400 * NS); day++) {
        int64_t s = day * 86400 + day * 7919 % 86400;
        int64_t ns = s < INT64_MAX / NS ? s * NS + day % NS : INT64_MAX;
        time_t t = (time_t)(ns / NS);
        struct tm tm;
        char expected[32], text[48];
        strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%S", gmtime_r(&t, &tm));
        snprintf(text, sizeof text, "%s.%09" PRId64 "Z", expected, ns % NS);
        assert_string_equal(rfc3339_format(ns).s, text);
        assert_int_equal(parsed(text), ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_times), cmocka_unit_test(test_fractions),
        cmocka_unit_test(test_offsets),     cmocka_unit_test(test_rejected),
        cmocka_unit_test(test_length),      cmocka_unit_test(test_format),
        cmocka_unit_test(test_every_day),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
