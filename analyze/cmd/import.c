#include "analyze/capture/import/import.h"

#include "analyze/analysis/run/load.h"
#include "analyze/capture/stream/capture_out.h"
#include "analyze/cmd/commands.h"
#include "analyze/cmd/options.h"
#include "analyze/write/outfile.h"
#include "libcommon/rfc3339.h"
#include "libcommon/units.h"
#include "libcommon/visible.h"

#include <string.h>

#define WRITE_THREADS 2

struct import_given {
    struct capture_out_options output;
    const char *op, *host;
    int64_t start_ns;
    struct load_input input;
};

static bool parse_start(const char *text, void *field, struct err *e)
{
    return rfc3339_parse(text, strlen(text), field) ||
           err_set(e, "expected a time such as 2026-11-21T05:41:32Z");
}

static const struct cli_option facts_table[] = {
    {"op", CLI_STRING, offsetof(struct import_given, op), "OP",
     .help = "the operation, which hey and ab do not record"},
    {"host", CLI_STRING, offsetof(struct import_given, host), "HOST",
     .help = "the server, which hey and ab do not record"},
    {"start", CLI_CUSTOM, offsetof(struct import_given, start_ns), "TIME",
     .help = "when a run of hey began; else its times are of 1970", .parse = parse_start},
    {0},
};

static const struct cli_group groups[] = {
    {"Reading", NULL, load_input_table, offsetof(struct import_given, input)},
    {"Output", NULL, capture_out_table, offsetof(struct import_given, output)},
    {"What a recording lacks", NULL, facts_table, 0},
    {0},
};

static const struct cli_example examples[] = {
    {"s3analyze import hey hey.csv -o hey.csv.zst", "what `hey -o csv` wrote"},
    {"s3analyze import ab ab.tsv -o ab.csv.zst", "what `ab -g ab.tsv` wrote"},
    {"s3analyze import mc-trace trace.json -o day.csv.zst", "what `mc admin trace --json` printed"},
    {"s3analyze import s3-log logs/* -o day.csv.zst", "server access logs of AWS"},
    {0},
};

static const struct import_given defaults = {
    .op = "GET", .host = "", .input = {.say_dropped = options_say_dropped}};

/* Reports what was imported, and what is not known. */
static void report(const struct import_result *r, const char *path)
{
    FILE *f = outfile_is_stdout(path) ? stderr : stdout;

    visible_line(f, "%s: %s on %s", path, units_counted((int64_t)r->n_rows, "request").s,
                 units_counted((int64_t)r->n_threads, "thread").s);
    visible_line(f, "The recording lacks: %s.", r->absent);
    visible_line(f, "Threads are as few as the times allow.");
    for (size_t i = 0; i < N_IMPORT_LEFT; i++)
        if (r->n_left_out_as[i] > 0)
            visible_line(f, "Left out: %s %s.",
                         units_counted((int64_t)r->n_left_out_as[i], "call").s,
                         import_left_names[i]);
    if (*r->ended_by != '\0')
        visible_line(f, "An error ended the recording: %s.", r->ended_by);
    else if (r->is_cut)
        visible_line(f, "hey keeps the first 1,000,000 requests only: there may have been more.");
}

static bool import(const struct import_given *o, const struct cli_args *args,
                   enum import_format format, struct err *e)
{
    struct import_result result;
    struct progress progress;
    struct capture_out out;
    const struct import_options how = {.format = format,
                                       .op = o->op,
                                       .host = o->host,
                                       .start_ns = o->start_ns,
                                       .salvage = o->input.salvage,
                                       .progress = &progress};

    if (!capture_out_open(&out, &o->output, e))
        return false;
    progress_init(&progress, o->input.quiet);
    bool ok =
        capture_out_start(&out, false, WRITE_THREADS, e) &&
        import_recordings(args->operands + 1, args->n_operands - 1, &how, out.writer, &result, e);
    progress_fini(&progress);
    ok = capture_out_finish(&out, ok, e);
    if (ok) {
        load_say_dropped(&o->input, &result.skipped);
        report(&result, o->output.path);
    }
    return ok;
}

/* Checks that no option gives what the recording contains. */
static bool check_facts(const struct cli_args *args, enum import_format format, struct err *e)
{
    bool is_client = format == IMPORT_HEY || format == IMPORT_AB;

    if (!is_client && (cli_given(args, "op") || cli_given(args, "host")))
        return err_set(e, "--op and --host are for hey and ab: %s records both",
                       import_format_names[format]);
    return format == IMPORT_HEY || !cli_given(args, "start") ||
           err_set(e, "--start is for hey: %s records the time", import_format_names[format]);
}

static int run(const struct cli_args *args, void *options)
{
    const struct import_given *o = options;
    struct err e = {0};
    int format = cli_choice(import_format_names, args->operands[0]);

    if (format < 0)
        return cli_wrong_usage(args, "name the format first: hey, ab, mc-trace or s3-log");
    if (args->n_operands < 2)
        return cli_wrong_usage(args, "no file of %s is given", args->operands[0]);
    if (o->output.path == NULL)
        return cli_wrong_usage(args, "-o FILE is missing: where is the capture to go?");
    if (*o->op == '\0')
        return cli_wrong_usage(args, "--op is empty");
    if (!check_facts(args, (enum import_format)format, &e) ||
        !outfile_spares(o->output.path, args->operands + 1, args->n_operands - 1, &e))
        return cli_wrong_usage(args, "%s", e.msg);
    return import(o, args, (enum import_format)format, &e) ? EXIT_DONE : cli_failed(args, &e);
}

const struct cli_command cmd_import = {
    .name = "import",
    .summary = "make a capture of what hey, ab, mc or AWS recorded",
    .text =
        "Reads what `hey -o csv`, `ab -g` or `mc admin trace --json` wrote, or server access logs "
        "of AWS (s3-log). Several files of mc-trace and s3-log are read as one.\n\n"
        "The capture's comments say what the recording lacks, and every command allows for it: "
        "segments are no shorter than the resolution of starts, autoterm refuses, and durations "
        "are shown with their resolution (docs/other-tools.md). Threads are as few as the times "
        "allow.\n\n"
        "Damaged input is an error that names the line; --salvage skips and counts such lines. "
        "Rows that wait to be sorted take up to 64 "
        "MiB of memory, then a temporary file in TMPDIR (default /var/tmp).",
    COMMANDS_TAKE("hey|ab|mc-trace|s3-log FILE...", 1, CLI_ANY_NUMBER, struct import_given),
};
