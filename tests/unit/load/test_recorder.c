/* loadgen/load/recorder: what it counts for the screen. */
#include "loadgen/load/recorder.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void add(struct recorder_port *p, int64_t duration_ns, const char *error)
{
    const struct record row = {
        .start_ns = 0,
        .end_ns = duration_ns,
        .first_byte_ns = RECORD_NO_TIME,
        .last_byte_ns = RECORD_NO_TIME,
        .intended_ns = RECORD_NO_TIME,
        .bytes = 10,
        .n_objects = 1,
        .op = slice_of("GET"),
        .error = slice_of(error),
    };

    recorder_add(p, &row, true);
}

/* Returns the figures of the requests that were added since the last call. */
static struct recorder_tick tick_of(struct recorder *r, struct recorder_port *p)
{
    struct recorder_tick tick;

    recorder_flush(p, 0);
    recorder_drain(r);
    recorder_take_tick(r, &tick);
    return tick;
}

static void test_tick(void **state)
{
    (void)state;
    struct err e = {0};
    struct recorder_port p;
    struct recorder *r = recorder_open(&(struct recorder_options){.fd = -1, .n_loops = 1}, "", &e);
    assert_non_null(r);
    recorder_port_init(&p, r, 0);

    for (int64_t ns = 1; ns <= 1000; ns++)
        add(&p, ns, "");
    add(&p, 5000, "HTTP 503");
    struct recorder_tick tick = tick_of(r, &p);
    assert_int_equal(tick.counts.n_requests, 1001);
    assert_int_equal(tick.counts.n_errors, 1);
    assert_int_equal(tick.counts.n_bytes, 10000);
    assert_int_equal(tick.p50_ns, 501);
    assert_int_equal(tick.p99_ns, 991);

    /* The upper end of a bucket, but not above the longest; and a duration that has no bucket. */
    for (int i = 0; i < 100; i++)
        add(&p, i < 98 ? 1000000 : 2000000, "");
    tick = tick_of(r, &p);
    assert_int_equal(tick.p50_ns, 1000447);
    assert_int_equal(tick.p99_ns, 2000000);
    add(&p, INT64_C(1) << 50, "");
    assert_int_equal(tick_of(r, &p).p99_ns, INT64_C(1) << 50);
    assert_int_equal(tick_of(r, &p).p99_ns, 0);
    add(&p, 1000000, "");
    assert_int_equal(tick_of(r, &p).p99_ns, 1000000);
    recorder_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tick)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
