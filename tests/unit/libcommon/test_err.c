#include "libcommon/err.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_first_error_stays(void **state)
{
    (void)state;
    struct err e = {0};
    assert_false(err_set(&e, "line %d", 7));
    assert_false(err_set(&e, "later"));
    assert_false(err_errno(&e, ENOENT, "later"));
    assert_string_equal(e.msg, "line 7");
    err_clear(&e);
    assert_false(err_set(&e, "new"));
    assert_string_equal(e.msg, "new");
    assert_false(err_set(NULL, "nobody asked"));
}

static void test_errno(void **state)
{
    (void)state;
    struct err e = {0};
    err_errno(&e, ENOENT, "%s", "a.csv");
    assert_string_equal(e.msg, "a.csv: No such file or directory");
    err_clear(&e);
    err_errno(&e, 123456, "a.csv");
    assert_string_equal(e.msg, "a.csv: unknown error");
}

static void test_one_line_that_fits(void **state)
{
    (void)state;
    struct err e = {0};
    err_set(&e, "%s", "a\nb\r\nc");
    assert_string_equal(e.msg, "a\\x0ab\\x0d\\x0ac");
    char long_text[3000];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    err_clear(&e);
    err_errno(&e, EIO, "%s", long_text);
    assert_int_equal(strlen(e.msg), sizeof e.msg - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_error_stays),
        cmocka_unit_test(test_errno),
        cmocka_unit_test(test_one_line_that_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
