#include "libcommon/programs.h"
#include "libcommon/secret.h"
#include "libcommon/utf8.h"
#include "loadgen/options/options.h"
#include "loadgen/run/bench.h"
#include "loadgen/util/util.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

PROGRAMS_S3LOAD(PROGRAMS_DECLARE)
static const struct cli_command *const commands[] = {PROGRAMS_S3LOAD(PROGRAMS_ADDRESS) NULL};

static void expect(char **words, const char *expected)
{
    char *line = options_redacted(commands, words);

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
                     "1KiB",
                     NULL};
    char *single[] = {"s3load",
                      "put",
                      "-secret-key=SECRET",
                      "--secretkey=SECRET",
                      "--SECRET_KEY=SECRET",
                      "--secret.keys",
                      "SECRET",
                      NULL};
    char *last[] = {"s3load", "put", "--secret-key", NULL};
    char *url[] = {
        "s3load",           "--host", "http://user:SECRET@host:9000/x", "http://user:SEC@RET@host",
        "https://host/a@b", NULL};
    char *quoted[] = {"s3load", "--label", "it's two words", "", NULL};
    char *other[] = {"s3load", "--host", "secret-key=1", "--profile", "secret", NULL};

    expect(forms, "s3load put --secret-key REDACTED --session-token=REDACTED --access-key=REDACTED "
                  "--obj.size 1KiB");
    expect(single, "s3load put -secret-key=REDACTED --secretkey=REDACTED --SECRET_KEY=REDACTED "
                   "--secret.keys REDACTED");
    expect(last, "s3load put --secret-key");
    expect(url, "s3load --host http://REDACTED@host:9000/x http://REDACTED@host https://host/a@b");
    expect(quoted, "s3load --label 'it'\\''s two words' ''");
    expect(other, "s3load --host secret-key=1 --profile secret");
}

static void test_held(void **state)
{
    (void)state;
    char *secret[][3] = {{"--secret-key", "S"},
                         {"--tls", "-session-token=S"},
                         {"--secretkey"},
                         {"--host", "http://u:S@h"}};
    char *plain[] = {"--host", "secret-key=1", "--profile", "secret", "x@y", NULL},
         *none[] = {NULL};

    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++)
        assert_true(options_hold_secret(commands, secret[i]));
    assert_false(options_hold_secret(commands, plain));
    assert_false(options_hold_secret(commands, none));
}

/* Secrets are overwritten in the original argv; the copy has them. */
static void test_hidden(void **state)
{
    (void)state;
    char words[][40] = {
        "s3load",   "--secret-key", "SECRET", "--session-token=SECRET", "http://u:SECRET@h",
        "--bucket", "SECRET-bucket"};
    char *argv[8] = {0};

    for (int i = 0; i < 7; i++)
        argv[i] = words[i];
    char **copy = options_hide(commands, 7, argv);
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

/* Whether the settings of a command in its capture contain the text. */
static bool is_recorded(const struct cli_command *command, const struct options *o,
                        const char *text)
{
    static struct bench b;
    struct strbuf head = {0};

    b.args.command = command;
    b.o = o;
    b.team.size = 1;
    b.engine.root = "/nowhere";
    b.control.crew.engine = &b.engine;
    b.machine.engine = &b.engine;
    summary_put_start(&head, &b);
    assert_false(head.failed);
    bool found = strstr(head.s, text) != NULL;
    strbuf_fini(&head);
    return found;
}

/* Each option declares its use. The value of a secret option is neither shown nor recorded. */
static void check_option(const struct cli_command *command, const struct cli_option *option)
{
    struct options o = *(const struct options *)command->defaults;
    const char *text = "VALUE";
    char alone[64], whole[80];
    char *words[] = {alone, "VALUE", whole, NULL};

    if (option->is == CLI_UNDECLARED)
        fail_msg("--%s of %s declares no .is", option->name, command->name);
    if (option->type != CLI_STRING) {
        assert_int_not_equal(option->is, CLI_SECRET);
        return;
    }
    snprintf(alone, sizeof alone, "--%s", option->name);
    snprintf(whole, sizeof whole, "--%s=VALUE", option->name);
    char *shown = options_redacted(commands, words);
    assert_non_null(shown);
    assert_int_equal(strstr(shown, text) == NULL, option->is == CLI_SECRET);
    free(shown);
    memcpy((char *)&o + option->offset, &text, sizeof text);
    if (option->is != CLI_OTHER)
        assert_int_equal(is_recorded(command, &o, text), option->is == CLI_SETTING);
}

static void test_declared(void **state)
{
    (void)state;
    unsigned n_secret = 0;

    for (const struct cli_command *const *c = commands; *c != NULL; c++) {
        if ((*c)->options_size != sizeof(struct options))
            continue; /* `repeat` sends nothing itself */
        for (const struct cli_group *g = (*c)->groups; g->options != NULL; g++)
            for (const struct cli_option *o = g->options; o->type != CLI_NONE; o++) {
                check_option(*c, o);
                n_secret += o->is == CLI_SECRET;
            }
    }
    assert_true(n_secret >= 3);
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
        cmocka_unit_test(test_redacted), cmocka_unit_test(test_held),
        cmocka_unit_test(test_hidden),   cmocka_unit_test(test_declared),
        cmocka_unit_test(test_repaired), cmocka_unit_test(test_strbuf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
