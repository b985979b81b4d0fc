#include "libcommon/cli.h"
#include "libcommon/cli_help.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct filter {
    struct cli_list ops;
    const char *host, *client;
};

struct options {
    bool verbose, json;
    const char *out;
    int64_t dur, skip, size, count;
    double ratio, pct, rate;
    int format;
    struct cli_list before, after, history;
    struct filter filter;
    int custom;
};

static bool parse_custom(const char *text, void *field, struct err *e)
{
    if (strcmp(text, "seven") != 0)
        return err_set(e, "expected seven");
    *(int *)field = 7;
    return true;
}

static const char *const formats[] = {"text", "json", "csv", NULL};

static const struct cli_option main_options[] = {
    {"analyze.v", CLI_FLAG, offsetof(struct options, verbose), NULL, .help = "say more",
     .alias = "verbose", .letter = 'v'},
    {"json", CLI_FLAG, offsetof(struct options, json), NULL, .help = "print JSON", .letter = 'q'},
    {"analyze.out", CLI_STRING, offsetof(struct options, out), "FILE", .help = "write FILE",
     .alias = "out", .letter = 'o'},
    {"analyze.dur", CLI_DURATION, offsetof(struct options, dur), "DUR",
     .help = "length of a segment", .alias = "dur", .min = 1, .max = INFINITY},
    {"skip", CLI_SIGNED_DURATION, offsetof(struct options, skip), "DUR", .help = "skip"},
    {"size", CLI_SIZE, offsetof(struct options, size), "SIZE", .help = "size", .min = 1024,
     .max = 1048576},
    {"count", CLI_INT, offsetof(struct options, count), "N", .help = "how many", .letter = 'n',
     .min = 1, .max = 100},
    {"ratio", CLI_DOUBLE, offsetof(struct options, ratio), "X", .help = "ratio", .min = -1,
     .max = 1},
    {"key", CLI_STRING, offsetof(struct options, out), "KEY", .help = "key", .is = CLI_SECRET},
    {"pct", CLI_PCT, offsetof(struct options, pct), "PCT", .help = "share"},
    {"rate", CLI_RATE, offsetof(struct options, rate), "N", .help = "rate"},
    {"format", CLI_CHOICE, offsetof(struct options, format), "NAME", .help = "what to write",
     .choices = formats},
    {"before", CLI_OPERANDS, offsetof(struct options, before), "FILE...", .help = "runs before"},
    {"after", CLI_OPERANDS, offsetof(struct options, after), "FILE...", .help = "runs after"},
    {"history", CLI_STRINGS, offsetof(struct options, history), "GLOB", .help = "older runs"},
    {"custom", CLI_CUSTOM, offsetof(struct options, custom), "X", .help = "it's -special-",
     .parse = parse_custom},
    {0},
};

static const struct cli_option filter_options[] = {
    {"op", CLI_LIST, offsetof(struct filter, ops), "OP,...", .help = "only these operations"},
    {"host", CLI_STRING, offsetof(struct filter, host), "GLOB", .help = "only this host"},
    {0},
};

static const struct cli_option more_filter_options[] = {
    {"client", CLI_STRING, offsetof(struct filter, client), "GLOB", .help = "only this client"},
    {0},
};

static const struct cli_group groups[] = {
    {"Options", NULL, main_options, 0},
    {"Filters", "filters", filter_options, offsetof(struct options, filter)},
    {"Filters", "filters", more_filter_options, offsetof(struct options, filter)},
    {0},
};

static const struct cli_example examples[] = {
    {"prog test run.csv.zst", "does it"},
    {0},
};

static const struct options defaults = {.dur = 10000000000, .format = 1, .size = 4096};

static int run(const struct cli_args *args, void *options)
{
    const struct options *o = options;
    return args->n_operands == 1 && o->dur == 10000000000 ? EXIT_UNDECIDED : EXIT_FAILED;
}

static const struct cli_command command = {
    .name = "test",
    .summary = "test the command line",
    .text = "One paragraph.\n\n.Another, with a\\backslash.",
    .operands = "FILE...",
    .max_operands = 3,
    .groups = groups,
    .examples = examples,
    .options_size = sizeof(struct options),
    .defaults = &defaults,
    .run = run,
};

static const struct cli_command *const commands[] = {&command, NULL};

static const struct cli_program program = {
    .name = "prog", .summary = "a program", .version = "1.2", .commands = commands};

/* A command line being tested; ended by test_end. */
struct line {
    struct cli_args args;
    struct options options;
    struct err e;
    bool ok;
};

#define MAX_ARGS 24

/* Parses words separated by blanks. */
static struct line parse(char *words)
{
    struct line l = {.options = defaults};
    char *argv[MAX_ARGS + 1] = {"test"};
    int argc = 1;
    for (char *word; (word = strsep(&words, " "));) {
        assert_true(argc < MAX_ARGS);
        if (*word)
            argv[argc++] = word;
    }
    l.ok = cli_parse(&command, argc, argv, &l.args, &l.options, &l.e);
    return l;
}

static struct line parse_good(char *words)
{
    struct line l = parse(words);
    if (!l.ok)
        fail_msg("%s", l.e.msg);
    return l;
}

static void end(struct line *l)
{
    cli_args_free(&l->args);
}

static void test_forms(void **state)
{
    (void)state;
    char words[] = "a --analyze.dur 2s -v --out=x.csv - --count=5 -n7 -- --json";
    struct line l = parse_good(words);
    assert_true(l.options.dur == 2000000000);
    assert_true(l.options.verbose);
    assert_false(l.options.json);
    assert_string_equal(l.options.out, "x.csv");
    assert_int_equal(l.options.count, 7);
    assert_int_equal(l.args.n_operands, 3);
    assert_string_equal(l.args.operands[0], "a");
    assert_string_equal(l.args.operands[1], "-");
    assert_string_equal(l.args.operands[2], "--json");
    assert_true(cli_given(&l.args, "analyze.dur"));
    assert_true(cli_given(&l.args, "analyze.out"));
    assert_false(cli_given(&l.args, "json"));
    end(&l);
}

static void test_letters(void **state)
{
    (void)state;
    char words[] = "-qvofile -o - -n 3";
    struct line l = parse_good(words);
    assert_true(l.options.verbose && l.options.json);
    assert_string_equal(l.options.out, "-");
    assert_int_equal(l.options.count, 3);
    assert_int_equal(l.args.n_operands, 0);
    end(&l);
}

static void test_flags(void **state)
{
    (void)state;
    char words[] = "--verbose --json --analyze.v=false --json=yes";
    struct line l = parse_good(words);
    assert_false(l.options.verbose);
    assert_true(l.options.json);
    end(&l);
}

static void test_values(void **state)
{
    (void)state;
    char words[] = "--skip -1m --size 64K --ratio -0.5 --pct 7.5% --rate 90/m --format csv "
                   "--custom seven --host h*";
    struct line l = parse_good(words);
    assert_true(l.options.skip == -60000000000);
    assert_int_equal(l.options.size, 65536);
    assert_true(l.options.ratio == -0.5 && l.options.pct == 7.5 && l.options.rate == 1.5);
    assert_int_equal(l.options.format, 2);
    assert_int_equal(l.options.custom, 7);
    assert_string_equal(l.options.filter.host, "h*");
    assert_true(l.options.dur == defaults.dur);
    end(&l);
}

static void assert_list(const struct cli_list *list, const char *joined)
{
    char text[256] = "";
    for (size_t i = 0; i < list->n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", list->v[i]);
    assert_string_equal(text, joined);
}

static void test_lists(void **state)
{
    (void)state;
    char words[] = "--op GET,PUT x --op=DELETE --history a,b --history c";
    struct line l = parse_good(words);
    assert_list(&l.options.filter.ops, "GET PUT DELETE");
    assert_list(&l.options.history, "a,b c");
    assert_int_equal(l.args.n_operands, 1);
    end(&l);
}

static void test_operand_lists(void **state)
{
    (void)state;
    char words[] = "x --before a b - --after=c d -v y --before e -- z";
    struct line l = parse_good(words);
    assert_list(&l.options.before, "a b - e");
    assert_list(&l.options.after, "c d");
    struct cli_list operands = {l.args.operands, l.args.n_operands};
    assert_list(&operands, "x y z");
    end(&l);
}

static void test_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *words, *message;
    } cases[] = {
        {"--jsn", "unknown option --jsn: did you mean --json?"},
        {"--analyse.dur=1s", "unknown option --analyse.dur: did you mean --analyze.dur?"},
        {"--hlep", "unknown option --hlep: did you mean --help?"},
        {"--completely-else", "unknown option --completely-else"},
        {"-analyse.dur=1s", "unknown option -analyse.dur: did you mean --analyze.dur?"},
        {"--analyze.durx", "unknown option --analyze.durx: did you mean --analyze.dur?"},
        {"--keysecret", "unknown option --key..."},
        {"--v", "unknown option --v: did you mean --analyze.v?"},
        {"-hxyz=1.2.3.4", "unknown option -h..."},
        {"-secretkey=value", "unknown option -s..."},
        {"-vx", "unknown option -x"},
        {"--out", "option --out needs a value: FILE"},
        {"-n", "option -n needs a value: N"},
        {"--dur soon", "option --dur: 'soon': expected a duration such as 500ms, 10s or 1m30s"},
        {"--dur 10", "option --dur: '10': expected a unit: 10ms, 10s, 10m, 10h or 10d"},
        {"--analyze.dur=0", "option --analyze.dur: '0': expected at least 1ns"},
        {"--size=1", "option --size: '1': expected 1KiB to 1MiB"},
        {"--count 101", "option --count: '101': expected 1 to 100"},
        {"-n0", "option -n: '0': expected 1 to 100"},
        {"--ratio 1.5", "option --ratio: '1.5': expected -1 to 1"},
        {"--format xml", "option --format: 'xml': expected one of text, json, csv"},
        {"--json=maybe", "option --json: 'maybe': expected true or false"},
        {"--custom six", "option --custom: 'six': expected seven"},
        {"--op GET,,PUT", "option --op: 'GET,,PUT': expected names with a comma between"},
        {"--op=", "option --op: '': expected names with a comma between"},
        {"--help=nothing", "no help on 'nothing': --help alone names the topics"},
        {"--help nothing", "no help on 'nothing': --help alone names the topics"},
        {"a b c d", "unexpected operand 'd': test takes FILE..."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[128];
        snprintf(words, sizeof words, "%s", cases[i].words);
        struct line l = parse(words);
        assert_string_equal(l.ok ? cases[i].words : l.e.msg, cases[i].message);
        end(&l);
    }
}

static void test_missing_operand(void **state)
{
    (void)state;
    struct cli_command strict = command;
    strict.min_operands = 2;
    char *argv[] = {"test", "a"};
    struct cli_args args;
    struct options o = defaults;
    struct err e = {0};
    assert_false(cli_parse(&strict, 2, argv, &args, &o, &e));
    assert_string_equal(e.msg, "missing operand: FILE...");
    cli_args_free(&args);
    strict.min_operands = strict.max_operands = 0;
    strict.operands = NULL;
    err_clear(&e);
    assert_false(cli_parse(&strict, 2, argv, &args, &o, &e));
    assert_string_equal(e.msg, "test takes only options; to name a server use --host");
    cli_args_free(&args);
}

static void test_help_topic(void **state)
{
    (void)state;
    static const struct {
        const char *words, *topic;
    } cases[] = {
        {"--help", ""},
        {"-h", ""},
        {"-vh --none x y z too many", ""},
        {"--help filters", "filters"},
        {"--help=all", "all"},
        {"-h filters", "filters"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[128];
        snprintf(words, sizeof words, "%s", cases[i].words);
        struct line l = parse_good(words);
        assert_string_equal(l.args.help_topic, cases[i].topic);
        end(&l);
    }
}

/* Returns the page that --help prints, for the caller to free. */
static char *help_page(const char *topic)
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    cli_help_command(f, "prog", &command, topic);
    fclose(f);
    return text;
}

static void test_help(void **state)
{
    (void)state;
    char *text = help_page("");
    assert_non_null(strstr(text, "Usage: prog test [OPTION...] FILE...\n"));
    assert_non_null(strstr(text, "  --dur DUR                   length of a segment [10s]\n"));
    assert_non_null(strstr(text, "  -v, --analyze.v, --verbose  say more\n"));
    assert_non_null(strstr(text, "what to write: text, json, csv [json]\n"));
    assert_non_null(strstr(text, "More: --help TOPIC (filters, all)\n"));
    assert_null(strstr(text, "--op "));
    free(text);
    text = help_page("filters");
    assert_non_null(strstr(text, "--op OP,..."));
    assert_null(strstr(text, "--json"));
    free(text);
    text = help_page("all");
    assert_non_null(strstr(text, "--op OP,..."));
    assert_non_null(strstr(text, "--json"));
    assert_non_null(strstr(text, "\nOne paragraph.\n\n.Another, with a\\backslash.\n"));
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n') + 1;
        assert_in_range(next - line, 1, 81);
    }
    free(text);
}

/* Returns a man page of the program or, if c is not NULL, of that command; for the caller to
 * free. */
static char *man_page(const struct cli_program *p, const struct cli_command *c)
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    cli_man_write(f, p, c);
    fclose(f);
    return text;
}

static void test_man(void **state)
{
    (void)state;
    char *text = man_page(&program, &command);
    assert_non_null(strstr(text, ".TH \"PROG\\-TEST\" 1"));
    assert_non_null(strstr(text, "prog\\-test \\- test the command line\n"));
    assert_non_null(strstr(text, "\n\\&.Another, with a\\ebackslash.\n"));
    assert_non_null(strstr(text, "\\fB\\-o\\fR, \\fB\\-\\-analyze.out\\fR, \\fB\\-\\-out\\fR "
                                 "\\fIFILE\\fR\n"));
    assert_non_null(strstr(text, "it's \\-special\\-\n"));
    free(text);
}

/* Groups with the same title share one heading. */
static void test_groups_go_on(void **state)
{
    (void)state;
    char *pages[] = {help_page("filters"), man_page(&program, &command)};
    static const char *const headings[] = {"\nFilters:\n", ".SS Filters\n"};
    for (size_t i = 0; i < 2; i++) {
        const char *heading = strstr(pages[i], headings[i]);
        assert_non_null(heading);
        assert_null(strstr(heading + 1, headings[i]));
        assert_non_null(strstr(heading, "only this host"));
        assert_non_null(strstr(heading, "only this client"));
        free(pages[i]);
    }
}

static void test_exit_status(void **state)
{
    (void)state;
    static const struct cli_exit of_all[] = {{"9", "of all"}, {0}}, of_one[] = {{"3", "-one"}, {0}};
    struct cli_command other = command;
    other.exits = of_one;
    const struct cli_command *const all[] = {&command, &other, &other, NULL};
    struct cli_program p = program;
    p.commands = all;
    p.exits = of_all;
    const struct {
        const struct cli_program *program;
        const struct cli_command *command;
        const char *expected;
    } cases[] = {
        {&program, &command, "done\n.TP\n1\nfailed\n.TP\n2\nwrong usage\n.SH"},
        {&p, &command, "wrong usage\n.TP\n9\nof all\n.SH"},
        {&p, &other, "wrong usage\n.TP\n9\nof all\n.TP\n3\n\\-one\n.SH"},
        {&p, NULL, "wrong usage\n.TP\n9\nof all\n.TP\n3\n\\-one\n.SH"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = man_page(cases[i].program, cases[i].command);
        assert_non_null(strstr(text, cases[i].expected));
        free(text);
    }
}

static void test_completion(void **state)
{
    (void)state;
    static const char *const shells[] = {"bash", "zsh", "fish"};
    static const char *const choice[] = {" --format') words='text json csv'",
                                         "'--format=[what to write]:NAME:(text json csv)'",
                                         "-l format -x -a 'text json csv'"};
    for (size_t i = 0; i < 3; i++) {
        char *text;
        size_t n;
        FILE *f = open_memstream(&text, &n);
        assert_non_null(f);
        assert_true(cli_completion_write(f, shells[i], &program));
        fclose(f);
        assert_non_null(strstr(text, choice[i]));
        free(text);
    }
    assert_false(cli_completion_write(stderr, "tcsh", &program));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),       cmocka_unit_test(test_letters),
        cmocka_unit_test(test_flags),       cmocka_unit_test(test_values),
        cmocka_unit_test(test_lists),       cmocka_unit_test(test_operand_lists),
        cmocka_unit_test(test_wrong),       cmocka_unit_test(test_missing_operand),
        cmocka_unit_test(test_help_topic),  cmocka_unit_test(test_help),
        cmocka_unit_test(test_man),         cmocka_unit_test(test_groups_go_on),
        cmocka_unit_test(test_exit_status), cmocka_unit_test(test_completion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
