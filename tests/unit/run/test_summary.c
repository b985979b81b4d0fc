#include "loadgen/run/bench.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void expect_line(const char *command, const struct options *o, const struct summary *s,
                        const char *line)
{
    static struct bench b;
    const struct cli_command named = {.name = command};
    struct strbuf text = {0};

    b.args.command = &named;
    b.o = o;
    b.summary = *s;
    summary_put_line(&text, &b);
    assert_false(text.failed);
    assert_string_equal(text.s, line);
    strbuf_fini(&text);
}

static void test_last_line_fits(void **state)
{
    (void)state;
    struct options options = {.run_id = "abcdefghijkl", .load.seed = 4294967295};
    struct summary s = {.bench_ns = INT64_C(300000000000),
                        .counts = {.n_requests = 123456, .n_errors = 0}};

    expect_line("put", &options, &s,
                "put: 123,456 requests, 0 failed, in 5m (run abcdefghijkl, seed 4294967295)\n");
    s.counts.n_requests = UINT64_C(1234567890123);
    s.counts.n_errors = UINT64_C(1234567890122);
    expect_line("versioned", &options, &s,
                "versioned: 1,234,567,890,123 requests, 1,234,567,890,122 failed, in 5m\n"
                "(run abcdefghijkl, seed 4294967295)\n");
    options.load.seed = 0;
    s = (struct summary){.n_prepared = 1234567, .n_not_prepared = 208, .end = "signal"};
    expect_line("get", &options, &s,
                "get: interrupted before the benchmark: 1,234,567 objects prepared, 208 failed\n"
                "(run abcdefghijkl, seed 0)\n");
    s.bench_ns = 1000000000;
    expect_line("get", &options, &s,
                "get: 0 requests, 0 failed, in 1s; 208 uploads of the preparation failed; "
                "interrupted\n(run abcdefghijkl, seed 0)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_last_line_fits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
