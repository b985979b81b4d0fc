/* analyze/table, compared with plain arrays: columns that begin with one value, become many, have
 * wide values, and are appended to each other. */
#include "analyze/data/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define N 20000

static uint64_t seed;

static uint64_t next_random(uint64_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % below;
}

/* Returns `usual` up to row `until`, then any value: wide ones and (if optional) missing ones
 * too. */
static int64_t value(size_t i, size_t until, int64_t usual, bool optional)
{
    if (i < until)
        return usual;
    switch (next_random(8)) {
    case 0:
        return (int64_t)PACKED_WIDE_BASE + (int64_t)next_random(1000);
    case 1:
        return INT64_MAX;
    case 2:
        return optional ? RECORD_NO_TIME : 0;
    case 3:
        return optional ? -5 : (int64_t)PACKED_WIDE_BASE - 1;
    default:
        return (int64_t)next_random(1000000);
    }
}

/* A request as it must come out of a table. */
struct request {
    int64_t start, dur, bytes, ttfb, objects, late;
    uint64_t object;
    uint32_t thread, place;
    uint16_t error;
};

static struct request request_at(size_t i, size_t until)
{
    return (struct request){
        .start = (int64_t)i * 1000,
        .dur = value(i, until, 7, false),
        .bytes = value(i, until, (int64_t)PACKED_WIDE_BASE + 5, false),
        .ttfb = value(i, until, RECORD_NO_TIME, true),
        .objects = value(i, until, 1, false),
        .late = value(i, until, RECORD_NO_TIME, true),
        .object = i * 31,
        .thread = (uint32_t)(i % 7 + (i < 3 * until ? 0 : UINT16_MAX)),
        .place = i < until ? 2 : (uint32_t)(i % 3),
        .error = i < until ? 0 : (uint16_t)next_random(3),
    };
}

static void put(struct table_rows *to, const struct request *r)
{
    size_t i = to->n++;
    to->start[i] = r->start;
    to->dur[i] = r->dur;
    to->bytes[i] = r->bytes;
    to->ttfb[i] = r->ttfb;
    to->objects[i] = r->objects;
    to->late[i] = r->late;
    to->object[i] = r->object;
    to->thread[i] = r->thread;
    to->place[i] = r->place;
    to->error[i] = r->error;
}

static void assert_packed(const struct packed *c, size_t i, int64_t want, bool optional)
{
    assert_int_equal(packed_has(c, i), !optional || want != RECORD_NO_TIME);
    if (packed_has(c, i))
        assert_int_equal(packed_get(c, i), want);
}

static void assert_row(const struct table *t, size_t i, const struct request *want)
{
    assert_int_equal(t->start[i], want->start);
    assert_int_equal(t->object[i], want->object);
    assert_int_equal(table_thread(t, i), want->thread);
    assert_int_equal(table_place(t, i), want->place);
    assert_int_equal(table_error(t, i), want->error);
    assert_packed(&t->dur, i, want->dur, false);
    assert_packed(&t->bytes, i, want->bytes, false);
    assert_packed(&t->ttfb, i, want->ttfb, true);
    assert_packed(&t->objects, i, want->objects, false);
    assert_packed(&t->late, i, want->late, true);
}

/* Appends a part to a table, thread by thread and place by place. */
static bool append(struct table *all, const struct table *part)
{
    const uint16_t errors[] = {0, 1, 2};
    uint32_t *threads = calloc(part->n, sizeof *threads), *places = calloc(part->n, sizeof *places);
    assert_true(threads && places);
    for (size_t i = 0; i < part->n; i++) {
        threads[i] = table_thread(part, i);
        places[i] = table_place(part, i);
    }
    bool ok = table_append(all, part, threads, places, errors, NULL);
    free(threads);
    free(places);
    return ok;
}

/* Adds rows to a part in blocks of several sizes, and appends parts to each other, as when a
 * capture is read. */
static void check(size_t until, size_t part_rows)
{
    struct request *want = calloc(N, sizeof *want);
    struct table_rows block = {0};
    struct table all, part;
    assert_non_null(want);
    assert_true(table_init(&all, 0, N / 4) && table_init(&part, 0, 4096));
    seed = until + part_rows;
    for (size_t i = 0; i < N; i++) {
        want[i] = request_at(i, until);
        put(&block, &want[i]);
        bool ends_part = part.n + block.n == part_rows || i + 1 == N;
        if (ends_part || block.n == 1 + part.n % TABLE_BLOCK_ROWS) {
            assert_true(table_add(&part, &block, NULL));
            for (size_t k = 0; k < block.n; k++)
                assert_row(&part, part.n - 1 - k, &want[i - k]);
            block.n = 0;
        }
        if (ends_part) {
            table_expect(&all, i % 3 ? 2 * i : 40 * N);
            assert_true(append(&all, &part));
            table_clear(&part);
        }
    }
    assert_int_equal(all.n, N);
    for (size_t i = 0; i < N; i++)
        assert_row(&all, i, &want[i]);
    table_move_row(&all, 0, N - 1);
    assert_row(&all, 0, &want[N - 1]);
    table_fini(&part);
    table_fini(&all);
    free(want);
}

static void test_columns_vary_from_the_start(void **state)
{
    (void)state;
    check(0, 1);
    check(0, 1000);
}

static void test_columns_vary_later(void **state)
{
    (void)state;
    check(1, 1);
    check(999, 1000);
    check(1000, 1000);
    check(12345, 5000);
}

/* A column with a single value takes no memory. */
static void test_columns_of_one_value(void **state)
{
    (void)state;
    struct table t;
    assert_true(table_init(&t, 0, 4096));
    for (size_t i = 0; i < N; i++) {
        struct table_rows block = {0};
        struct request r = request_at(i, N);
        r.bytes = 4096;
        put(&block, &r);
        assert_true(table_add(&t, &block, NULL));
    }
    assert_true(t.dur.v == NULL && t.bytes.v == NULL && t.ttfb.v == NULL && t.objects.v == NULL);
    assert_true(t.place.v == NULL && t.place.wide == NULL);
    assert_int_equal(table_place(&t, N - 1), 2);
    assert_true(t.thread.v != NULL && t.thread.wide == NULL);
    assert_null(t.error);
    assert_true(packed_has_none(&t.ttfb) && packed_has_none(&t.late));
    assert_false(packed_has_none(&t.bytes));
    assert_int_equal(packed_get(&t.bytes, N - 1), 4096);
    table_fini(&t);
    check(N, 1000);
}

/* A table outgrows its memory while a part of it has huge pages. */
static void test_grows_past_huge_pages(void **state)
{
    (void)state;
    const size_t n = 600000;
    struct table_rows block = {0};
    struct table t;
    assert_true(table_init(&t, 0, n / 3));
    for (size_t i = 0; i < n; i++) {
        struct request r = {.start = (int64_t)i, .dur = (int64_t)i * 3, .object = ~i};
        put(&block, &r);
        if (block.n == TABLE_BLOCK_ROWS || i + 1 == n) {
            table_expect(&t, t.n + t.n / 4);
            assert_true(table_add(&t, &block, NULL));
            block.n = 0;
        }
    }
    assert_int_equal(t.n, n);
    for (size_t i = 0; i < n; i++)
        if (t.start[i] != (int64_t)i || packed_get(&t.dur, i) != (int64_t)i * 3 ||
            t.object[i] != ~i)
            fail_msg("row %zu", i);
    table_fini(&t);
}

/* A table numbers its rows with 32 bits. */
static void test_too_many_rows(void **state)
{
    (void)state;
    struct table_rows block = {0};
    const struct request r = {0};
    const struct table many = {.n = UINT32_MAX};
    struct table t;
    struct err e = {0};
    put(&block, &r);
    assert_true(table_init(&t, 0, 1) && table_add(&t, &block, NULL));
    assert_false(table_append(&t, &many, NULL, NULL, NULL, &e));
    assert_non_null(strstr(e.msg, "more than 4294967295 requests of one operation"));
    assert_int_equal(t.n, 1);
    table_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_vary_from_the_start),
        cmocka_unit_test(test_columns_vary_later),
        cmocka_unit_test(test_columns_of_one_value),
        cmocka_unit_test(test_grows_past_huge_pages),
        cmocka_unit_test(test_too_many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
