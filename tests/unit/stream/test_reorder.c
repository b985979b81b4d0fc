#include "analyze/capture/stream/reorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_ROWS     20000
#define BATCH_ROWS 100

/* Adds a row with this text, which identifies it. */
static struct reorder_batch *add_text(struct reorder_batch *b, int64_t start_ns, const char *text)
{
    struct err e = {0};
    char *p = reorder_batch_room(b, strlen(text), &e);
    assert_non_null(p);
    memcpy(p, text, strlen(text));
    reorder_batch_take(b, start_ns, p + strlen(text));
    return b;
}

static struct reorder_batch *new_batch(uint32_t input)
{
    struct err e = {0};
    struct reorder_batch *b = reorder_batch_new(input, &e);
    assert_non_null(b);
    return b;
}

static void add(struct reorder *r, struct reorder_batch *b)
{
    struct err e = {0};
    reorder_batch_sort(b);
    assert_true(reorder_add(r, b, &e));
    assert_string_equal(e.msg, "");
}

static bool next(struct reorder *r, int64_t bound_ns, bool all, struct reorder_row *row)
{
    struct err e = {0};
    bool found;
    assert_true(reorder_next(r, bound_ns, all, row, &found, &e));
    return found;
}

static struct reorder *new_reorder(size_t max_bytes)
{
    struct err e = {0};
    struct reorder *r = reorder_new(max_bytes, NULL, NULL, &e);
    assert_non_null(r);
    return r;
}

/* Returns the i-th of N_ROWS starts, each once, in no order. */
static int64_t shuffled(size_t i)
{
    return (int64_t)(i * 7919 % N_ROWS);
}

/* Adds all rows, with texts of 20 to 2000 bytes, and takes them out in order. */
static uint64_t sort_all(size_t max_bytes)
{
    struct reorder *r = new_reorder(max_bytes);
    struct reorder_row row;
    char text[2100];
    for (size_t i = 0; i < N_ROWS;) {
        struct reorder_batch *b = new_batch((uint32_t)(i / BATCH_ROWS));
        for (size_t k = 0; k < BATCH_ROWS; k++, i++) {
            int64_t start_ns = shuffled(i);
            int length = start_ns % 100 == 0 ? 2000 : 20;
            snprintf(text, sizeof text, "\t1\t%*lld\n", length, (long long)start_ns);
            add_text(b, start_ns, text);
        }
        add(r, b);
        assert_false(next(r, 0, false, &row)); /* nothing is certain yet */
    }
    for (int64_t i = 0; i < N_ROWS; i++) {
        assert_true(next(r, 0, true, &row));
        assert_int_equal(row.start_ns, i);
        assert_int_equal(atoll(row.text + 3), i);
        assert_int_equal(row.n, (i % 100 == 0 ? 2000 : 20) + 4);
        assert_int_equal(row.text[row.n - 1], '\n');
    }
    assert_false(next(r, 0, true, &row));
    uint64_t n_spilled = reorder_n_spilled_bytes(r);
    reorder_free(r);
    return n_spilled;
}

static void test_in_memory(void **state)
{
    (void)state;
    assert_int_equal(sort_all(64u << 20), 0);
}

static void test_spilled(void **state)
{
    (void)state;
    assert_true(sort_all(300000) > 0);
    assert_true(sort_all(1) > 0); /* every batch */
}

static void test_bound(void **state)
{
    (void)state;
    struct reorder *r = new_reorder(1u << 20);
    struct reorder_row row;
    assert_false(next(r, INT64_MAX, true, &row));
    add(r, add_text(add_text(new_batch(0), 30, "\t0\tc\n"), 10, "\t0\ta\n"));
    assert_false(next(r, 10, false, &row));
    assert_true(next(r, 11, false, &row));
    assert_int_equal(row.start_ns, 10);
    add(r, add_text(new_batch(1), 20, "\t0\tb\n"));
    assert_true(next(r, 30, false, &row));
    assert_int_equal(row.start_ns, 20);
    assert_int_equal(row.input, 1);
    assert_false(next(r, 30, false, &row));
    assert_true(next(r, 30, true, &row));
    assert_int_equal(row.start_ns, 30);
    assert_memory_equal(row.text, "\t0\tc\n", row.n);
    assert_false(next(r, INT64_MAX, true, &row));
    reorder_free(r);
}

/* Rows with the same start are ordered by the text after the thread, then by the thread as a
 * number. */
static void test_ties(void **state)
{
    (void)state;
    static const char *const texts[] = {"\t2\ta\n",  "\t10\ta\n", "\t11\ta\n", "\t3\ta\tb\n",
                                        "\t1\tab\n", "\t7\tb\n",  "\t0\tc\n"};
    static const size_t order[] = {4, 2, 6, 0, 5, 1, 3};
    const size_t n = sizeof texts / sizeof *texts;
    for (size_t split = 0; split < n; split++) {
        for (size_t max = 1; max <= 1u << 20; max <<= 20) {
            struct reorder *r = new_reorder(max);
            struct reorder_batch *b = new_batch(0);
            struct reorder_row row;
            for (size_t i = 0; i < n; i++) {
                if (i == split && i > 0) {
                    add(r, b);
                    b = new_batch(1);
                }
                add_text(b, 5, texts[order[i]]);
            }
            add(r, b);
            for (size_t i = 0; i < n; i++) {
                /* "a\n" goes before "a\tb\n" only by the byte order of \t and \n. */
                static const size_t expected[] = {3, 0, 1, 2, 4, 5, 6};
                const char *text = texts[expected[i]];
                assert_true(next(r, 0, true, &row));
                assert_int_equal(row.n, strlen(text));
                assert_memory_equal(row.text, text, row.n);
            }
            reorder_free(r);
        }
    }
}

static struct reorder_batch *given_back;

static void give_back(void *ctx, struct reorder_batch *b)
{
    assert_ptr_equal(ctx, &given_back);
    assert_null(given_back);
    given_back = b;
}

static void test_batches_are_given_back(void **state)
{
    (void)state;
    struct err e = {0};
    struct reorder *r = reorder_new(1u << 20, give_back, &given_back, &e);
    struct reorder_row row;
    struct reorder_batch *b = add_text(new_batch(0), 1, "\t0\ta\n");
    given_back = NULL;
    add(r, b);
    assert_true(next(r, 2, false, &row));
    assert_null(given_back); /* the row is still in use */
    assert_memory_equal(row.text, "\t0\ta\n", row.n);
    assert_false(next(r, 2, false, &row));
    assert_ptr_equal(given_back, b);
    reorder_batch_free(given_back);
    given_back = NULL;
    reorder_free(r);
}

static void test_no_place_for_a_temporary_file(void **state)
{
    (void)state;
    struct err e = {0};
    struct reorder *r = new_reorder(1);
    setenv("TMPDIR", "/nowhere", 1);
    struct reorder_batch *b = add_text(new_batch(0), 1, "\t0\ta\n");
    assert_false(reorder_add(r, b, &e));
    assert_string_equal(e.msg, "cannot make a temporary file in /nowhere (TMPDIR): No such file or "
                               "directory");
    unsetenv("TMPDIR");
    reorder_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_memory),
        cmocka_unit_test(test_spilled),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_batches_are_given_back),
        cmocka_unit_test(test_no_place_for_a_temporary_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
