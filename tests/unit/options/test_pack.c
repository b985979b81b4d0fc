/* The options that rank 0 sends arrive unchanged at the other ranks. */
#include "libcommon/secret.h"
#include "loadgen/options/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_packed_and_unpacked(void **state)
{
    (void)state;
    const struct options from = {.hosts = "a:1,b:2",
                                 .secret_key = "SECRET",
                                 .prefix = "",
                                 .path = "run.csv.zst",
                                 .load.n_workers = 7,
                                 .ranks.timeout_ns = 3};
    struct options to;
    struct err e = {0};
    size_t n = 0;
    char *data = options_pack(&from, &n);

    assert_non_null(data);
    assert_true(options_unpack(&to, data, n, &e));
    /* The texts are copies. */
    memset(data, 'x', n);
    secret_free(data);
    assert_string_equal(to.hosts, "a:1,b:2");
    assert_string_equal(to.secret_key, "SECRET");
    assert_string_equal(to.prefix, "");
    assert_string_equal(to.path, "run.csv.zst");
    assert_null(to.region);
    assert_int_equal(to.load.n_workers, 7);
    assert_int_equal(to.ranks.timeout_ns, 3);
    options_free(&to);
}

/* The union of the texts has room for all of them. */
static void test_all_texts_are_packed(void **state)
{
    (void)state;
    struct options from = {.hosts = NULL};
    struct options to;
    struct err e = {0};
    size_t n = 0;

    assert_ptr_equal(&from.path, &from.text[sizeof from.text / sizeof *from.text - 1]);
    for (size_t i = 0; i < sizeof from.text / sizeof *from.text; i++)
        from.text[i] = "text";
    char *data = options_pack(&from, &n);
    assert_non_null(data);
    assert_true(options_unpack(&to, data, n, &e));
    secret_free(data);
    for (size_t i = 0; i < sizeof to.text / sizeof *to.text; i++)
        assert_string_equal(to.text[i], "text");
    options_free(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_packed_and_unpacked),
                                       cmocka_unit_test(test_all_texts_are_packed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
