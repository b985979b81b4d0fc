#include "libcommon/secret.h"
#include "libcommon/utf8.h"
#include "loadgen/run/options.h"
#include "loadgen/util/strbuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_WORDS(words) ((int)(sizeof(words) / sizeof *(words)))

static void expect(int n, char **words, const char *expected)
{
    char *line = options_redacted(n, words);

    assert_non_null(line);
    assert_string_equal(line, expected);
    free(line);
}

static void test_redacted(void **state)
{
    (void)state;
    char *forms[] = {"s3load",
                     "put",
                     "--secret-key",
                     "SECRET",
                     "--session-token=SECRET",
                     "--access-key=SECRET",
                     "--obj.size",
                     "1KiB"};
    char *single[] = {
        "s3load",        "put",   "-secret-key=SECRET", "--secretkey=SECRET", "--SECRET_KEY=SECRET",
        "--secret.keys", "SECRET"};
    char *last[] = {"s3load", "put", "--secret-key"};
    char *url[] = {"s3load", "--host", "http://user:SECRET@host:9000/x", "https://host/a@b"};
    char *quoted[] = {"s3load", "--label", "it's two words", ""};
    char *other[] = {"s3load", "--host", "secret-key=1", "--profile", "secret"};

    expect(N_WORDS(forms), forms,
           "s3load put --secret-key REDACTED --session-token=REDACTED --access-key=REDACTED "
           "--obj.size 1KiB");
    expect(N_WORDS(single), single,
           "s3load put -secret-key=REDACTED --secretkey=REDACTED --SECRET_KEY=REDACTED "
           "--secret.keys REDACTED");
    expect(N_WORDS(last), last, "s3load put --secret-key");
    expect(N_WORDS(url), url, "s3load --host http://REDACTED@host:9000/x https://host/a@b");
    expect(N_WORDS(quoted), quoted, "s3load --label 'it'\\''s two words' ''");
    expect(N_WORDS(other), other, "s3load --host secret-key=1 --profile secret");
}

/* The original loses its secrets, in place; the copy has them. */
static void test_hidden(void **state)
{
    (void)state;
    char words[][40] = {
        "s3load",   "--secret-key", "SECRET", "--session-token=SECRET", "http://u:SECRET@h",
        "--bucket", "SECRET-bucket"};
    char *argv[8] = {0};

    for (int i = 0; i < 7; i++)
        argv[i] = words[i];
    char **copy = options_hide(7, argv);
    assert_non_null(copy);
    assert_string_equal(argv[2], "xxxxxx");
    assert_string_equal(argv[3], "--session-token=xxxxxx");
    assert_string_equal(argv[4], "http://xxxxxxxx@h");
    assert_string_equal(argv[6], "SECRET-bucket");
    assert_string_equal(copy[2], "SECRET");
    assert_string_equal(copy[3], "--session-token=SECRET");
    assert_string_equal(copy[4], "http://u:SECRET@h");
    assert_null(copy[7]);
    for (int i = 0; i < 7; i++)
        secret_free(copy[i]);
    free(copy);
}

static void test_repaired(void **state)
{
    (void)state;
    char *text = utf8_repaired("a\n\x01 \xc3\xa9 \xff \xed\xa0\x80 \xf0\x9f\x98\x80");

    assert_string_equal(text, "a\n\x01 \xc3\xa9 \xef\xbf\xbd "
                              "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd \xf0\x9f\x98\x80");
    free(text);
}

static void test_strbuf(void **state)
{
    (void)state;
    struct strbuf b = {0};

    strbuf_puts(&b, "");
    assert_string_equal(b.s, "");
    for (int i = 0; i < 1000; i++)
        strbuf_printf(&b, "%d,", i);
    assert_int_equal(b.n, 3890);
    assert_int_equal(strlen(b.s), 3890);
    strbuf_clear(&b);
    assert_true(strbuf_xml(&b, "a<b>&\"'\t\n\r\xc3\xa9", 12));
    assert_false(strbuf_xml(&b, "a\x01", 2));
    assert_string_equal(b.s, "a&lt;b&gt;&amp;&quot;&apos;&#9;&#10;&#13;\xc3\xa9");
    strbuf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_redacted),
        cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_repaired),
        cmocka_unit_test(test_strbuf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
