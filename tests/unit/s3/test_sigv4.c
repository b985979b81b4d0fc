#include "loadgen/s3/s3.h"

#include <openssl/sha.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define SECRET_S3    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
#define SECRET_SUITE "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define TIME_S3      1369353600 /* 2013-05-24T00:00:00Z */
#define TIME_SUITE   1440938160 /* 2015-08-30T12:36:00Z */

/* A signer is too large for some stacks. */
static struct sigv4 signer;

static void start(const char *access_key, const char *secret, const char *token,
                  const char *service)
{
    struct err e = {0};

    assert_true(sigv4_init(&signer, access_key, secret, token, "us-east-1", service, &e));
}

/* Writes the signed headers and a NUL to out; returns 0 if they do not fit. */
static size_t sign(const struct sigv4_request *r, char *out, size_t size, struct err *e)
{
    struct strbuf b = strbuf_on(out, size);

    return sigv4_sign(&signer, r, &b, e) ? b.n : 0;
}

static void hash_of(const char *s, char hash[static SIGV4_HASH_SIZE])
{
    unsigned char raw[SIGV4_HASH_BYTES];

    SHA256((const unsigned char *)s, strlen(s), raw);
    sigv4_hex(raw, hash);
}

static void assert_signature(const struct sigv4_request *r, const char *signature)
{
    char out[8192];
    struct err e = {0};
    size_t n = sign(r, out, sizeof out, &e);

    assert_string_equal(e.msg, "");
    assert_true(n > 0);
    const char *at = strstr(out, ",Signature=");
    assert_non_null(at);
    assert_memory_equal(at + strlen(",Signature="), signature, 64);
    assert_string_equal(at + strlen(",Signature=") + 64, "\r\n");
}

/* The examples in Amazon S3 API Reference, "Signature Calculations for the Authorization
 * Header". */
static void test_s3_examples(void **state)
{
    (void)state;
    char hash[SIGV4_HASH_SIZE];
    const char *host = "examplebucket.s3.amazonaws.com";
    const struct sigv4_header range[] = {{"range", "bytes=0-9"}};
    const struct sigv4_header put[] = {{"x-amz-storage-class", "REDUCED_REDUNDANCY"},
                                       {"date", "Fri, 24 May 2013 00:00:00 GMT"}};

    start("AKIAIOSFODNN7EXAMPLE", SECRET_S3, NULL, "s3");
    struct sigv4_request r = {"GET", host, "/test.txt", "", range, 1, SIGV4_EMPTY_PAYLOAD, TIME_S3};
    assert_signature(&r, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");

    hash_of("Welcome to Amazon S3.", hash);
    assert_string_equal(hash, "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072");
    r = (struct sigv4_request){"PUT", host, "/test%24file.text", "", put, 2, hash, TIME_S3};
    assert_signature(&r, "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");

    r = (struct sigv4_request){"GET",  host, "/", "lifecycle=", NULL, 0, SIGV4_EMPTY_PAYLOAD,
                               TIME_S3};
    assert_signature(&r, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");

    r.query = "max-keys=2&prefix=J";
    assert_signature(&r, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
    sigv4_fini(&signer);
}

/* The lines of the second example: they have the signed data. */
static void test_lines(void **state)
{
    (void)state;
    char out[1024];
    struct err e = {0};
    const struct sigv4_header range[] = {{"range", "bytes=0-9"}};
    const struct sigv4_request r = {
        "GET",  "examplebucket.s3.amazonaws.com", "/test.txt", "", range, 1, SIGV4_EMPTY_PAYLOAD,
        TIME_S3};
    const char *expected =
        "host: examplebucket.s3.amazonaws.com\r\n"
        "range: bytes=0-9\r\n"
        "x-amz-content-sha256: " SIGV4_EMPTY_PAYLOAD "\r\n"
        "x-amz-date: 20130524T000000Z\r\n"
        "Authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/"
        "aws4_request,SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature="
        "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41\r\n";
    size_t n = strlen(expected);

    start("AKIAIOSFODNN7EXAMPLE", SECRET_S3, "", "s3");
    assert_int_equal(sign(&r, out, sizeof out, &e), n);
    assert_memory_equal(out, expected, n);
    assert_int_equal(sign(&r, out, n + 1, &e), n);
    assert_int_equal(sign(&r, out, n, &e), 0);
    assert_non_null(strstr(e.msg, "do not fit"));
    sigv4_fini(&signer);
}

/* The cases of AWS's Signature Version 4 test suite that apply to a client that neither normalises
 * paths nor repeats headers, with queries in order: method, path, query, header, payload,
 * signature. */
static void test_suite(void **state)
{
    (void)state;
#define UNRESERVED "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    static const struct {
        const char *method, *path, *query;
        struct sigv4_header headers[2];
        const char *payload, *signature;
    } cases[] = {
        /* get-vanilla */
        {"GET",
         "/",
         "",
         {{0}},
         "",
         "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
        /* get-vanilla-empty-query-key */
        {"GET",
         "/",
         "Param1=value1",
         {{0}},
         "",
         "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"},
        /* get-vanilla-query-order-key-case */
        {"GET",
         "/",
         "Param1=value1&Param2=value2",
         {{0}},
         "",
         "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
        /* get-vanilla-query-order-value */
        {"GET",
         "/",
         "Param1=value1&Param1=value2",
         {{0}},
         "",
         "5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694"},
        /* get-vanilla-query-order-encoded */
        {"GET",
         "/",
         "%E1%88%B4=Value1&Param=Value2&Param-3=Value3",
         {{0}},
         "",
         "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac"},
        /* get-vanilla-query-unreserved */
        {"GET",
         "/",
         UNRESERVED "=" UNRESERVED,
         {{0}},
         "",
         "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"},
        /* get-vanilla-utf8-query */
        {"GET",
         "/",
         "%E1%88%B4=bar",
         {{0}},
         "",
         "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
        /* get-unreserved */
        {"GET",
         "/" UNRESERVED,
         "",
         {{0}},
         "",
         "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
        /* get-utf8 */
        {"GET",
         "/%E1%88%B4",
         "",
         {{0}},
         "",
         "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
        /* get-space-unnormalized */
        {"GET",
         "/example%20space/",
         "",
         {{0}},
         "",
         "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
        /* get-slashes-unnormalized */
        {"GET",
         "//example//",
         "",
         {{0}},
         "",
         "87cca117541a147f6df867677d98a7d80dff226d2bfca9e4ffa899665623c7e5"},
        /* get-relative-relative-unnormalized */
        {"GET",
         "/example1/example2/../..",
         "",
         {{0}},
         "",
         "dc33e0856fd4baca4d7aa2146c38958283844764f38c74252a333df5e613003b"},
        /* get-header-value-trim */
        {"GET",
         "/",
         "",
         {{"my-header2", " \"a   b   c\""}, {"my-header1", " value1"}},
         "",
         "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
        /* post-vanilla */
        {"POST",
         "/",
         "",
         {{0}},
         "",
         "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
        /* post-vanilla-query */
        {"POST",
         "/",
         "Param1=value1",
         {{0}},
         "",
         "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"},
        /* post-header-key-sort */
        {"POST",
         "/",
         "",
         {{"my-header1", "value1"}},
         "",
         "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
        /* post-header-value-case */
        {"POST",
         "/",
         "",
         {{"my-header1", "VALUE1"}},
         "",
         "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"},
        /* post-x-www-form-urlencoded */
        {"POST",
         "/",
         "",
         {{"content-type", "application/x-www-form-urlencoded"}},
         "Param1=value1",
         "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
        /* post-x-www-form-urlencoded-parameters */
        {"POST",
         "/",
         "",
         {{"content-type", "application/x-www-form-urlencoded; charset=utf8"}},
         "Param1=value1",
         "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe"},
    };

    start("AKIDEXAMPLE", SECRET_SUITE, NULL, "service");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char hash[SIGV4_HASH_SIZE];
        hash_of(cases[i].payload, hash);
        const struct sigv4_header *h = cases[i].headers;
        const struct sigv4_request r = {cases[i].method,
                                        "example.amazonaws.com",
                                        cases[i].path,
                                        cases[i].query,
                                        h,
                                        (size_t)(h[0].name != NULL) + (h[1].name != NULL),
                                        hash,
                                        TIME_SUITE};
        assert_signature(&r, cases[i].signature);
    }
    sigv4_fini(&signer);
}

/* get-vanilla-with-session-token */
static void test_token(void **state)
{
    (void)state;
    const struct sigv4_request r = {"GET", "example.amazonaws.com", "/",       "", NULL,
                                    0,     SIGV4_EMPTY_PAYLOAD,     TIME_SUITE};

    start("AKIDEXAMPLE", SECRET_SUITE,
          "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267", "service");
    assert_signature(&r, "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8");
    sigv4_fini(&signer);
}

/* Keys of all kinds, signed by botocore 1.43 (S3SigV4Auth) for https://127.0.0.1:9000. */
static void test_botocore(void **state)
{
    (void)state;
    static char long_key[1025];
    static const char pattern[] = "a/b c+d%e~\u00e9\u6f22";
    static const struct sigv4_header put[] = {{"x-amz-server-side-encryption", "AES256"},
                                              {"x-amz-storage-class", "REDUCED_REDUNDANCY"},
                                              {"content-md5", "1B2M2Y8AsgTpgAmY7PhCfg=="}};
    const struct {
        const char *method, *key, *query;
        size_t n_headers;
        const char *payload_hash, *token, *signature;
    } cases[] = {
        {"GET", "plain", "", 0, SIGV4_EMPTY_PAYLOAD, NULL,
         "5051caf3b59f3054780650bc975e78a64fea0dd67b03cae45d3d1009a3e55e1f"},
        {"GET", "a b+c%d", "", 0, SIGV4_EMPTY_PAYLOAD, NULL,
         "7bd70f0aa8bafeaac17572f95e440813ccf74cb003a273a9a04b312ad25df145"},
        {"GET", "//two//slashes/", "", 0, SIGV4_EMPTY_PAYLOAD, NULL,
         "60c4dedd2174be107de7e16c50175488446dfc2b746466483f170805bfa3f0b4"},
        {"GET", ".././dots/..", "", 0, SIGV4_EMPTY_PAYLOAD, NULL,
         "1a3e31cb37e1deef38352024e9b2321806fa6d50765ab82df7e5816d4179b6a5"},
        {"GET", "\u00fcml\u00e4ut/\u6f22\u5b57/\U0001F600", "", 0, SIGV4_EMPTY_PAYLOAD, NULL,
         "5e42918a1d1ba33ce6bb109fcfb8d950f702e5bb831a9cc7764663b3dba08c50"},
        {"GET", "!*'();:@&=$,[]{}|\\^`\"<>?#~", "", 0, SIGV4_EMPTY_PAYLOAD, NULL,
         "0e115cfba70b235bdb3020b0a3c2ccdfbd315f6fe831a9660e16c551e9656f03"},
        {"PUT", long_key, "", 0, SIGV4_EMPTY_PAYLOAD, NULL,
         "e3a42404068af449e9d20748c177c3384afbdc7dfd4bceb7a7f7a2894e35f34d"},
        {"GET", "k",
         "versionId=3%2FL4kqtJlcpXroDTDmJ%2BrmSpXd3dIbrHY%2BMTRCxf3vjVBH40Nr8X8gdRQBpUMLUo", 0,
         SIGV4_EMPTY_PAYLOAD, NULL,
         "64cd93a7b2ccc16a7dae7ebef9a77e99d8c56f00adc0f5e71c580c2398fece71"},
        {"POST", "k", "uploads=", 0, SIGV4_EMPTY_PAYLOAD, NULL,
         "6eafc31086774ee391ddcaac53b3ec95f50b9183f298d122e0b59a8967bd7f3a"},
        {"PUT", "k", "partNumber=10&uploadId=a%3D%3D&x-id=UploadPart", 0, SIGV4_EMPTY_PAYLOAD, NULL,
         "29d3cf01042ebb392cb5863b2f3e6344a052556e39504dfd7b693f0d9e0d21ce"},
        {"GET", "",
         "continuation-token=1%2Fab%3D&encoding-type=url&list-type=2&max-keys=1000&"
         "prefix=s3load-1%2F%20%2B",
         0, SIGV4_EMPTY_PAYLOAD, NULL,
         "eaa1e593c902ef6af7c7c2aa54f477b69d87470d958071004c34af062ccaecb9"},
        {"PUT", "k", "", 3, SIGV4_UNSIGNED, NULL,
         "03204e6ba7ca060d374f14fa82cba766d447a9c4cfd7c172af566f955904582c"},
        {"PUT", "k", "", 3, SIGV4_UNSIGNED, "TOKEN/+==x",
         "80c80bded584a98a5cc45c6cb2c664c2833d366cd8bf516263c1df1b29e776e6"},
    };

    for (size_t i = 0; i < 1024; i++)
        long_key[i] = pattern[i % (sizeof pattern - 1)];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[URI_MAX(1024) + 16] = "/bucket/";
        struct strbuf b = strbuf_on(path + strlen(path), sizeof path - strlen(path));
        uri_encode(&b, cases[i].key, strlen(cases[i].key), true);
        assert_false(b.failed);
        const struct sigv4_request r = {
            cases[i].method,    "127.0.0.1:9000",      path,   cases[i].query, put,
            cases[i].n_headers, cases[i].payload_hash, TIME_S3};
        start("AKIAIOSFODNN7EXAMPLE", SECRET_S3, cases[i].token, "s3");
        assert_signature(&r, cases[i].signature);
        sigv4_fini(&signer);
    }
}

/* The signing key changes with the day, forward and back. */
static void test_days(void **state)
{
    (void)state;
    char out[3][1024];
    struct err e = {0};
    struct sigv4_request r = {"GET", "h", "/", "", NULL, 0, SIGV4_UNSIGNED, TIME_S3};
    const int64_t times[] = {TIME_S3, TIME_S3 - 1, TIME_S3};
    size_t n = 0;

    start("A", "B", NULL, "s3");
    for (size_t i = 0; i < 3; i++) {
        r.time_s = times[i];
        n = sign(&r, out[i], sizeof out[i], &e);
        assert_true(n > 0);
    }
    assert_memory_equal(out[0], out[2], n);
    assert_non_null(strstr(out[1], "x-amz-date: 20130523T235959Z\r\n"));
    assert_non_null(strstr(out[1], "Credential=A/20130523/us-east-1/s3/aws4_request,"));

    r.time_s = -1;
    assert_int_equal(sign(&r, out[0], sizeof out[0], &e), 0);
    assert_non_null(strstr(e.msg, "1970"));
    sigv4_fini(&signer);
}

/* Blanks around a header's value are dropped, and several within become one; a tab counts as a
 * blank. */
static void test_blanks(void **state)
{
    (void)state;
    static const char *const values[] = {"a b", "  a   b ", "\ta\tb\t", " \t a \t b\t "};
    char out[1024], first[65];
    struct err e = {0};

    start("A", "B", NULL, "s3");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const struct sigv4_header h = {"x-amz-meta", values[i]};
        const struct sigv4_request r = {"GET", "h", "/", "", &h, 1, SIGV4_UNSIGNED, TIME_S3};
        size_t n = sign(&r, out, sizeof out, &e);
        assert_true(n > 0);
        const char *signature = strstr(out, "Signature=");
        assert_non_null(signature);
        if (i == 0)
            memcpy(first, signature + strlen("Signature="), 64);
        assert_memory_equal(signature + strlen("Signature="), first, 64);
    }
    sigv4_fini(&signer);
}

static void test_limits(void **state)
{
    (void)state;
    static char path[SIGV4_CANONICAL_MAX];
    static char out[2 * SIGV4_CANONICAL_MAX];
    struct sigv4_header many[SIGV4_HEADERS_MAX];
    struct err e = {0};
    struct sigv4_request r = {"GET", "h", path, "", many, 0, SIGV4_UNSIGNED, TIME_S3};

    for (size_t i = 0; i < SIGV4_HEADERS_MAX; i++)
        many[i] = (struct sigv4_header){"x-amz-meta", "v"};
    start("A", "B", NULL, "s3");
    memset(path, 'x', sizeof path - 1);
    assert_int_equal(sign(&r, out, sizeof out, &e), 0);
    assert_non_null(strstr(e.msg, "too long"));

    err_clear(&e);
    r.path = "/";
    r.n_headers = SIGV4_HEADERS_MAX;
    assert_int_equal(sign(&r, out, sizeof out, &e), 0);
    assert_non_null(strstr(e.msg, "headers"));
    sigv4_fini(&signer);
}

static void test_uri(void **state)
{
    (void)state;
    char out[64];
    char all[256];
    struct strbuf b = {0};
    struct strbuf few = strbuf_on(out, 5);
    struct strbuf enough = strbuf_on(out, 6);
    size_t n = 0;

    uri_encode(&b, "a/b c+%\xc3\xa9~", 10, true);
    assert_string_equal(b.s, "a/b%20c%2B%25%C3%A9~");
    strbuf_clear(&b);
    uri_encode(&few, "a/b", 3, false);
    assert_true(few.failed);
    uri_encode(&enough, "a/b", 3, false);
    assert_false(enough.failed);
    assert_string_equal(out, "a%2Fb");

    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    uri_encode(&b, all, 256, false);
    n = b.n;
    char *coded = b.s;
    assert_int_equal(n, 66 + 190 * 3);
    assert_true(uri_decode(coded, &n));
    assert_int_equal(n, 256);
    assert_memory_equal(coded, all, 256);
    strbuf_fini(&b);

    char plus[] = "a+b%2b%2B";
    n = strlen(plus);
    assert_true(uri_decode(plus, &n));
    assert_int_equal(n, 5);
    assert_memory_equal(plus, "a b++", 5);
    const char *bad[] = {"%", "%4", "%4g", "x%zz"};
    for (size_t i = 0; i < 4; i++) {
        strcpy(out, bad[i]);
        n = strlen(out);
        assert_false(uri_decode(out, &n));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_s3_examples), cmocka_unit_test(test_lines),
        cmocka_unit_test(test_suite),       cmocka_unit_test(test_token),
        cmocka_unit_test(test_botocore),    cmocka_unit_test(test_days),
        cmocka_unit_test(test_limits),      cmocka_unit_test(test_blanks),
        cmocka_unit_test(test_uri),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
