/* Compares blocks of rows with sums row by row. */
#include "analyze/summary/sets/blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define N (5 * BLOCKS_ROWS + 77)

static struct err e;

struct made {
    struct table t;
    int64_t start[N], wide[N];
    uint32_t dur[N], bytes[N], ttfb[N], objects[N];
    uint16_t place[N], error[N];
};

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Makes small values, and successes only. */
static struct made *make(size_t n_places)
{
    struct made *m = calloc(1, sizeof *m);
    uint32_t seed = 3;
    assert_non_null(m);
    for (size_t i = 0; i < N; i++) {
        m->start[i] = INT64_C(1700000000000000000) + next(&seed);
        m->dur[i] = PACKED_WIDE_BASE - 1 - next(&seed) % 1000;
        m->bytes[i] = PACKED_WIDE_BASE - 1 - next(&seed) % 1000;
        m->ttfb[i] = next(&seed) % 2 ? PACKED_NONE : 5;
        m->objects[i] = next(&seed) % 100;
        m->place[i] = (uint16_t)(next(&seed) % n_places);
    }
    m->t = (struct table){.n = N, .start = m->start};
    m->t.dur.v = m->dur;
    m->t.bytes.v = m->bytes;
    m->t.ttfb.v = m->ttfb;
    m->t.objects.v = m->objects;
    m->t.place.v = m->place;
    return m;
}

static void assert_block(const struct blocks *x, size_t b, size_t n_places)
{
    const struct table *t = x->t;
    const struct block *block = &x->v[b];
    struct block_sum sums[BLOCKS_MAX_PLACES] = {{0}};
    int64_t min_start_ns = INT64_MAX, max_end_ns = INT64_MIN;
    bool failed = false;
    for (size_t i = b * BLOCKS_ROWS; i < blocks_end(x, b); i++) {
        min_start_ns = t->start[i] < min_start_ns ? t->start[i] : min_start_ns;
        max_end_ns = table_end(t, i) > max_end_ns ? table_end(t, i) : max_end_ns;
        failed = failed || table_failed(t, i);
        if (table_failed(t, i))
            continue;
        struct block_sum *s = &sums[n_places <= BLOCKS_MAX_PLACES ? table_place(t, i) : 0];
        s->n++;
        s->ns += packed_get(&t->dur, i);
        s->bytes += packed_get(&t->bytes, i);
        s->n_objects += packed_get(&t->objects, i);
    }
    assert_int_equal(block->min_start_ns, min_start_ns);
    assert_int_equal(block->max_end_ns, max_end_ns);
    assert_int_equal(block->failed, failed);
    assert_memory_equal(blocks_sums(x, b), sums, x->n_sums * sizeof *sums);
}

static void assert_blocks(const struct made *m, size_t n_places, size_t n_wide)
{
    struct blocks x;
    size_t got_wide = 0;
    assert_true(blocks_init(&x, &m->t, n_places, &e));
    assert_int_equal(x.n, 6);
    assert_int_equal(x.n_sums, n_places <= BLOCKS_MAX_PLACES ? n_places : 1);
    assert_int_equal(blocks_end(&x, 5), N);
    for (size_t b = 0; b < x.n; b++) {
        blocks_look(&x, b);
        assert_block(&x, b, n_places);
        got_wide += x.v[b].wide;
    }
    assert_int_equal(got_wide, n_wide);
    blocks_fini(&x);
}

static const size_t n_places[] = {1, 3, BLOCKS_MAX_PLACES, BLOCKS_MAX_PLACES + 1};

static void test_small_values(void **state)
{
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        struct made *m = make(n_places[k]);
        assert_blocks(m, n_places[k], 0);
        m->t.objects = (struct packed){.same = 7};
        assert_blocks(m, n_places[k], 0);
        m->t.bytes = (struct packed){.same = PACKED_WIDE_BASE - 1};
        assert_blocks(m, n_places[k], 0);
        free(m);
    }
}

static void test_failed(void **state)
{
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        struct made *m = make(n_places[k]);
        m->t.error = m->error;
        m->error[0] = m->error[2 * BLOCKS_ROWS - 1] = m->error[N - 1] = 9;
        assert_blocks(m, n_places[k], 0);
        free(m);
    }
}

static void test_wide_values(void **state)
{
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        struct made *m = make(n_places[k]);
        struct packed *columns[] = {&m->t.dur, &m->t.bytes, &m->t.objects, &m->t.ttfb};
        for (size_t c = 0; c < 4; c++) { /* in a block of its own each */
            m->wide[c] = INT64_C(1) << 40;
            columns[c]->wide = m->wide;
            columns[c]->n_wide = 4;
            columns[c]->v[(c + 1) * BLOCKS_ROWS + 11] = PACKED_WIDE_BASE + (uint32_t)c;
        }
        assert_blocks(m, n_places[k], 4);
        free(m);
    }
}

static void test_within(void **state)
{
    (void)state;
    struct slice_grid g;
    size_t segment = 99;
    slice_grid_init(&g, 1000, 10, 5);
    assert_true(
        blocks_within(&(struct block){.min_start_ns = 1010, .max_end_ns = 1019}, &g, &segment));
    assert_int_equal(segment, 1);
    assert_true(
        blocks_within(&(struct block){.min_start_ns = 1049, .max_end_ns = 1049}, &g, &segment));
    assert_int_equal(segment, 4);
    const struct block outside[] = {{.min_start_ns = 1010, .max_end_ns = 1020},
                                    {.min_start_ns = 1009, .max_end_ns = 1019},
                                    {.min_start_ns = 999, .max_end_ns = 1005},
                                    {.min_start_ns = 1045, .max_end_ns = 1050}};
    for (size_t k = 0; k < 4; k++)
        assert_false(blocks_within(&outside[k], &g, &segment));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_values),
        cmocka_unit_test(test_failed),
        cmocka_unit_test(test_wide_values),
        cmocka_unit_test(test_within),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
