/* Values of a JSON document look as jansson writes them. */
#include "analyze/write/json.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* An object with each value twice: as it is put, and as jansson has it. */
struct pair {
    char *text[2];
    size_t n[2];
    struct json_out w[2];
};

static void pair_open(struct pair *p)
{
    for (int i = 0; i < 2; i++) {
        FILE *f = open_memstream(&p->text[i], &p->n[i]);
        assert_non_null(f);
        json_out_begin(&p->w[i], f, "test/1");
    }
}

static void pair_check(struct pair *p)
{
    struct err e = {0};
    for (int i = 0; i < 2; i++) {
        assert_true(json_out_finish(&p->w[i], &e));
        assert_int_equal(fclose(p->w[i].f), 0);
    }
    assert_string_equal(p->text[0], p->text[1]);
    for (int i = 0; i < 2; i++)
        free(p->text[i]);
}

static void test_reals(void **state)
{
    static const double odd[] = {0,       -0.0,    1,     -1,        .1,       1e15,      1e16,
                                 1e17,    -1e-7,   5e-5,  1e-4,      123456,   1e100,     -1e-300,
                                 DBL_MAX, DBL_MIN, 5e300, 0x1p-1074, 1e15 - 1, 1e15 + .5, NAN};
    (void)state;
    struct pair p;
    pair_open(&p);
    uint64_t bits = 1;
    for (size_t i = 0; i < 20000; i++) {
        double x;
        bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        memcpy(&x, &bits, sizeof x);
        if (i < sizeof odd / sizeof *odd)
            x = odd[i];
        else if (i % 2 == 0)
            x = ldexp((double)(bits >> 11), (int)(i % 100) - 90);
        json_put_real(&p.w[0], "x", x);
        json_out_value(&p.w[1], "x", json_out_real(x));
    }
    pair_check(&p);
}

static void test_integers(void **state)
{
    static const int64_t odd[] = {0, 1, -1, 9, 10, -10, 99, 100, INT64_MAX, INT64_MIN};
    (void)state;
    struct pair p;
    pair_open(&p);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        json_put_integer(&p.w[0], "i", odd[i]);
        json_out_value(&p.w[1], "i", json_integer(odd[i]));
    }
    pair_check(&p);
}

static void test_texts(void **state)
{
    static const char *const odd[] = {"",          "plain text", "\"quoted\"", "back\\slash",
                                      "new\nline", "\x7F",       "\xC3\xA4",   "\xFF",
                                      "\xC2\x9B",  NULL};
    (void)state;
    struct pair p;
    pair_open(&p);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        json_put_text(&p.w[0], "s", odd[i]);
        json_out_value(&p.w[1], "s", json_out_text(odd[i]));
    }
    json_put_bool(&p.w[0], "b", true);
    json_out_value(&p.w[1], "b", json_true());
    json_put_time_if(&p.w[0], "t", true, 1);
    json_out_value(&p.w[1], "t", json_out_time(1));
    json_put_time_if(&p.w[0], "t", false, 1);
    json_out_value(&p.w[1], "t", json_null());
    pair_check(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reals),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
