/* Active ranges (docs/how-the-numbers-are-made.md, section 2) against small cases worked out by
 * hand. */
#include "libcommon/segment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define S INT64_C(1000000000)

static void all_threads_range(void **state)
{
    (void)state;
    struct segment_thread t[3] = {SEGMENT_THREAD_NONE, SEGMENT_THREAD_NONE, SEGMENT_THREAD_NONE};
    segment_thread_add(&t[0], 30, 40);
    segment_thread_add(&t[0], 0, 10);
    segment_thread_add(&t[2], 5, 15);
    segment_thread_add(&t[2], 25, 60);
    struct segment_range r = segment_range_all(t, 3); /* thread 1 ran nothing */
    assert_int_equal(r.start_ns, 15);
    assert_int_equal(r.end_ns, 25);
    assert_false(segment_thread_used(&t[1]));
    r = segment_range_all(t + 1, 1);
    assert_true(r.start_ns > r.end_ns);
}

static void range_needs_more_than_1_ns(void **state)
{
    (void)state;
    assert_false(segment_range_usable(&(struct segment_range){5, 5}));
    assert_false(segment_range_usable(&(struct segment_range){5, 6}));
    assert_true(segment_range_usable(&(struct segment_range){5, 7}));
    assert_false(segment_range_usable(&(struct segment_range){INT64_MAX, INT64_MIN}));
}

static void whole_segments_only(void **state)
{
    (void)state;
    /* t < end - length: the segment that would end with the range is left out. */
    static const struct {
        int64_t length, n;
    } cases[] = {{9, 0}, {10, 0}, {19, 1}, {20, 1}, {21, 2}, {30, 2}, {31, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct segment_range r = {100, 100 + cases[i].length};
        int64_t n = 0;
        for (int64_t t = r.start_ns; t < r.end_ns - 10; t += 10)
            n++;
        assert_int_equal(n, cases[i].n);
        assert_int_equal(segment_count(&r, 10), n);
    }
    assert_int_equal(segment_count(&(struct segment_range){0, INT64_MAX}, INT64_MAX), 0);
    assert_int_equal(segment_count(&(struct segment_range){INT64_MAX, INT64_MIN}, S), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_threads_range),
        cmocka_unit_test(range_needs_more_than_1_ns),
        cmocka_unit_test(whole_segments_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
