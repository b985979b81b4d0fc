/* s3analyze on captures of any bytes: each command ends with its outputs or with one line that says
 * why not; JSON can be read, HTML holds no markup from the capture, cat keeps every row.
 *
 * Input: a byte of flags, the capture. */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/runner.h"
#include "tests/unit/fingerprint.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a capture is merged with. */
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

/* Runs a command with words as its arguments. True: it succeeded. */
static bool run(const struct cli_command *command, const char *const *words)
{
    enum exit_code status = runner_run(command, words);

    assert(status == EXIT_DONE || (status == EXIT_FAILED && runner_n_said() > 0));
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
        quoted = strchr(line, '"') != NULL; /* then it takes more than counting */
        for (const char *c = line; *c != '\0'; c++)
            n_tabs += *c == '\t';
        if (n_columns == 0)
            n_columns = n_tabs;
        assert(quoted || n_tabs == n_columns);
    }
    free(line);
    fclose(f);
}

static void check_analyze(bool all)
{
    bool ok = RUN(cmd_analyze, "--salvage", "-q", "--threads", "1", "--json", "-o", json.s, "--out",
                  series.s, "--html", page.s, all ? "--all" : "-v", all ? "--dur=1h" : "--no-color",
                  capture.s);

    if (ok) {
        json_t *report = runner_read_json(json.s);
        assert(json_is_integer(json_object_get(report, "n_rows")));
        json_decref(report);
        runner_check_no_markup(page.s);
        check_columns(series.s);
    }
    runner_check_written(page.s, ok);
    unlink(json.s);
    unlink(series.s);
    ok = RUN(cmd_analyze, "--salvage", "-q", "--threads", "1", "-v", "-o", series.s, capture.s);
    runner_check_written(series.s, ok);
}

/* cat writes what was read, and merge what was read and the other capture. */
static void check_copies(void)
{
    const struct recfile_options salvage = {.threads = 1, .salvage = true};
    struct fingerprint in = fingerprint_read(capture.s, salvage), out;
    bool ok = RUN(cmd_cat, "--salvage", "-q", "-o", copy.s, capture.s);

    if (ok) {
        out = fingerprint_read(copy.s, (struct recfile_options){.threads = 1});
        assert(in.ok && out.ok && out.n_rows == in.n_rows);
        /* A second header line renumbers threads. */
        assert(in.info.n_headers > 1 || out.hash == in.hash);
    }
    runner_check_written(copy.s, ok);
    ok = RUN(cmd_merge, "--salvage", "-q", "-f", "--threads", "1", "--json", "-o", copy.s,
             capture.s, other.s);
    if (ok) {
        out = fingerprint_read(copy.s, (struct recfile_options){.threads = 1});
        assert(in.ok && out.ok && out.n_rows == in.n_rows + OTHER_ROWS);
    }
    runner_check_written(copy.s, ok);
}

static void check_json_of(bool ok)
{
    if (ok)
        json_decref(runner_read_json(json.s));
    runner_check_written(json.s, ok);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_input in = {data, n};
    uint64_t flags = fuzz_take(&in, 1);

    set_up();
    runner_write(capture.s, in.p, in.n);
    check_analyze(flags & 1);
    if (flags & 2)
        check_copies();
    if (flags & 4)
        check_json_of(RUN(cmd_info, "--salvage", "-q", "--json", "-o", json.s, capture.s));
    if (flags & 8)
        check_json_of(RUN(cmd_autoterm, "--salvage", "-q", "--json", "--autoterm.dur", "1s", "-o",
                          json.s, capture.s));
    if (flags & 16) {
        bool ok = RUN(cmd_cmp, "--salvage", "-q", "--json", "-v", "--html", page.s, "-o", json.s,
                      capture.s, capture.s);
        if (ok)
            runner_check_no_markup(page.s);
        unlink(page.s);
        check_json_of(ok);
    }
    return 0;
}
