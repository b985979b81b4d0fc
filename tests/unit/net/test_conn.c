#include "loadgen/net/net.h"

#include "loadgen/util/util.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
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
    assert_int_equal(c.wire->recv(&c, buf, sizeof buf, &e), CONN_AGAIN);
    assert_true(conn_is_alive(&c));
    assert_int_equal(c.wire->send(&c, "ping", 4, &e), 4);
    assert_int_equal(read(peer, buf, sizeof buf), 4);
    assert_int_equal(write(peer, "pong", 4), 4);
    assert_int_equal(c.wire->recv(&c, buf, sizeof buf, &e), 4);
    assert_memory_equal(buf, "pong", 4);
    assert_false(c.wire->buffers);
    close(peer);
    assert_int_equal(c.wire->recv(&c, buf, sizeof buf, &e), 0);
    /* A connection that was never idle did not end because it was idle. */
    assert_false(conn_ended_reused(&c));
    c.idle_since_ns = 1;
    assert_true(conn_ended_reused(&c));
    assert_int_equal(c.wire->send(&c, "ping", 4, &e), CONN_ERROR);
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

/* As libcurl reads no_proxy: nobody is asked for the address of a name. */
static void test_no_proxy(void **state)
{
    static const struct {
        const char *no_proxy, *host;
        bool uses;
    } cases[] = {
        {"", "store.example:1", true},           {"store.example", "store.example:9000", false},
        {"a, .example", "store.example", false}, {"tore.example", "store.example", true},
        {"10.0.0.0/8", "10.1.2.3:9000", false},  {"10.0.0.0/8", "11.1.2.3", true},
        {"*", "[::1%lo]:9000", false},           {"a", "[::1]", true},
        {"127.0.0.1", "127.0.0.1:1", false},     {"a", "ftp.example:2", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("no_proxy", cases[i].no_proxy, 1);
        assert_int_equal(conn_uses_proxy(cases[i].host), cases[i].uses);
    }
    unsetenv("no_proxy");
}

/* Connects to the last of `addresses`, which alone has a server; the others refuse, or there is no
 * way to them. No timer of libcurl is waited for. */
static void connect_past(const char *addresses)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    const struct conn_style style = {.proxy = "", .connect_timeout_ns = 3600 * NS_PER_S};
    char name[64], route[256];
    SSL_SESSION *session = NULL;
    struct conn_dialer d;
    struct epoll_event event;
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int epoll = epoll_create1(EPOLL_CLOEXEC);

    assert_int_equal(bind(server, (struct sockaddr *)&at, n), 0);
    assert_int_equal(listen(server, 5), 0);
    assert_int_equal(getsockname(server, (struct sockaddr *)&at, &n), 0);
    snprintf(name, sizeof name, "store.example:%d", ntohs(at.sin_port));
    snprintf(route, sizeof route, "%s:%s", name, addresses);
    assert_true(conn_dialer_init(&d, &style, epoll, NULL));
    struct conn *c = conn_open(&d, name, route, 0, &session, NULL);
    assert_non_null(c);
    while (c->state == CONN_CONNECTING) {
        bool at_once = d.due_ns <= clock_now_ns();

        /* A minute without an event is for ever. */
        if (!at_once)
            assert_int_equal(epoll_wait(epoll, &event, 1, 60000), 1);
        conn_dialer_act(&d, at_once ? NULL : &event);
        while (conn_dialer_next(&d) != NULL)
            ;
    }
    assert_int_equal(c->state, CONN_READY);
    conn_close(c);
    free(c);
    conn_dialer_fini(&d);
    close(epoll);
    close(server);
}

static void test_next_address_at_once(void **state)
{
    (void)state;
    connect_past("127.0.0.2,127.0.0.1");
    connect_past("127.0.0.2,127.0.0.3,127.0.0.4,127.0.0.1");
    connect_past("255.255.255.255,127.0.0.1");
    connect_past("255.255.255.255,127.0.0.2,255.255.255.255,127.0.0.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_alive),
        cmocka_unit_test(test_proxy),
        cmocka_unit_test(test_no_proxy),
        cmocka_unit_test(test_next_address_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
