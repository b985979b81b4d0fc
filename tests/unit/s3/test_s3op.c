#include "loadgen/s3/s3.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct s3op_style plain = {.bucket = "bucket", .region = "us-east-1"};
static char out[S3OP_HEAD_MAX + 8];

static struct s3op op_of(enum s3op_kind kind, const char *key)
{
    struct s3op op = {.kind = kind, .n_key = strlen(key)};

    memcpy(op.key, key, op.n_key + 1);
    return op;
}

/* Signatures want parameters in order of names, each with a '='. */
static void assert_in_order(const char *head)
{
    const char *last = "";

    for (const char *at = head + strcspn(head, "? \r"); *at == '?' || *at == '&';) {
        const char *name = at + 1;
        size_t n = strcspn(name, "=& ");
        assert_int_equal(name[n], '=');
        assert_true(strncmp(last, name, n) < 0);
        last = name;
        at = name + strcspn(name, "& ");
    }
}

/* Returns the head as text, built without a signature. Bytes after it must stay unchanged. */
static const char *build(const struct s3op_style *style, const struct s3op *op,
                         const struct s3op_head *head)
{
    struct err e = {0};

    memset(out, '#', sizeof out);
    size_t n = s3op_build(style, NULL, op, head, out, S3OP_HEAD_MAX, &e);
    assert_string_equal(e.msg, "");
    assert_true(n > 0);
    assert_int_equal(out[S3OP_HEAD_MAX], '#');
    out[n] = '\0';
    const char *text = out;
    assert_in_order(text + strcspn(text, " ") + 1);
    return text;
}

static void expect(struct s3op op, const char *expected)
{
    const struct s3op_head head = {.host = "host:9000", .user_agent = "agent"};

    assert_string_equal(build(&plain, &op, &head), expected);
}

static void test_requests(void **state)
{
    (void)state;
    struct s3op op = op_of(S3OP_GET, "a/b c+d%\xc3\xa9//e");

    op.whole = true;
    op.length = 5;
    expect(op, "GET /bucket/a/b%20c%2Bd%25%C3%A9//e HTTP/1.1\r\nhost: host:9000\r\n"
               "User-Agent: agent\r\n\r\n");
    op.whole = false;
    op.offset = 10;
    expect(op, "GET /bucket/a/b%20c%2Bd%25%C3%A9//e HTTP/1.1\r\nhost: host:9000\r\n"
               "range: bytes=10-14\r\nUser-Agent: agent\r\n\r\n");

    op = op_of(S3OP_PUT, "k");
    expect(op, "PUT /bucket/k HTTP/1.1\r\nhost: host:9000\r\n"
               "content-type: application/octet-stream\r\nUser-Agent: agent\r\n"
               "Content-Length: 0\r\n\r\n");
    op.n_payload = 1234567890123;
    expect(op, "PUT /bucket/k HTTP/1.1\r\nhost: host:9000\r\n"
               "content-type: application/octet-stream\r\nUser-Agent: agent\r\n"
               "Content-Length: 1234567890123\r\n\r\n");

    op = op_of(S3OP_STAT, "k");
    op.version_id = "v/1";
    expect(op, "HEAD /bucket/k?versionId=v%2F1 HTTP/1.1\r\nhost: host:9000\r\n"
               "User-Agent: agent\r\n\r\n");

    op = op_of(S3OP_LIST, "p/ q");
    expect(op, "GET /bucket?encoding-type=url&list-type=2&prefix=p%2F%20q HTTP/1.1\r\n"
               "host: host:9000\r\nUser-Agent: agent\r\n\r\n");

    op = op_of(S3OP_PUT_PART, "k");
    op.part = 7;
    op.upload_id = "u+";
    op.n_payload = 1;
    expect(op, "PUT /bucket/k?partNumber=7&uploadId=u%2B HTTP/1.1\r\nhost: host:9000\r\n"
               "User-Agent: agent\r\nContent-Length: 1\r\n\r\n");

    op = op_of(S3OP_DELETE_BATCH, "");
    op.body = "<Delete/>";
    op.n_body = 9;
    expect(op, "POST /bucket?delete= HTTP/1.1\r\nhost: host:9000\r\nUser-Agent: agent\r\n"
               "Content-Length: 9\r\n\r\n");
}

/* Servers may wait for the body of a request whose method can have one. */
static void test_lengths(void **state)
{
    (void)state;
    for (int kind = 0; kind < S3OP_N_KINDS; kind++) {
        const struct s3op op = op_of((enum s3op_kind)kind, "k");
        const struct s3op_head head = {.host = "h", .user_agent = "a"};
        const char *text = build(&plain, &op, &head);
        bool reads = *text == 'G' || *text == 'H';

        assert_int_equal(strstr(text, "\r\nContent-Length: 0\r\n\r\n") != NULL, !reads);
    }
}

static void test_pages(void **state)
{
    (void)state;
    const struct s3op list = op_of(S3OP_LIST, "p");
    const struct s3op versions = op_of(S3OP_LIST_VERSIONS, "p");
    const struct s3op_head head = {.host = "h", .user_agent = "a", .token = "t=", .token_id = "v"};

    assert_string_equal(
        build(&plain, &list, &head),
        "GET /bucket?continuation-token=t%3D&encoding-type=url&list-type=2&prefix=p HTTP/1.1\r\n"
        "host: h\r\nUser-Agent: a\r\n\r\n");
    assert_string_equal(
        build(&plain, &versions, &head),
        "GET /bucket?encoding-type=url&key-marker=t%3D&prefix=p&version-id-marker=v&versions= "
        "HTTP/1.1\r\nhost: h\r\nUser-Agent: a\r\n\r\n");
}

/* A request with all possible parameters has them in order, which build checks. */
static void test_order(void **state)
{
    (void)state;
    const struct s3op_head head = {.host = "h", .user_agent = "a", .token = "t=", .token_id = "v"};

    for (int kind = 0; kind < S3OP_N_KINDS; kind++) {
        struct s3op op = op_of((enum s3op_kind)kind, "k");
        bool in_parts = kind == S3OP_PUT_PART || kind == S3OP_COMPLETE || kind == S3OP_ABORT;
        bool of_version = kind == S3OP_GET || kind == S3OP_DELETE || kind == S3OP_RETENTION;

        op.upload_id = in_parts ? "u" : NULL;
        op.version_id = of_version ? "v" : NULL;
        op.start_after = "s";
        op.max_keys = 5;
        op.part = 1;
        build(&plain, &op, &head);
    }
}

static void test_virtual_host(void **state)
{
    (void)state;
    struct s3op_style style = plain;
    const struct s3op get = {.kind = S3OP_GET, .key = "k", .n_key = 1, .whole = true};
    const struct s3op stat = {.kind = S3OP_BUCKET_STAT};
    const struct s3op_head head = {.host = "bucket.h", .virtual_host = true, .user_agent = "a"};

    assert_string_equal(build(&style, &get, &head),
                        "GET /k HTTP/1.1\r\nhost: bucket.h\r\nUser-Agent: a\r\n\r\n");
    assert_string_equal(build(&style, &stat, &head),
                        "HEAD / HTTP/1.1\r\nhost: bucket.h\r\nUser-Agent: a\r\n\r\n");

    assert_false(s3op_uses_virtual_host(&style, "10.0.0.1:9000"));
    assert_false(s3op_uses_virtual_host(&style, "amazonaws.com.example"));
    assert_true(s3op_uses_virtual_host(&style, "s3.eu-west-1.amazonaws.com"));
    assert_true(s3op_uses_virtual_host(&style, "s3.amazonaws.com:443"));
    style.tls = true;
    style.bucket = "a.b";
    assert_false(s3op_uses_virtual_host(&style, "s3.amazonaws.com"));
    style.lookup = S3OP_LOOKUP_HOST;
    assert_true(s3op_uses_virtual_host(&style, "localhost"));
    style.lookup = S3OP_LOOKUP_PATH;
    assert_false(s3op_uses_virtual_host(&style, "s3.amazonaws.com"));
}

static void test_encryption(void **state)
{
    (void)state;
    struct s3op_style style = plain;
    const struct s3op_head head = {.host = "h", .user_agent = "a"};
    const struct s3op list = {.kind = S3OP_LIST};

    style.sse_c_key = "KEY";
    strcpy(style.sse_c_key_md5, "MD5");
    for (int i = 0; i < 3; i++) {
        const enum s3op_kind kinds[] = {S3OP_GET, S3OP_PUT, S3OP_STAT};
        struct s3op op = op_of(kinds[i], "k");
        op.whole = true;
        const char *text = build(&style, &op, &head);
        assert_non_null(strstr(text, "\r\nx-amz-server-side-encryption-customer-key: KEY\r\n"));
        assert_non_null(strstr(text, "-customer-key-md5: MD5\r\n"));
        assert_non_null(strstr(text, "-customer-algorithm: AES256\r\n"));
    }
    assert_null(strstr(build(&style, &list, &head), "customer"));
}

/* The longest key fits, a buffer that is too small is an error. */
static void test_limits(void **state)
{
    (void)state;
    struct err e = {0};
    char key[S3OP_KEY_MAX + 1];
    struct s3op_head head = {.host = "h", .user_agent = "a"};

    memset(key, '%', S3OP_KEY_MAX);
    key[S3OP_KEY_MAX] = '\0';
    const struct s3op op = op_of(S3OP_DELETE, key);
    assert_int_equal(strlen(build(&plain, &op, &head)),
                     7 + 8 + 3 * S3OP_KEY_MAX + 11 + 9 + 17 + 19);
    assert_int_equal(s3op_build(&plain, NULL, &op, &head, out, 100, &e), 0);
    assert_string_not_equal(e.msg, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),   cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_pages),      cmocka_unit_test(test_virtual_host),
        cmocka_unit_test(test_encryption), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
