#include "loadgen/net/net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The result of a response as text: status, headers, body, outcome. */
struct seen {
    char headers[4096];
    char body[4096];
    size_t n_body;
    const char *piece; /* the last one of the body */
    size_t n_piece;
    enum http1_end end;
    size_t n_used;
};

static void on_header(void *user, struct slice name, struct slice value)
{
    struct seen *s = user;
    size_t n = strlen(s->headers);

    snprintf(s->headers + n, sizeof s->headers - n, "%.*s=%.*s|", (int)name.n, name.p, (int)value.n,
             value.p);
}

static void on_body(void *user, const char *data, size_t n)
{
    struct seen *s = user;

    assert_true(n > 0 && s->n_body + n <= sizeof s->body);
    memcpy(s->body + s->n_body, data, n);
    s->n_body += n;
    s->piece = data;
    s->n_piece = n;
}

/* Feeds the input, cut at `cut` and then in pieces of `step` bytes, up to the end of the response.
 * With `close`, the connection closes after it. */
static void run(struct http1 *h, struct seen *s, const char *input, size_t n, size_t cut,
                size_t step, bool head_only, bool close)
{
    *s = (struct seen){.end = HTTP1_MORE};
    http1_start(h, head_only, on_header, on_body, s);
    size_t piece = cut < n ? cut : n;
    for (;;) {
        size_t used = 0;
        s->end = http1_feed(h, input + s->n_used, piece, &used);
        assert_true(used <= piece);
        s->n_used += used;
        if (s->end != HTTP1_MORE)
            return;
        assert_int_equal(used, piece);
        if (s->n_used == n)
            break;
        piece = n - s->n_used < step ? n - s->n_used : step;
    }
    if (close)
        s->end = http1_close(h);
}

static struct http1 reader;

/* The result is the same if the response is fed whole, cut in two anywhere, or byte by byte. */
static void expect(const char *input, size_t n, bool head_only, bool close, int status,
                   const char *headers, const char *body, enum http1_end end, bool keep_alive)
{
    struct seen s;

    for (size_t cut = 0; cut <= n + 1; cut++) {
        size_t step = cut == n + 1 ? 1 : n;
        run(&reader, &s, input, n, cut == n + 1 ? 1 : cut, step, head_only, close);
        assert_int_equal(s.end, end);
        assert_int_equal(reader.status, status);
        assert_string_equal(s.headers, headers);
        assert_int_equal(s.n_body, strlen(body));
        assert_memory_equal(s.body, body, s.n_body);
        if (end == HTTP1_DONE) {
            assert_int_equal(s.n_used, n);
            assert_int_equal(reader.keep_alive, keep_alive);
        }
    }
}

static void good(const char *input, int status, const char *headers, const char *body,
                 bool keep_alive)
{
    expect(input, strlen(input), false, false, status, headers, body, HTTP1_DONE, keep_alive);
}

static void test_bodies(void **state)
{
    (void)state;
    good("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"x\"\r\n\r\nhello", 200,
         "content-length=5|etag=\"x\"|", "hello", true);
    good("HTTP/1.1 200 OK\r\nContent-Length:0\r\n\r\n", 200, "content-length=0|", "", true);
    good("HTTP/1.1 206\r\nContent-Length: 1 \t\r\n\r\nx", 206, "content-length=1|", "x", true);
    good(
        "HTTP/1.1 200 \r\ntransfer-encoding: Chunked\r\n\r\n5\r\nhello\r\n1;a=\"b\"\r\n \r\n005\r\n"
        "world\r\n0\r\n\r\n",
        200, "transfer-encoding=Chunked|", "hello world", true);
    good("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\nX-Sum: 1\r\n"
         "Y: \r\n\r\n",
         200, "transfer-encoding=chunked|", "0123456789", true);
    good("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 02\r\n\r\nok", 200,
         "content-length=2|content-length=02|", "ok", true);
    for (int i = 0; i < 2; i++)
        good(i == 0 ? "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n"
                      "2\r\nok\r\n0\r\n\r\n"
                    : "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 99\r\n\r\n"
                      "2\r\nok\r\n0\r\n\r\n",
             200,
             i == 0 ? "content-length=0|transfer-encoding=chunked|"
                    : "transfer-encoding=chunked|content-length=99|",
             "ok", true);
    good("HTTP/1.1 204 No Content\r\n\r\n", 204, "", "", true);
    good("HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", 304, "content-length=7|", "",
         true);
    good("HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\nConnection: x, Close\r\n\r\nabc", 404,
         "content-length=3|connection=x, Close|", "abc", false);
    good("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", 200, "content-length=1|", "a", false);
    good("HTTP/1.1 100 Continue\r\nX: y\r\n\r\nHTTP/1.1 103 Hints\r\nLink: z\r\n\r\n"
         "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
         200, "content-length=2|", "ok", true);
}

static void test_no_body_for_head(void **state)
{
    (void)state;
    const char *sized = "HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n";
    const char *chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

    expect(sized, strlen(sized), true, false, 200, "content-length=1048576|", "", HTTP1_DONE, true);
    assert_int_equal(reader.content_length, 1048576);
    expect(chunked, strlen(chunked), true, false, 200, "transfer-encoding=chunked|", "", HTTP1_DONE,
           true);
}

static void test_until_close(void **state)
{
    (void)state;
    const char *s = "HTTP/1.1 200 OK\r\n\r\nuntil the end";
    const char *empty = "HTTP/1.1 200 OK\r\n\r\n";

    expect(s, strlen(s), false, true, 200, "", "until the end", HTTP1_DONE, false);
    expect(empty, strlen(empty), false, true, 200, "", "", HTTP1_DONE, false);
}

/* Bytes after a response are left to the caller. */
static void test_left_over(void **state)
{
    (void)state;
    struct seen s;
    const char *input = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1";

    run(&reader, &s, input, strlen(input), strlen(input), 1, false, false);
    assert_int_equal(s.end, HTTP1_DONE);
    assert_int_equal(s.n_used, strlen(input) - strlen("HTTP/1.1"));
}

/* The connection closes too early, at every byte. */
static void test_cut_off(void **state)
{
    (void)state;
    struct seen s;
    const char *inputs[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"};

    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        for (size_t n = 0; n < strlen(inputs[i]); n++) {
            run(&reader, &s, inputs[i], n, n, 1, false, true);
            assert_int_equal(s.end, HTTP1_ERROR);
            assert_non_null(strstr(reader.err.msg, "connection closed"));
            assert_false(reader.keep_alive);
        }
    }
    run(&reader, &s, inputs[0], strlen(inputs[0]) - 2, 3, 4, false, true);
    assert_string_equal(reader.err.msg, "connection closed after 3 of 5 body bytes");
    run(&reader, &s, "", 0, 0, 1, false, true);
    assert_string_equal(reader.err.msg, "connection closed before a response");
}

/* Each response is an error with the message, however it is cut. */
static void test_refused(void **state)
{
    (void)state;
#define OK "HTTP/1.1 200 OK\r\n"
    static const struct {
        const char *input, *message;
    } cases[] = {
        {"\r\n" OK "\r\n", "status line"},
        {"\x15\x03\x01", "speaks TLS"},
        {"HTTP/2 200\r\n\r\n", "status line"},
        {"HTTP/1.2 200 OK\r\n\r\n", "status line"},
        {"http/1.1 200 OK\r\n\r\n", "status line"},
        {"HTTP/1.1  200 OK\r\n\r\n", "status line"},
        {"HTTP/1.1 20 OK\r\n\r\n", "status line"},
        {"HTTP/1.1 2000 OK\r\n\r\n", "status line"},
        {"HTTP/1.1 099 OK\r\n\r\n", "HTTP status"},
        {"HTTP/1.1 101 Switching\r\n\r\n", "switches"},
        {"HTTP/1.1 200 OK\n\n", "without CR"},
        {OK "A: b\nC: d\r\n\r\n", "without CR"},
        {OK "A: b\rc\r\n\r\n", "control character"},
        {"HTTP/1.1 200 O\x01K\r\n\r\n", "control character"},
        {OK "A: \x7f\r\n\r\n", "control character"},
        {OK "A: b\r\n c\r\n\r\n", "folded"},
        {OK "A : b\r\n\r\n", "colon"},
        {OK ": b\r\n\r\n", "colon"},
        {OK "Abc\r\n\r\n", "colon"},
        {OK "A(b: c\r\n\r\n", "colon"},
        {OK "Content-Length: \r\n\r\n", "bad Content-Length"},
        {OK "Content-Length: -1\r\n\r\n", "bad Content-Length"},
        {OK "Content-Length: +1\r\n\r\n", "bad Content-Length"},
        {OK "Content-Length: 5, 5\r\n\r\n", "bad Content-Length"},
        {OK "Content-Length: 0x5\r\n\r\n", "bad Content-Length"},
        {OK "Content-Length: 1234567890123456789\r\n\r\n", "bad Content-Length"},
        {OK "Content-Length: 5\r\ncontent-length: 6\r\n\r\n", "two different Content-Length"},
        {OK "Content-Length: 6\r\nContent-Length: 5\r\n\r\n", "two different Content-Length"},
        {OK "Transfer-Encoding: gzip, chunked\r\n\r\n", "other than chunked"},
        {OK "Transfer-Encoding: identity\r\n\r\n", "other than chunked"},
        {OK "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
         "other than chunked"},
        {"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.0"},
        {OK "Transfer-Encoding: chunked\r\n\r\n\r\n", "chunk size"},
        {OK "Transfer-Encoding: chunked\r\n\r\n\x15\x03\x01\r\n", "control character"},
        {OK "Transfer-Encoding: chunked\r\n\r\n5g\r\n", "chunk size"},
        {OK "Transfer-Encoding: chunked\r\n\r\n-5\r\n", "chunk size"},
        {OK "Transfer-Encoding: chunked\r\n\r\n0x5\r\n", "chunk size"},
        {OK "Transfer-Encoding: chunked\r\n\r\n5\nhello", "without CR"},
        {OK "Transfer-Encoding: chunked\r\n\r\n0000000000000005\r\n", "15 digits"},
        {OK "Transfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n", "longer than its size"},
        {OK "Transfer-Encoding: chunked\r\n\r\n0\r\nbad\r\n\r\n", "colon"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *input = cases[i].input;
        size_t n = strlen(input);
        for (size_t cut = 0; cut <= n; cut++) {
            struct seen s;
            run(&reader, &s, input, n, cut, cut % 3 + 1, false, false);
            assert_int_equal(s.end, HTTP1_ERROR);
            assert_non_null(strstr(reader.err.msg, cases[i].message));
            assert_false(reader.keep_alive);
        }
    }
}

/* A NUL byte is refused like any control character. */
static void test_nul(void **state)
{
    (void)state;
    struct seen s;
    static const char input[] = "HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n";

    run(&reader, &s, input, sizeof input - 1, 20, 2, false, false);
    assert_int_equal(s.end, HTTP1_ERROR);
    assert_non_null(strstr(reader.err.msg, "control character"));
}

static void test_limits(void **state)
{
    (void)state;
    static char input[2 * HTTP1_HEAD_MAX];
    struct seen s;
    size_t n = 0;

    /* Tests the longest line, whole and in pieces, and one with a byte more. */
    for (size_t extra = 0; extra < 2; extra++) {
        n = (size_t)sprintf(input, "HTTP/1.1 200 OK\r\nLong: ");
        memset(input + n, 'x', HTTP1_LINE_MAX - 6 + extra);
        n += HTTP1_LINE_MAX - 6 + extra;
        n += (size_t)sprintf(input + n, "\r\nContent-Length: 0\r\n\r\n");
        for (size_t step = 1; step < 10000; step = step * 3 + 1) {
            run(&reader, &s, input, n, step, step, false, false);
            assert_int_equal(s.end, extra == 0 ? HTTP1_DONE : HTTP1_ERROR);
            if (extra == 1)
                assert_non_null(strstr(reader.err.msg, "more than 8192 bytes"));
        }
    }

    n = (size_t)sprintf(input, "HTTP/1.1 200 OK\r\n");
    while (n < HTTP1_HEAD_MAX)
        n += (size_t)sprintf(input + n, "A: b\r\n");
    run(&reader, &s, input, n, n, 1, false, false);
    assert_int_equal(s.end, HTTP1_ERROR);
    assert_non_null(strstr(reader.err.msg, "bytes of headers"));

    n = 0;
    for (int i = 0; i <= HTTP1_INTERIM_MAX; i++)
        n += (size_t)sprintf(input + n, "HTTP/1.1 100 Continue\r\n\r\n");
    run(&reader, &s, input, n, n, 1, false, false);
    assert_int_equal(s.end, HTTP1_ERROR);
    assert_non_null(strstr(reader.err.msg, "interim"));
}

/* A large body comes back in the caller's own slices, and the rest is known. */
static void test_slices(void **state)
{
    (void)state;
    char block[1000];
    const char *head = "HTTP/1.1 200 OK\r\nContent-Length: 2500\r\n\r\n";
    struct seen s = {.end = HTTP1_MORE};
    size_t used = 0;

    memset(block, 'x', sizeof block);
    http1_start(&reader, false, on_header, on_body, &s);
    assert_int_equal(http1_rest(&reader), HTTP1_UNKNOWN);
    assert_int_equal(http1_feed(&reader, head, strlen(head), &used), HTTP1_MORE);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(http1_feed(&reader, block, 1000, &used), HTTP1_MORE);
        assert_ptr_equal(s.piece, block);
        assert_int_equal(s.n_piece, 1000);
        assert_int_equal(used, 1000);
    }
    assert_int_equal(http1_rest(&reader), 500);
    assert_int_equal(http1_feed(&reader, block, 1000, &used), HTTP1_DONE);
    assert_int_equal(s.n_piece, 500);
    assert_int_equal(used, 500);
    assert_int_equal(http1_feed(&reader, block + 500, 500, &used), HTTP1_DONE);
    assert_int_equal(used, 0);
    assert_true(reader.keep_alive);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies),      cmocka_unit_test(test_no_body_for_head),
        cmocka_unit_test(test_until_close), cmocka_unit_test(test_left_over),
        cmocka_unit_test(test_cut_off),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_nul),         cmocka_unit_test(test_limits),
        cmocka_unit_test(test_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
