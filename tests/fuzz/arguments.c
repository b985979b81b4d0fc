/* Any values of options that the commands of s3analyze parse themselves (gates, shifts, times,
 * lengths, patterns, names), on good captures: a command ends with its outputs or with one line
 * that says why not.
 *
 * Input: a byte with the number of the command, then a line for each option: a byte with its number
 * and its value. */
#include "analyze/cmd/commands.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/runner.h"

#include "tests/unit/fingerprint.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 12
#define HEADER                                                                                     \
    "idx\tthread\top\tclient_id\tn_objects\tbytes\tendpoint\tfile\terror\tstart\tfirst_byte\t"     \
    "last_byte\tend\tduration_ns\tcat\n"
#define CLOCK(ahead)                                                                               \
    "# s3load/1 {\"event\":\"end\",\"clock\":[{\"endpoint\":\"h\",\"ahead_min_ns\":" ahead         \
    ",\"ahead_max_ns\":" ahead "}]}\n"
#define MAX_ROWS 80

/* The two captures that are compared; each ends with a comment about clocks. */
static struct runner_path a, b, no_rows, report, page, series, copy;
static uint64_t n_rows[2];

/* Requests of three threads to two hosts, four a second. */
static uint64_t write_capture(const char *path, int n, int ms)
{
    static char text[MAX_ROWS * 256];
    size_t at = (size_t)sprintf(text, "%s", HEADER);

    assert(n <= MAX_ROWS);
    for (int i = 0; i < n; i++) {
        int start = i * 250, end = start + ms + i * 37 % 97;
        at += (size_t)sprintf(text + at,
                              "%d\t%d\t%s\tc\t1\t%d\thttp://h%d:1\tk%d\t%s\t2026-11-21T05:41:%02d."
                              "%03dZ\t\t\t2026-11-21T05:41:%02d.%03dZ\t%d000000\t0\n",
                              i, i % 3, i % 4 == 3 ? "PUT" : "GET", 65536 << i % 3, i % 2, i % 7,
                              i % 11 == 10 ? "refused" : "", start / 1000, start % 1000, end / 1000,
                              end % 1000, end - start);
    }
    at += (size_t)sprintf(text + at, "%s", CLOCK("-1000000"));
    runner_write(path, text, at);
    return (uint64_t)n;
}

static void set_up(void)
{
    static const char nothing[] = HEADER CLOCK("2000000");

    if (!runner_init())
        return;
    a = runner_path("a.csv");
    b = runner_path("b.csv");
    no_rows = runner_path("no-rows.csv");
    report = runner_path("report");
    page = runner_path("o.html");
    series = runner_path("o.tsv");
    copy = runner_path("o.csv.zst");
    n_rows[0] = write_capture(a.s, 80, 110);
    n_rows[1] = write_capture(b.s, 50, 180);
    runner_write(no_rows.s, nothing, sizeof nothing - 1);
}

static void check_analyze(enum exit_code status)
{
    bool done = status == EXIT_DONE;

    assert(done || runner_n_said() > 0);
    if (done) {
        json_decref(runner_read_json(report.s));
        runner_check_no_markup(page.s);
    }
    /* With several outputs one could be finished before another fails; here none fails. */
    runner_check_written(report.s, done);
    runner_check_written(series.s, done);
    runner_check_written(page.s, done);
}

static void check_cat(enum exit_code status)
{
    bool done = status == EXIT_DONE;

    assert(done || runner_n_said() > 0);
    if (done) {
        struct fingerprint f = fingerprint_read(copy.s, (struct recfile_options){.threads = 1});
        assert(f.ok && f.n_rows <= n_rows[0]);
    }
    runner_check_written(copy.s, done);
}

/* The exit code is that of the gate, if there is a gate. */
static void check_cmp(enum exit_code status)
{
    bool done = status == EXIT_DONE || status == EXIT_UNDECIDED || runner_n_said() == 0;

    if (done) {
        json_t *document = runner_read_json(report.s);
        const char *gate = json_string_value(json_object_get(document, "gate"));
        enum exit_code expected = gate == NULL || strcmp(gate, "passed") == 0 ? EXIT_DONE
                                  : strcmp(gate, "not passed") == 0           ? EXIT_FAILED
                                                                              : EXIT_UNDECIDED;
        assert(status == expected);
        json_decref(document);
        runner_check_no_markup(page.s);
    }
    runner_check_written(report.s, done);
    runner_check_written(page.s, done);
}

/* No row is lost, and rows are in order of start. */
static void check_merge(enum exit_code status)
{
    bool done = status == EXIT_DONE;

    assert(done || runner_n_said() > 0);
    if (done) {
        struct fingerprint f = fingerprint_read(copy.s, (struct recfile_options){.threads = 1});
        assert(f.ok && f.n_rows == n_rows[0] + n_rows[1]);
    }
    runner_check_written(copy.s, done);
}

static void check_autoterm(enum exit_code status)
{
    bool done = status == EXIT_DONE;

    assert(done || runner_n_said() > 0);
    if (done)
        json_decref(runner_read_json(report.s));
    runner_check_written(report.s, done);
}

#define FILTERS "op", "host", "client", "from", "to"
#define CUTS    "dur", "skip", "range", "steady", "co-interval"

static const struct {
    const struct cli_command *command;
    void (*check)(enum exit_code status);
    const char *fixed[14];
    const char *options[14];
} commands[] = {
    {&cmd_cmp,
     check_cmp,
     {"-q", "--json", "-v", "--threads=1", "-o", report.s, "--html", page.s, a.s, b.s},
     {"gate", "run-cv", "before-name", "after-name", FILTERS, CUTS}},
    {&cmd_merge,
     check_merge,
     {"-q", "--threads=1", "-f", "-o", copy.s, a.s, no_rows.s, b.s},
     {"shift", "level"}},
    {&cmd_analyze,
     check_analyze,
     {"-q", "--json", "-v", "--threads=1", "-o", report.s, "--out", series.s, "--html", page.s,
      a.s},
     {"label", "all", "out.total", FILTERS, CUTS}},
    {&cmd_cat, check_cat, {"-q", "-o", copy.s, a.s}, {"level", FILTERS}},
    {&cmd_autoterm,
     check_autoterm,
     {"-q", "--json", "--threads=1", "-o", report.s, a.s},
     {"autoterm.dur", "autoterm.pct", FILTERS}},
};
#define N_COMMANDS (sizeof commands / sizeof *commands)

/* "--NAME=VALUE" with a name of the command, to be freed. */
static char *take_option(struct fuzz_input *in, const char *const *names)
{
    char *word = NULL;
    size_t n_names = 0;

    while (n_names < 14 && names[n_names] != NULL)
        n_names++;
    const char *name = names[fuzz_take(in, 1) % n_names];
    char *value = fuzz_take_line(in, NULL);
    int n = asprintf(&word, "--%s=%s", name, value);
    assert(n > 0);
    free(value);
    return word;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_input in = {data, n};
    const char *words[14 + MAX_WORDS + 1] = {0};
    char *options[MAX_WORDS];
    size_t n_words = 0, n_options = 0;

    set_up();
    size_t k = (size_t)fuzz_take(&in, 1) % N_COMMANDS;
    for (; commands[k].fixed[n_words] != NULL; n_words++)
        words[n_words] = commands[k].fixed[n_words];
    while (in.n > 0 && n_options < MAX_WORDS) {
        options[n_options] = take_option(&in, commands[k].options);
        words[n_words++] = options[n_options++];
    }
    enum exit_code status = runner_run(commands[k].command, words);
    commands[k].check(status);
    for (size_t i = 0; i < n_options; i++)
        free(options[i]);
    return 0;
}
