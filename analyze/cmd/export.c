#include "analyze/tools/export/export.h"
#include "analyze/analysis/run/analysis.h"

#include "analyze/cmd/commands.h"
#include "analyze/cmd/options.h"
#include "analyze/cmd/output.h"
#include "analyze/render/report/figures.h"
#include "analyze/write/outfile.h"

enum export_format { EXPORT_BENCHFMT, EXPORT_INFLUX, EXPORT_OPENMETRICS, EXPORT_HDR };
static const char *const format_names[] = {"benchfmt", "influx", "openmetrics", "hdr", NULL};

struct export_given {
    int format;
    struct output_options output; /* path and force */
    struct load_filter filter;
    struct load_analysis analysis;
    struct load_input input;
};

static const struct cli_option own_table[] = {
    {"format", CLI_CHOICE, offsetof(struct export_given, format), "FORMAT",
     .help = "the format to write", .choices = format_names},
    {0},
};

static const struct cli_group groups[] = {
    {"Output", NULL, own_table, 0},
    {"Output", NULL, output_file_table, offsetof(struct export_given, output)},
    {"Which requests", "filters", load_filter_table, offsetof(struct export_given, filter)},
    {"Analysis", "filters", load_analysis_table, offsetof(struct export_given, analysis)},
    {"Reading", "filters", load_input_table, offsetof(struct export_given, input)},
    {"Reading", "filters", load_threads_table, offsetof(struct export_given, input)},
    {0},
};

static const struct cli_example examples[] = {
    {"s3analyze export --format benchfmt old/*.zst -o old.txt", "then: benchstat old.txt new.txt"},
    {"s3analyze export --format openmetrics run.csv.zst", "for Prometheus"},
    {"s3analyze export --format hdr -o run.hlog run.csv.zst", "for tools of HdrHistogram"},
    {0},
};

static const struct export_given defaults = {.input = {.say_dropped = options_say_dropped},
                                             .output = {.path = "-"}};

/* is_first: the file is empty so far. */
static bool write_run(const struct export_given *o, const char *path, bool is_first, FILE *f,
                      struct err *e)
{
    struct dataset d = {0};
    struct analysis a = {0};
    bool ok = load_dataset(&d, &path, 1, &o->filter, &o->input, e);

    if (ok && o->format == EXPORT_INFLUX) {
        ok = influx_write(&d, figures_file(path), f, e);
    } else if (ok) {
        ok = load_run_analysis(&a, &d, &o->filter, &o->analysis, &o->input, false, e);
        if (ok && o->format == EXPORT_BENCHFMT && is_first)
            benchfmt_begin(f);
        if (ok && o->format == EXPORT_BENCHFMT)
            benchfmt_write(&a, f);
        else if (ok && o->format == EXPORT_OPENMETRICS)
            ok = openmetrics_write(&a, f, e);
        else
            ok = ok && hdr_write(&a, f, e);
    }
    analysis_free(&a);
    dataset_free(&d);
    return ok;
}

static bool write_all(const struct export_given *o, const struct cli_args *args, FILE *f,
                      struct err *e)
{
    for (size_t i = 0; i < args->n_operands; i++)
        if (!write_run(o, args->operands[i], i == 0, f, e))
            return false;
    return true;
}

/* ---- The command ---- */

static bool export(const struct export_given *o, const struct cli_args *args, struct err *e)
{
    struct outfile out;

    if (!output_can_write(&o->output, e) || !options_have_rows(args, e) ||
        !outfile_open(&out, o->output.path, output_replaces(&o->output), e))
        return false;
    bool ok = write_all(o, args, out.f, e);
    return outfile_finish(&out, ok, e);
}

static int run(const struct cli_args *args, void *options)
{
    const struct export_given *o = options;
    struct err e = {0};

    if (args->n_operands > 1 && o->format != EXPORT_BENCHFMT)
        return cli_wrong_usage(args,
                               "--format %s takes one capture: s3analyze merge puts those of "
                               "one run together",
                               format_names[o->format]);
    if (!load_check_times(&o->filter, &e) ||
        !output_spares(&o->output, args->operands, args->n_operands, &e))
        return cli_wrong_usage(args, "%s", e.msg);
    return export(o, args, &e) ? EXIT_DONE : cli_failed(args, &e);
}

const struct cli_command cmd_export = {
    .name = "export",
    .summary = "write figures for other tools",
    .text = "benchfmt: lines of Go benchmarks for benchstat, one for each operation and capture. "
            "influx: line protocol with the measurements and fields of warp. "
            "openmetrics: text for Prometheus. hdr: a log of HdrHistogram with the durations of "
            "each operation and segment.\n\n"
            "docs/other-tools.md has the fields of each. benchfmt takes several captures, each a "
            "run of its own; the others take one.",
    COMMANDS_ON_CAPTURES(struct export_given),
};
