#include "loadgen/net/conn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* Returns an established connection, and its other end in *peer. */
static struct conn plain(int *peer)
{
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    *peer = ends[1];
    return (struct conn){.state = CONN_READY, .wire = &conn_plain, .fd = ends[0], .low_water = 1};
}

static void test_plain(void **state)
{
    char buf[8];
    struct err e = {0};
    int peer;
    struct conn c = plain(&peer);

    (void)state;
    assert_int_equal(conn_recv(&c, buf, sizeof buf, &e), CONN_AGAIN);
    assert_true(conn_is_alive(&c));
    assert_int_equal(conn_send(&c, "ping", 4, &e), 4);
    assert_int_equal(read(peer, buf, sizeof buf), 4);
    assert_int_equal(write(peer, "pong", 4), 4);
    assert_int_equal(conn_recv(&c, buf, sizeof buf, &e), 4);
    assert_memory_equal(buf, "pong", 4);
    assert_false(conn_must_drain(&c) || conn_has_more(&c));
    close(peer);
    assert_int_equal(conn_recv(&c, buf, sizeof buf, &e), 0);
    /* A connection that was never idle did not end because it was idle. */
    assert_false(conn_ended_reused(&c));
    c.idle_since_ns = 1;
    assert_true(conn_ended_reused(&c));
    assert_int_equal(conn_send(&c, "ping", 4, &e), CONN_ERROR);
    assert_non_null(strstr(e.msg, "send: "));
    close(c.fd);
}

/* A connection that the peer has closed cannot be used, nor one with bytes that nobody
 * requested. */
static void test_alive(void **state)
{
    int peer;
    struct conn c = plain(&peer);

    (void)state;
    assert_int_equal(write(peer, "x", 1), 1);
    assert_false(conn_is_alive(&c));
    assert_true(conn_is_alive(&c));
    close(peer);
    assert_false(conn_is_alive(&c));
    close(c.fd);
}

/* HTTP_PROXY does not set a proxy; passwords are not shown. */
static void test_proxy(void **state)
{
    static const char *const others[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy"};
    char text[CONN_PROXY_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        unsetenv(others[i]);
    setenv("HTTP_PROXY", "http://cgi", 1);
    assert_null(conn_proxy(false, false, text));
    setenv("ALL_PROXY", "http://user:secret@any:1", 1);
    assert_string_equal(conn_proxy(false, false, text), "ALL_PROXY");
    assert_string_equal(text, "http://any:1");
    setenv("HTTPS_PROXY", "tls:2", 1);
    assert_string_equal(conn_proxy(false, false, text), "ALL_PROXY");
    assert_string_equal(conn_proxy(true, false, text), "HTTPS_PROXY");
    setenv("http_proxy", "plain:3", 1);
    assert_string_equal(conn_proxy(true, false, text), "HTTPS_PROXY");
    assert_string_equal(conn_proxy(false, false, text), "http_proxy");
    unsetenv("http_proxy");
    setenv("https_proxy", "tls:4", 1);
    assert_string_equal(conn_proxy(true, false, text), "https_proxy");
    assert_string_equal(conn_proxy(false, false, text), "ALL_PROXY");
    assert_null(conn_proxy(false, true, text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_alive),
        cmocka_unit_test(test_proxy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
