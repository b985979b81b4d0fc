/* s3analyze on captures with any content: each command ends with its outputs or with one line that
 * says why not. JSON can be parsed, HTML has no markup from the capture, cat keeps every row.
 *
 * Input: a byte with the number of the command and a flag of it, the capture. */
#include "analyze/cmd/commands.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/runner.h"
#include "tests/unit/fingerprint.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The capture to merge with. */
#define OTHER_ROWS 2
static const char other_text[] =
    "idx\tthread\top\tbytes\tendpoint\tfile\terror\tstart\tend\n"
    "0\t0\tGET\t9\thttp://h\tk\t\t2026-11-21T05:41:32Z\t2026-11-21T05:41:33Z\n"
    "1\t0\tGET\t9\thttp://h\tk\t\t2026-11-21T05:41:34Z\t2026-11-21T05:41:35Z\n";

static struct runner_path capture, other, json, series, page, copy;

static void set_up(void)
{
    if (!runner_init())
        return;
    capture = runner_path("in");
    other = runner_path("other");
    json = runner_path("o.json");
    series = runner_path("o.tsv");
    page = runner_path("o.html");
    copy = runner_path("o.zst");
    runner_write(other.s, other_text, sizeof other_text - 1);
}

#define SAME "--salvage", "-q", "--threads=1"

/* Runs a command with words as its arguments. True: it succeeded. */
static bool run(const struct cli_command *command, const char *const *words)
{
    enum exit_code status = runner_run(command, words);

    assert(status == EXIT_DONE ||
           ((status == EXIT_FAILED || status == EXIT_USAGE) && runner_n_said() > 0));
    return status == EXIT_DONE;
}
#define RUN(command, ...) run(&(command), (const char *const[]){__VA_ARGS__, NULL})

/* Each line of the time series has the columns of the first. */
static void check_columns(const char *name)
{
    size_t n = 0, n_columns = 0;
    char *line = NULL;
    FILE *f = fopen(name, "rb");
    bool quoted = false;

    assert(f != NULL);
    while (!quoted && getline(&line, &n, f) > 0) {
        size_t n_tabs = 0;
        quoted = strchr(line, '"') != NULL; /* counting is not enough then */
        for (const char *c = line; *c != '\0'; c++)
            n_tabs += *c == '\t';
        if (n_columns == 0)
            n_columns = n_tabs;
        assert(quoted || n_tabs == n_columns);
    }
    free(line);
    fclose(f);
}

static void check_report(bool all)
{
    bool ok = RUN(cmd_analyze, SAME, "--json", "-o", json.s, "--out", series.s,
                  all ? "--all" : "-v", all ? "--dur=1h" : "--no-color", capture.s);

    if (ok) {
        json_t *report = runner_read_json(json.s);
        assert(json_is_integer(json_object_get(report, "n_rows")));
        json_decref(report);
        check_columns(series.s);
    }
    runner_check_written(json.s, ok);
    unlink(series.s);
}

static void check_page(bool all)
{
    bool ok = RUN(cmd_analyze, SAME, "-o", "/dev/null", "--html", page.s, all ? "--all" : "-v",
                  capture.s);

    if (ok)
        runner_check_no_markup(page.s);
    runner_check_written(page.s, ok);
}

static void check_text(bool all)
{
    bool ok = RUN(cmd_analyze, SAME, all ? "--all" : "-v", "-o", series.s, capture.s);

    runner_check_written(series.s, ok);
}

/* `copy` has the rows that were read, and `n` more. */
static void check_copy(bool ok, uint64_t n)
{
    if (ok) {
        struct fingerprint in =
            fingerprint_read(capture.s, (struct recfile_options){.threads = 1, .salvage = true});
        struct fingerprint out = fingerprint_read(copy.s, (struct recfile_options){.threads = 1});
        assert(in.ok && out.ok && out.n_rows == in.n_rows + n);
        /* A second header line renumbers threads. */
        assert(n > 0 || in.info.n_headers > 1 || out.hash == in.hash);
    }
    runner_check_written(copy.s, ok);
}

static void check_cat(bool level)
{
    check_copy(RUN(cmd_cat, "--salvage", "-q", level ? "--level=1" : "-q", "-o", copy.s, capture.s),
               0);
}

static void check_merge(bool text)
{
    check_copy(RUN(cmd_merge, SAME, "-f", text ? "-q" : "--json", "-o", copy.s, capture.s, other.s),
               OTHER_ROWS);
}

static void check_json_of(bool ok)
{
    if (ok)
        json_decref(runner_read_json(json.s));
    runner_check_written(json.s, ok);
}

static void check_info(bool all)
{
    (void)all;
    check_json_of(RUN(cmd_info, "--salvage", "-q", "--json", "-o", json.s, capture.s));
}

static void check_autoterm(bool all)
{
    (void)all;
    check_json_of(
        RUN(cmd_autoterm, SAME, "--json", "--autoterm.dur", "1s", "-o", json.s, capture.s));
}

static void check_cmp(bool html)
{
    bool ok = RUN(cmd_cmp, SAME, "--json", "-v", "-o", json.s, html ? "--html" : "-q",
                  html ? page.s : "-q", capture.s, capture.s);

    if (ok && html)
        runner_check_no_markup(page.s);
    unlink(page.s);
    check_json_of(ok);
}

static void (*const checks[])(bool) = {check_text, check_cat,      check_merge,  check_info,
                                       check_cmp,  check_autoterm, check_report, check_page};
#define N_CHECKS (sizeof checks / sizeof *checks)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_input in = {data, n};
    unsigned choice = (unsigned)fuzz_take(&in, 1);

    set_up();
    runner_write(capture.s, in.p, in.n);
    for (unsigned c = 0; c < 2 * N_CHECKS; c++)
        if (fuzz_all || c == choice % (2 * N_CHECKS))
            checks[c / 2](c % 2);
    return 0;
}
