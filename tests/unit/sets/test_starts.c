/* The range of requests without thread numbers (docs/how-the-numbers-are-made.md, section 2),
 * compared with small cases worked out by hand. */
#include "analyze/summary/sets/starts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct segment_starts starts_of(const int64_t *v, size_t n)
{
    struct segment_starts s = SEGMENT_STARTS_NONE;
    for (size_t i = 0; i < n; i++)
        segment_starts_add(&s, v[i]);
    return s;
}

static void starts_in_any_order(void **state)
{
    (void)state;
    static const int64_t v[][4] = {{5, 5, 7, 9}, {9, 7, 5, 5}, {7, 5, 9, 5}, {5, 9, 5, 7}};
    for (size_t i = 0; i < 4; i++) {
        struct segment_starts s = starts_of(v[i], 4);
        assert_int_equal(s.first_ns, 5);
        assert_int_equal(s.second_ns, 7);
        assert_int_equal(s.last_ns, 9);
    }
}

static void starts_merge_as_one_set(void **state)
{
    (void)state;
    static const int64_t v[] = {5, 5, 7, 9, 6, 12};
    for (size_t cut = 0; cut <= 6; cut++) {
        struct segment_starts a = starts_of(v, cut), b = starts_of(v + cut, 6 - cut);
        segment_starts_merge(&a, &b);
        assert_int_equal(a.first_ns, 5);
        assert_int_equal(a.second_ns, 6);
        assert_int_equal(a.last_ns, 12);
    }
}

static void single_range(void **state)
{
    (void)state;
    static const int64_t v[] = {10, 20, 50};
    struct segment_starts s = starts_of(v, 3);
    struct segment_range r = segment_range_single(&s, 45);
    assert_int_equal(r.start_ns, 20);
    assert_int_equal(r.end_ns, 45);
    assert_true(segment_range_usable(&r));
    /* No request ends before the last start: the range is empty. */
    r = segment_range_single(&s, INT64_MIN);
    assert_int_equal(r.end_ns, 10);
    assert_false(segment_range_usable(&r));
}

static void single_range_of_one_start(void **state)
{
    (void)state;
    static const int64_t v[] = {10, 10};
    struct segment_starts s = starts_of(v, 2);
    struct segment_range r = segment_range_single(&s, INT64_MIN);
    assert_int_equal(r.start_ns, 10);
    assert_int_equal(r.end_ns, 10);
    assert_false(segment_range_usable(&r));
    s = SEGMENT_STARTS_NONE;
    r = segment_range_single(&s, INT64_MIN);
    assert_true(r.start_ns > r.end_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_in_any_order),
        cmocka_unit_test(starts_merge_as_one_set),
        cmocka_unit_test(single_range),
        cmocka_unit_test(single_range_of_one_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
