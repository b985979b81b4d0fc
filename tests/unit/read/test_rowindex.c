/* Compares every way to index text with a plain loop. */
#include "analyze/read/rowindex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_TEXT 700

static void assert_index(struct rowindex *ix, const char *text, size_t n, char delimiter)
{
    size_t seps = 0, lines = 0, quotes = 0;

    assert_true(rowindex_build(ix, text, n, delimiter));
    assert_int_equal(ix->seps[-1], UINT32_MAX);
    for (uint32_t i = 0; i < n; i++) {
        if (text[i] == delimiter || text[i] == '\n')
            assert_int_equal(ix->seps[seps++], i);
        if (text[i] == '\n')
            assert_int_equal(ix->lines[lines++], i);
        if (text[i] == '"')
            assert_int_equal(ix->quotes[quotes++], i);
    }
    assert_int_equal(ix->n_seps, seps);
    assert_int_equal(ix->n_lines, lines);
    assert_int_equal(ix->n_quotes, quotes);
    for (size_t i = 0; i < ROWINDEX_GUARD; i++)
        assert_int_equal(ix->seps[seps + i], UINT32_MAX);
    assert_int_equal(ix->lines[lines], UINT32_MAX);
    assert_int_equal(ix->quotes[quotes], UINT32_MAX);
}

static void test_all_kinds(void **state)
{
    /* Characters with a meaning and their neighbours, and bytes with the top bit set. */
    static const char alphabet[] = "\t\n\",ab\x08\x0b\x0a!#\x8a\x89\xa2\xac+-\xff";

    (void)state;
    srandom(1);
    for (int kind = ROWINDEX_PORTABLE; kind <= (int)rowindex_best_kind(); kind++) {
        struct rowindex ix;
        char text[MAX_TEXT + ROWINDEX_PADDING];
        rowindex_init(&ix, (enum rowindex_kind)kind);
        for (size_t n = 0; n <= MAX_TEXT; n++) {
            for (size_t i = 0; i < sizeof text; i++)
                text[i] = alphabet[(size_t)random() % (sizeof alphabet - 1)];
            assert_index(&ix, text, n, n % 2 ? '\t' : ',');
        }
        memset(text, '\n', sizeof text); /* as dense as can be */
        assert_index(&ix, text, MAX_TEXT, '\t');
        rowindex_fini(&ix);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_kinds)};

    return cmocka_run_group_tests_name("rowindex", tests, NULL, NULL);
}
