/* Slices and attribution (docs/how-the-numbers-are-made.md, section 3): cases by hand, and
 * properties over random requests. */
#include "analyze/data/slices.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S INT64_C(1000000000)

static struct attribution_request request(int64_t start, int64_t end, int64_t bytes, bool ok)
{
    return (struct attribution_request){start, end, bytes, 1, ok};
}

static struct slice_totals add_one(const struct slice_grid *g, struct slice_totals *s,
                                   struct attribution_request r, size_t k)
{
    memset(s, 0, g->n * sizeof *s);
    slices_add(g, s, &r);
    return s[k];
}

static void one_request_in_every_position(void **state)
{
    (void)state;
    struct slice_grid g;
    struct slice_totals s[3], x;
    slice_grid_init(&g, 100, 10, 3);

    x = add_one(&g, s, request(110, 119, 9, true), 1); /* within */
    assert_int_equal(x.full_ops, 1);
    assert_int_equal(x.partial_ops, 0);
    assert_int_equal(x.sum.bytes, 9);
    assert_int_equal(slice_ops_started(&x), 1);
    assert_int_equal(slice_ops_ended(&x), 1);

    x = add_one(&g, s, request(110, 120, 10, true), 1); /* ends where the next one begins */
    assert_int_equal(x.partial_ops, 1);
    assert_int_equal(x.sum.bytes, 10);
    assert_int_equal(slice_ops_started(&x), 1);
    assert_int_equal(slice_ops_ended(&x), 0);
    assert_int_equal(s[2].sum.bytes, 0);
    assert_int_equal(s[2].partial_ops, 1);
    assert_int_equal(slice_ops_ended(&s[2]), 1);
    assert_true(slice_ended_mean_ns(&s[2]) == 10);
    assert_true(isnan(slice_ended_mean_ns(&x)));

    x = add_one(&g, s, request(90, 140, 500, true), 1); /* over all three and on */
    assert_int_equal(x.sum.bytes, 100);
    assert_int_equal(x.partial_ops, 1);
    assert_int_equal(slice_ops_started(&x) + slice_ops_ended(&x), 0);
    assert_true(fabs(slice_n_objects(&x.sum) - 0.2) < 1e-15);
    assert_true(slice_in_flight(&x, 10) == 1);

    x = add_one(&g, s, request(115, 115, 7, true), 1); /* zero duration */
    assert_int_equal(x.full_ops, 1);
    assert_int_equal(x.sum.bytes, 7);
    x = add_one(&g, s, request(110, 110, 7, true), 1);
    assert_int_equal(x.full_ops, 1);
    assert_int_equal(s[0].partial_ops, 0);

    x = add_one(&g, s, request(50, 99, 7, true), 0); /* before */
    assert_int_equal(x.partial_ops + x.full_ops, 0);
    x = add_one(&g, s, request(130, 150, 7, true), 2); /* after */
    assert_int_equal(x.partial_ops + x.full_ops, 0);
}

static void failed_requests_add_no_bytes(void **state)
{
    (void)state;
    struct slice_grid g;
    struct slice_totals s[3], x;
    slice_grid_init(&g, 100, 10, 3);
    x = add_one(&g, s, request(111, 112, 5, false), 1);
    assert_int_equal(x.errors, 1);
    assert_int_equal(x.partial_ops + x.full_ops + x.sum.bytes + slice_ops_ended(&x), 0);
    x = add_one(&g, s, request(105, 112, 5, false), 1);
    assert_int_equal(x.errors, 1);
    assert_int_equal(x.partial_ops, 1);
    assert_int_equal(slice_ops_ended(&x), 1);
    assert_int_equal(x.sum.bytes, 0);
    assert_int_equal(s[0].errors, 0);
    assert_int_equal(slice_ops_started(&s[0]), 1);
    assert_true(isnan(slice_ended_mean_ns(&x)));
}

static uint64_t next_random(uint64_t *x)
{
    *x = *x * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *x >> 11;
}

/* Parts of requests over 1 to 10,000 segments, with sizes up to 2^62 and durations up to days. */
static void parts_add_up_to_the_size(void **state)
{
    (void)state;
    enum { N = 10000 };
    struct slice_totals *s = calloc(N, sizeof *s);
    struct slice_amounts *cells = malloc(N * sizeof *cells);
    assert_non_null(s);
    assert_non_null(cells);
    uint64_t seed = 1;
    for (int round = 0; round < 300; round++) {
        struct slice_grid g;
        int64_t length = 1 + (int64_t)(next_random(&seed) % (round % 2 ? 50 : 40000000000));
        slice_grid_init(&g, INT64_C(1795239958000000000), length, N);
        int64_t from = g.start_ns - 5 * length, span = length * (N + 10);
        int64_t start = from + (int64_t)(next_random(&seed) % (uint64_t)span);
        int64_t end = start + (int64_t)(next_random(&seed) % (uint64_t)span);
        struct attribution_request r = {start, end,
                                        (int64_t)(next_random(&seed) << (next_random(&seed) % 10)),
                                        (int64_t)(next_random(&seed) % 1000), round % 10 != 0};
        struct slices_outside o = {0};
        memset(s, 0, N * sizeof *s);
        slices_add(&g, s, &r);
        slices_add_outside(&g, &o, &r);

        struct slice_amounts sum = {0};
        int64_t n_errors = 0, n_ok_ended = 0;
        memset(cells, 0, N * sizeof *cells);
        slices_add_amounts(&g, cells, &r);
        for (size_t k = 0; k < N; k++) {
            assert_memory_equal(&cells[k], &s[k].sum, sizeof *cells);
            n_errors += s[k].errors;
            n_ok_ended += s[k].full_ops + s[k].ok_partial_ended;
            assert_true(s[k].sum.bytes >= 0 && s[k].sum.bytes <= r.bytes);
            slice_merge(&sum, &s[k].sum);
        }
        assert_int_equal(sum.bytes + o.before_bytes + o.after_bytes, r.ok ? r.bytes : 0);
        bool inside = end >= g.start_ns && end < g.end_ns;
        assert_int_equal(o.n_before + o.n_after, !inside);
        assert_int_equal(n_errors, inside && !r.ok);
        assert_int_equal(n_ok_ended, inside && r.ok);
        if (start >= g.start_ns && inside && r.ok) {
            assert_int_equal(sum.n_objects + (int64_t)(sum.object_frac >> ATTRIBUTION_FRAC_BITS),
                             r.n_objects);
            assert_true((sum.object_frac & (((unsigned __int128)1 << 96) - 1)) == 0);
        }
    }
    free(cells);
    free(s);
}

/* Any amount is spread like bytes, in proportion to the time spent in each bin; a duration gives
 * just that time. */
static void any_amount_is_spread_as_bytes_are(void **state)
{
    (void)state;
    static const int64_t ns[] = {3, 10, 10, 1}, bytes[] = {125, 416, 417, 42};
    struct slice_grid g;
    struct {
        int64_t ns, bytes;
    } bins[4] = {{0}};
    struct slice_amounts cells[4] = {{0}};
    const struct attribution_request r = request(107, 131, 1000, true);

    slice_grid_init(&g, 100, 10, 4);
    slices_add_amounts(&g, cells, &r);
    slices_spread(&g, 0, 3, &r, r.end_ns - r.start_ns, &bins[0].ns, sizeof *bins);
    slices_spread(&g, 0, 3, &r, r.bytes, &bins[0].bytes, sizeof *bins);
    for (size_t k = 0; k < 4; k++) {
        assert_int_equal(bins[k].ns, ns[k]);
        assert_int_equal(bins[k].bytes, bytes[k]);
        assert_int_equal(bins[k].bytes, cells[k].bytes);
    }
}

static void order_changes_nothing(void **state)
{
    (void)state;
    enum { N = 50, M = 1000 };
    struct slice_grid g;
    struct slice_totals a[N] = {0}, b[N] = {0};
    struct attribution_request r[M];
    uint64_t seed = 7;
    slice_grid_init(&g, 1000, 1000, N);
    for (size_t i = 0; i < M; i++) {
        int64_t start = (int64_t)(next_random(&seed) % 60000);
        r[i] = (struct attribution_request){start, start + (int64_t)(next_random(&seed) % 20000),
                                            (int64_t)(next_random(&seed) % 1000000), 3,
                                            next_random(&seed) % 5 != 0};
        slices_add(&g, a, &r[i]);
    }
    for (size_t i = M; i-- > 0;)
        slices_add(&g, b, &r[i]);
    assert_memory_equal(a, b, sizeof a);
}

static void objects_compare_closely(void **state)
{
    (void)state;
    struct slice_amounts a = {.n_objects = 2}, b = {.n_objects = 1};
    b.object_frac = (unsigned __int128)1 << 96; /* 1 + 1 */
    assert_true(slice_objects_key(&a) == slice_objects_key(&b));
    b.object_frac -= (unsigned __int128)1 << 32; /* 2^-64 less */
    assert_true(slice_objects_key(&a) > slice_objects_key(&b));
    assert_true(slice_objects_key(&(struct slice_amounts){0}) == 0);
}

/* 1/3 + 1/7 + 11/21 = 1, but not in binary. */
static void equal_sums_compare_equal(void **state)
{
    (void)state;
    struct slice_grid g;
    struct slice_amounts a = {0}, b = {0};
    const struct attribution_request parts[] = {
        {90, 120, 1, 1, true}, {60, 130, 1, 1, true}, {1, 211, 1, 1, true}};
    const struct attribution_request whole = {100, 105, 1, 1, true};
    slice_grid_init(&g, 100, 10, 1);
    slices_add_amounts(&g, &a, &parts[0]);
    slices_add_amounts(&g, &a, &parts[1]);
    slice_grid_init(&g, 100, 110, 1);
    slices_add_amounts(&g, &a, &parts[2]);
    slices_add_amounts(&g, &b, &whole);
    assert_true(a.object_frac != 0);
    assert_true(slice_objects_key(&a) == slice_objects_key(&b));
    a.object_frac += (unsigned __int128)1 << 32;
    assert_true(slice_objects_key(&a) > slice_objects_key(&b));
}

static void sizes_need_128_bits(void **state)
{
    (void)state;
    struct attribution_request r = {0, INT64_MAX, INT64_MAX, INT64_MAX, true};
    assert_int_equal(attribution_bytes_before(&r, 0), 0);
    assert_int_equal(attribution_bytes_before(&r, INT64_MAX / 3), INT64_MAX / 3);
    assert_int_equal(attribution_bytes_before(&r, INT64_MAX), INT64_MAX);
    assert_int_equal(attribution_objects_before(&r, 12345678901).whole, 12345678901);
    r.n_objects = 1;
    r.end_ns = 3;
    struct attribution_objects third = attribution_objects_before(&r, 1);
    assert_int_equal(third.whole, 0);
    assert_true(third.frac == ((unsigned __int128)1 << 96) / 3);
}

static void length_by_full_duration(void **state)
{
    (void)state;
    assert_int_equal(slice_choose_ns(0), S);
    assert_int_equal(slice_choose_ns(401 * S - 1), S); /* integer division */
    assert_int_equal(slice_choose_ns(401 * S), 5 * S);
    assert_int_equal(slice_choose_ns(401 * 5 * S), 15 * S);
    assert_int_equal(slice_choose_ns(401 * 15 * S), 60 * S);
    assert_int_equal(slice_choose_ns(401 * 3600 * S), 3 * 3600 * S);
    assert_int_equal(slice_choose_ns(INT64_MAX), 3 * 3600 * S);
}

/* Multiplication with a reciprocal gives the same index as division, at and beside each
 * boundary. */
static void index_is_exact(void **state)
{
    (void)state;
    static const int64_t lengths[] = {1, 3, 7, 1000, 999999937, S, 3 * 3600 * S + 1};
    static const int64_t starts[] = {0, 1795239958123456789, INT64_C(9000000000000000000)};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        for (size_t j = 0; j < sizeof starts / sizeof starts[0]; j++) {
            struct slice_grid g;
            size_t n = lengths[i] > S ? 10000 : 1000000;
            slice_grid_init(&g, starts[j], lengths[i], n);
            for (size_t k = 0; k < n; k += k < 100 || k > n - 100 ? 1 : 97) {
                int64_t a = g.start_ns + (int64_t)k * g.length_ns;
                assert_int_equal(slice_grid_index(&g, a), k);
                assert_int_equal(slice_grid_index(&g, a + g.length_ns - 1), k);
            }
        }
    }
}

/* Compares with the edges themselves, for each time span around a grid of three segments. */
static void spans_lie_within_one_segment_or_none(void **state)
{
    struct slice_grid g, none;

    (void)state;
    slice_grid_init(&g, 100, 10, 3);
    slice_grid_init(&none, 100, 10, 0);
    for (int64_t start = 95; start < 135; start++) {
        for (int64_t end = start; end < 135; end++) {
            size_t found = SIZE_MAX, wanted = SIZE_MAX;
            for (size_t k = 0; k < 3; k++)
                if (start >= 100 + 10 * (int64_t)k && end < 110 + 10 * (int64_t)k)
                    wanted = k;
            assert_int_equal(slice_grid_within(&g, start, end, &found), wanted != SIZE_MAX);
            assert_true(wanted == SIZE_MAX || found == wanted);
        }
        if (start >= 100)
            assert_int_equal(slice_grid_nearest(&g, start), start < 130 ? (start - 100) / 10 : 2);
        assert_int_equal(slice_grid_nearest(&none, start + 5), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_request_in_every_position),
        cmocka_unit_test(failed_requests_add_no_bytes),
        cmocka_unit_test(parts_add_up_to_the_size),
        cmocka_unit_test(any_amount_is_spread_as_bytes_are),
        cmocka_unit_test(order_changes_nothing),
        cmocka_unit_test(objects_compare_closely),
        cmocka_unit_test(equal_sums_compare_equal),
        cmocka_unit_test(sizes_need_128_bits),
        cmocka_unit_test(length_by_full_duration),
        cmocka_unit_test(index_is_exact),
        cmocka_unit_test(spans_lie_within_one_segment_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
