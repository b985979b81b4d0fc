#include "loadgen/net/net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static atomic_int n_calls;

/* The server has another address at the second lookup; after that no name server answers. */
static bool look_up(struct name *name, struct err *e)
{
    int n = atomic_fetch_add(&n_calls, 1) + 1;

    if (n > 2)
        return err_set(e, "no answer");
    snprintf(name->address[0], sizeof name->address[0], "10.0.0.%d", n);
    name->n = name->n_first = 1;
    return true;
}

static void wait_for_call(int n)
{
    const struct timespec ms = {0, 1000000};

    for (int i = 0; i < 600000 && atomic_load(&n_calls) < n; i++)
        nanosleep(&ms, NULL); /* not decisive: until the call */
    assert_true(atomic_load(&n_calls) >= n);
}

static void test_names_are_looked_up_again(void **state)
{
    (void)state;
    const struct names_style style = {
        .look_up = look_up, .again_ns = 1000000, .wait_ns = INT64_C(30000000000)};
    struct name *name = malloc(sizeof *name);
    char route[NAMES_ROUTE_MAX];

    assert_non_null(name);
    name_init(name, "server.example:9000", false);
    struct names *names = names_open(name, 1, style, NULL);
    assert_non_null(names);
    assert_true(names_route(names, 0, route));
    assert_int_equal(strncmp(route, "server.example:9000:10.0.0.", 27), 0);
    /* By the fourth call, the results of the second and the third are in use. */
    wait_for_call(4);
    assert_true(names_route(names, 0, route));
    assert_string_equal(route, "server.example:9000:10.0.0.2");
    names_close(names);
}

static void test_run_looks_up_once_a_minute(void **state)
{
    (void)state;
    const struct names_style style = {NAMES_STYLE};

    assert_true(style.look_up == name_look_up);
    assert_true(style.again_ns == INT64_C(60000000000));
}

static void test_in_header(void **state)
{
    static const char *const cases[][3] = {
        {"a", "a", "a"},
        {"a:80", "a", "a:80"},
        {"a.:443", "a.:443", "a."},
        {"10.0.0.1:0080", "10.0.0.1", "10.0.0.1:0080"},
        {"[fe80::1%eth0]", "[fe80::1]", "[fe80::1]"},
        {"[fe80::1%eth0]:443", "[fe80::1]:443", "[fe80::1]"},
        {"[::1]:9000", "[::1]:9000", "[::1]:9000"},
    };
    char *header;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int tls = 0; tls < 2; tls++) {
            assert_true(name_in_header(cases[i][0], tls, &header, NULL));
            assert_string_equal(header, cases[i][1 + tls]);
            free(header);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_looked_up_again),
        cmocka_unit_test(test_run_looks_up_once_a_minute),
        cmocka_unit_test(test_in_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
