/* What is removed from error messages, and what stays. */
#include "analyze/data/errnorm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char *normal(const char *message, const char *key)
{
    static char out[ERRNORM_MAX_BYTES + 1];
    size_t n = errnorm_message((struct slice){message, strlen(message)},
                               (struct slice){key, strlen(key)}, out);

    assert_true(n <= ERRNORM_MAX_BYTES);
    out[n] = '\0';
    return out;
}

static void test_replaced(void **state)
{
    static const char *const cases[][2] = {
        {"The specified key does not exist.", "The specified key does not exist."},
        {"HTTP 503 SlowDown: Please reduce your request rate.",
         "HTTP 503 SlowDown: Please reduce your request rate."},
        {"Get \"http://127.0.0.1:9000/b/k?x=1\": dial tcp 127.0.0.1:9000: connection refused",
         "Get \"<url>\": dial tcp <host>: connection refused"},
        {"read tcp 10.0.0.7:41544->10.0.0.9:9000: i/o timeout",
         "read tcp <host>-><host>: i/o timeout"},
        {"s3-node7.example:9000 is down", "<host> is down"},
        {"connect to [::1]:9000 failed", "connect to <host> failed"},
        {"request 17B2F0A3C9D1E4F5 failed", "request <id> failed"},
        {"id 6ba7b810-9dad-11d1-80b4-00c04fd430c8.", "id <id>."},
        {"object p/1.rnd is gone", "object <key> is gone"},
        {"after 1234567 bytes", "after <n> bytes"},
        {"port 9000 after 18 ms: no", "port 9000 after <n> ms: no"},
        {"1 msg", "1 msg"},
        {"two\nlines\tand tabs", "two lines and tabs"},
        {"see https://example.org/a, please.", "see <url>, please."},
        {"TLS 1.2 at 12:30", "TLS 1.2 at 12:30"},
        /* Keys with brackets and blanks are removed completely. */
        {"GET http://h:9000/b/x(815).bin: EOF", "GET <url>: EOF"},
        {"GET http://h:9000/b/x%20(815: EOF", "GET <url>: EOF"},
        {"GET http://h:9000/b/x (", "GET <url> ("},
        {"Get \"http://h:9000/b/x (815) <a'b>\": EOF", "Get \"<url>\": EOF"},
        {"'http://h:9000/b/it is' gone", "'<url>' gone"},
        {"refused (http://h:9000/b/x)", "refused (<url>)"},
        {"refused (see http://h:9000/b/x(1)), again", "refused (see <url>), again"},
        {"at <http://h:9000/b/x>", "at <<url>>"},
        {"\"http://h:9000/b/x is not closed", "\"<url> is not closed"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(normal(cases[i][0], "p/1.rnd"), cases[i][1]);
    /* An address that ends with the exact key is removed completely. */
    assert_string_equal(normal("GET http://h:9000/b/x (81) 5: EOF", "x (81) 5"), "GET <url>: EOF");
    assert_string_equal(normal("GET http://h/b/<\">)1: EOF", "<\">)1"), "GET <url>: EOF");
    assert_string_equal(normal("GET http://h/b/x ( failed", "x ("), "GET <url> failed");
}

/* Messages that differ only in what is removed are the same; a cut message ends between
 * characters. */
static void test_long(void **state)
{
    char message[3 * ERRNORM_MAX_BYTES + 1];

    (void)state;
    memset(message, 0, sizeof message);
    for (size_t i = 0; i + 2 < sizeof message; i += 2)
        memcpy(message + i, "\xc3\xa9", 2);
    memmove(message + 1, message, sizeof message - 2);
    message[0] = 'x';
    const char *out = normal(message, "");
    assert_int_equal(strlen(out) % 2, 1);
    assert_true(strlen(out) >= ERRNORM_MAX_BYTES - 2);
    assert_string_equal(normal("", "k"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_replaced),
                                       cmocka_unit_test(test_long)};

    return cmocka_run_group_tests_name("errnorm", tests, NULL, NULL);
}
