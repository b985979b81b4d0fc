/* Active ranges and grids (docs/how-the-numbers-are-made.md, sections 2 and 3) against small cases
 * worked out by hand.
 */
#include "libcommon/segment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define S INT64_C(1000000000)

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
    /* No end before the last start: from the second to the first start, which is empty. */
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

static void length_by_full_duration(void **state)
{
    (void)state;
    assert_int_equal(segment_choose_ns(0), S);
    assert_int_equal(segment_choose_ns(401 * S - 1), S); /* integer division */
    assert_int_equal(segment_choose_ns(401 * S), 5 * S);
    assert_int_equal(segment_choose_ns(401 * 5 * S), 15 * S);
    assert_int_equal(segment_choose_ns(401 * 15 * S), 60 * S);
    assert_int_equal(segment_choose_ns(401 * 3600 * S), 3 * 3600 * S);
    assert_int_equal(segment_choose_ns(INT64_MAX), 3 * 3600 * S);
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

/* The product with a reciprocal gives what a division gives, at and beside each boundary. */
static void index_is_exact(void **state)
{
    (void)state;
    static const int64_t lengths[] = {1, 3, 7, 1000, 999999937, S, 3 * 3600 * S + 1};
    static const int64_t starts[] = {0, 1795239958123456789, INT64_C(9000000000000000000)};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        for (size_t j = 0; j < sizeof starts / sizeof starts[0]; j++) {
            struct segment_grid g;
            size_t n = lengths[i] > S ? 10000 : 1000000;
            segment_grid_init(&g, starts[j], lengths[i], n);
            for (size_t k = 0; k < n; k += k < 100 || k > n - 100 ? 1 : 97) {
                int64_t a = g.start_ns + (int64_t)k * g.length_ns;
                assert_int_equal(segment_grid_index(&g, a), k);
                assert_int_equal(segment_grid_index(&g, a + g.length_ns - 1), k);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_in_any_order),
        cmocka_unit_test(starts_merge_as_one_set),
        cmocka_unit_test(single_range),
        cmocka_unit_test(single_range_of_one_start),
        cmocka_unit_test(all_threads_range),
        cmocka_unit_test(range_needs_more_than_1_ns),
        cmocka_unit_test(length_by_full_duration),
        cmocka_unit_test(whole_segments_only),
        cmocka_unit_test(index_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
