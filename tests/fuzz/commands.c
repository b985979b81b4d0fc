/* s3analyze on captures of any bytes: each command ends with its outputs or with one line that says
 * why not; JSON can be read, HTML holds no markup from the capture, cat keeps every row.
 *
 * Input: a byte of flags, the capture. */
#include "tests/fuzz/fuzz.h"
#include "tests/unit/fingerprint.h"

#include "analyze/commands.h"

#include <assert.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Where reports of sanitizers go, which would else be lost with standard error. */
void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

/* Begins no element of our pages. */
#define MARKUP "<zq"

/* The capture and what is made of it, in a folder that is removed at the end. */
static char folder[] = "/tmp/s3fuzz-XXXXXX";
static char capture[32], json[32], series[32], page[32], copy[32];
static int real_stderr, said; /* what the commands print goes to the file `said` */

static void remove_folder(void)
{
    unlink(capture);
    rmdir(folder);
}

static void set_up(void)
{
    if (said > 0)
        return;
    assert(mkdtemp(folder) != NULL);
    atexit(remove_folder);
    snprintf(capture, sizeof capture, "%s/in", folder);
    snprintf(json, sizeof json, "%s/o.json", folder);
    snprintf(series, sizeof series, "%s/o.tsv", folder);
    snprintf(page, sizeof page, "%s/o.html", folder);
    snprintf(copy, sizeof copy, "%s/o.zst", folder);
    /* Without gnuplot: charts are no part of this. */
    setenv("PATH", folder, 1);
    real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
    said = memfd_create("said", MFD_CLOEXEC);
    assert(real_stderr >= 0 && said >= 0);
    if (__sanitizer_set_report_fd != NULL)
        __sanitizer_set_report_fd((void *)(intptr_t)real_stderr);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void write_file(const char *name, const void *data, size_t n)
{
    FILE *f = fopen(name, "wb");

    assert(f != NULL && fwrite(data, 1, n, f) == n && fclose(f) == 0);
}

/* At most a message of one line was printed, and one if it failed. */
static void check_said(bool failed)
{
    char text[4096];
    ssize_t n = pread(said, text, sizeof text - 1, 0);

    assert(n >= 0 && (!failed || n > 0));
    text[n] = '\0';
    if (failed) {
        assert(strncmp(text, "fuzz: ", 6) == 0);
        assert(strchr(text, '\n') == text + n - 1);
    }
}

/* Runs a command with words as its arguments. True: it succeeded. */
static bool run(const struct cli_command *command, const char *const *words)
{
    char *argv[32] = {"command"};
    int argc = 1;
    struct cli_args args = {0};
    struct err e = {""};
    void *options = calloc(1, command->options_size);

    assert(options != NULL);
    if (command->defaults != NULL)
        memcpy(options, command->defaults, command->options_size);
    for (; *words != NULL; words++)
        argv[argc++] = (char *)*words;
    bool parsed = cli_parse(command, argc, argv, &args, options, &e);
    assert(parsed);
    args.program = "fuzz";
    assert(ftruncate(said, 0) == 0 && lseek(said, 0, SEEK_SET) == 0);
    fflush(stderr);
    dup2(said, STDERR_FILENO);
    int status = command->run(&args, options);
    fflush(stderr);
    dup2(real_stderr, STDERR_FILENO);
    cli_args_free(&args);
    free(options);
    assert(status == EXIT_DONE || status == EXIT_FAILED);
    check_said(status == EXIT_FAILED);
    return status == EXIT_DONE;
}
#define RUN(command, ...) run(&(command), (const char *const[]){__VA_ARGS__, NULL})

/* The file was written if the command succeeded, and only then. Removes it. */
static void check_written(const char *name, bool ok)
{
    assert(exists(name) == ok);
    if (ok)
        unlink(name);
}

static json_t *read_json(const char *name)
{
    json_error_t error;
    json_t *document = json_load_file(name, JSON_REJECT_DUPLICATES, &error);

    assert(document != NULL);
    return document;
}

static void check_no_markup(const char *name)
{
    size_t n = 0;
    char *text = NULL;
    FILE *f = fopen(name, "rb");

    assert(f != NULL && getdelim(&text, &n, '\0', f) > 0);
    assert(feof(f) && strstr(text, MARKUP) == NULL);
    free(text);
    fclose(f);
}

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
    bool ok =
        RUN(cmd_analyze, "--salvage", "-q", "--threads", "1", "--json", "-o", json, "--out", series,
            "--html", page, all ? "--all" : "-v", all ? "--dur=1h" : "--no-color", capture);

    if (ok) {
        json_t *report = read_json(json);
        assert(json_is_integer(json_object_get(report, "n_rows")));
        json_decref(report);
        check_no_markup(page);
        check_columns(series);
    }
    check_written(page, ok);
    unlink(json);
    unlink(series);
    ok = RUN(cmd_analyze, "--salvage", "-q", "--threads", "1", "-v", "-o", series, capture);
    check_written(series, ok);
}

/* cat writes what was read, and merge of the same file twice has each row twice. */
static void check_copies(void)
{
    const struct recfile_options salvage = {.threads = 1, .salvage = true};
    struct fingerprint in = fingerprint_read(capture, salvage), out;
    bool ok = RUN(cmd_cat, "--salvage", "-q", "-o", copy, capture);

    if (ok) {
        out = fingerprint_read(copy, (struct recfile_options){.threads = 1});
        assert(in.ok && out.ok && out.n_rows == in.n_rows);
        /* A second header line renumbers threads. */
        assert(in.info.n_headers > 1 || out.hash == in.hash);
    }
    check_written(copy, ok);
    ok = RUN(cmd_merge, "--salvage", "-q", "-f", "--threads", "1", "--json", "-o", copy, capture,
             capture);
    if (ok) {
        out = fingerprint_read(copy, (struct recfile_options){.threads = 1});
        assert(out.ok && out.n_rows == 2 * in.n_rows);
    }
    check_written(copy, ok);
}

static void check_json_of(bool ok)
{
    if (ok)
        json_decref(read_json(json));
    check_written(json, ok);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_input in = {data, n};
    uint64_t flags = fuzz_take(&in, 1);

    set_up();
    write_file(capture, in.p, in.n);
    check_analyze(flags & 1);
    if (flags & 2)
        check_copies();
    if (flags & 4)
        check_json_of(RUN(cmd_info, "--salvage", "-q", "--json", "-o", json, capture));
    if (flags & 8)
        check_json_of(RUN(cmd_autoterm, "--salvage", "-q", "--json", "--autoterm.dur", "1s", "-o",
                          json, capture));
    if (flags & 16) {
        bool ok = RUN(cmd_cmp, "--salvage", "-q", "--json", "-v", "--html", page, "-o", json,
                      capture, capture);
        if (ok)
            check_no_markup(page);
        unlink(page);
        check_json_of(ok);
    }
    return 0;
}
