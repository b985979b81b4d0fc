#include "analyze/analysis/run/analysis.h"
#include "analyze/cmd/commands.h"
#include "analyze/cmd/loaded.h"
#include "analyze/cmd/options.h"
#include "analyze/cmd/output.h"
#include "analyze/read/aggpipe.h"
#include "analyze/render/json/documents.h"
#include "analyze/render/page/pages.h"
#include "analyze/render/report/archive.h"
#include "analyze/render/report/run.h"
#include "analyze/tools/profile/run.h"
#include "analyze/tools/slo/slo.h"
#include "analyze/write/outfile.h"
#include "analyze/write/sheet.h"

struct analyze_given {
    struct load_filter filter;
    struct load_analysis analysis;
    struct load_input input;
    struct output_options output;
    const char *label; /* title of the page; NULL: the captures' names */
    bool series_total, series_all;
    int exit_on; /* index into exit_on_names */
    struct cli_list slo;
};

/* The assertions, and the answers of a run. */
struct asserted {
    struct slo_list list;
    struct slo_report report;
};

/* Severities in the order of enum finding_severity; the first entry means never. */
static const char *const exit_on_names[] = {"never", "problem", NULL};

static const struct cli_option own_table[] = {
    {"exit-on", CLI_CHOICE, offsetof(struct analyze_given, exit_on), "WHAT",
     .help = "exit status 1 if there is a finding of that kind", .choices = exit_on_names},
    {"slo", CLI_STRINGS, offsetof(struct analyze_given, slo), "TEXT", .help = SLO_HELP},
    {"label", CLI_STRING, offsetof(struct analyze_given, label), "TEXT",
     .help = "the title of the page"},
    {"analyze.out", CLI_CUSTOM, offsetof(struct analyze_given, output.series), "FILE",
     .help = "write figures over time; .csv, .json and .ndjson choose the format, else tabs",
     .alias = "out", .parse = output_parse_path},
    {"csv-safe", CLI_FLAG, offsetof(struct analyze_given, output.csv_safe),
     .help = "begin cells that look like formulas with '"},
    {"analyze.out.total", CLI_FLAG, offsetof(struct analyze_given, series_total),
     .help = "with --out: also the total of a mixed run", .alias = "out.total"},
    {"analyze.all", CLI_FLAG, offsetof(struct analyze_given, series_all),
     .help = "with --out: from first start to last end", .alias = "all"},
    {0},
};

static const struct cli_group groups[] = {
    {"Output", NULL, output_form_table, offsetof(struct analyze_given, output)},
    {"Output", NULL, output_file_table, offsetof(struct analyze_given, output)},
    {"Output", NULL, output_page_table, offsetof(struct analyze_given, output)},
    {"Output", NULL, own_table, 0},
    {"Which requests", "filters", load_filter_table, offsetof(struct analyze_given, filter)},
    {"Analysis", "filters", load_analysis_table, offsetof(struct analyze_given, analysis)},
    {"Reading", NULL, load_together_table, offsetof(struct analyze_given, input)},
    {"Reading", "filters", load_input_table, offsetof(struct analyze_given, input)},
    {"Reading", "filters", load_threads_table, offsetof(struct analyze_given, input)},
    {0},
};

static const struct cli_example examples[] = {
    {"s3analyze analyze run.csv.zst", "what the run reached"},
    {"s3analyze analyze --html report.html run.csv.zst", "a page to send around"},
    {"s3analyze analyze --slo 'p99<50ms, errors<0.1%' run.csv.zst", "was the limit met?"},
    {0},
};

static const struct analyze_given defaults = {.output = {.path = "-"}};

/* Checks that no output overwrites what is read: captures, limits, or profiles for the page. */
static bool spares_inputs(const struct analyze_given *o, const struct cli_args *args, struct err *e)
{
    const struct output_options *out = &o->output;
    char *profiles = out->html != NULL && args->n_operands == 1
                         ? profile_beside(args->operands[0], ".csv.zst", ".profiles.zip")
                         : NULL;
    bool ok = output_spares(out, args->operands, args->n_operands, e) &&
              output_spares_slo(out, &o->slo, e) &&
              output_spares(out, (const char *const *)&profiles, profiles != NULL, e);

    free(profiles);
    return ok;
}

static bool write_report(const struct analysis *a, const struct analyze_given *o, struct err *e)
{
    struct outfile out;

    if (!outfile_open(&out, o->output.path, output_replaces(&o->output), e))
        return false;
    const struct sheet_form how = output_form(&o->output, out.f);
    bool ok = o->output.json ? report_json(a, out.f, e) : report_text(a, &how, out.f, e);
    return outfile_finish(&out, ok, e);
}

static bool write_series(const struct analysis *a, const struct analyze_given *o, struct err *e)
{
    struct outfile out;

    if (o->output.series == NULL)
        return true;
    enum report_csv_format format = report_csv_format(o->output.series);
    return outfile_open(&out, o->output.series, output_replaces_series(&o->output), e) &&
           outfile_finish(&out,
                          report_csv(a, format, o->series_total, o->output.csv_safe, out.f, e), e);
}

/* What the page shows, and its title. */
struct paged {
    const struct analysis *a;
    const char *label;
};

static bool write_page(const void *ctx, const char *words, const char *command, FILE *f,
                       struct err *e)
{
    const struct paged *of = ctx;

    return report_html(of->a, of->label, words, command, f, e);
}

/* Answers the assertions, then writes all that was asked for. */
static bool write_all(struct analysis *a, const struct analyze_given *o, struct asserted *asserted,
                      const struct cli_args *args, struct err *e)
{
    bool estimate = o->output.series != NULL && !o->output.force;
    const struct output_page page = {&o->output, &o->filter, &o->analysis, args};

    if (!slo_report_make(&asserted->report, a, &asserted->list, e))
        return false;
    a->slo = asserted->list.n > 0 ? &asserted->report : NULL;
    return (!estimate || report_csv_fits(a, o->series_total, e)) && write_report(a, o, e) &&
           write_series(a, o, e) && output_page(&page, write_page, &(struct paged){a, o->label}, e);
}

/* ---- Runs that were not together ---- */

/* Lists the runs as `table` does, instead of the report. */
static void show_runs(const struct analyze_given *o, const struct cli_args *args)
{
    const struct sheet_form form = {.colour = output_form(&o->output, stdout).colour};
    const struct run_options how = {
        .filter = &o->filter, .input = &o->input, .analysis = &o->analysis};
    struct archive_paths paths = {0};
    struct archive a = {0};
    struct columns_table table = {.archive = &a};
    struct sheet s = {.brief = true};
    struct err unsaid = {0};

    if (o->output.json || !outfile_is_stdout(o->output.path) ||
        (o->output.series && outfile_is_stdout(o->output.series)) ||
        (o->output.html && outfile_is_stdout(o->output.html)))
        return;
    bool ok = archive_find(&paths, args->operands, args->n_operands, &unsaid);
    /* Treat captures as those of a folder: one without a request left is named below the table. */
    paths.n_operands = 0;
    if (ok && archive_load(&a, &paths, &how, false, &unsaid) &&
        columns_select(&table, NULL, 0, (struct columns_order){0}, &unsaid)) {
        archive_sheet_table(&s, &table);
        sheet_end(&s, &form, stdout, &unsaid);
    }
    free(table.rows);
    archive_free(&a);
    archive_free_paths(&paths);
}

/* ---- The command ---- */

/* Analyses captures. *problem: there is a finding that is a problem. */
static bool analyze(const struct analyze_given *o, struct asserted *asserted,
                    const struct cli_args *args, bool *problem, struct err *e)
{
    const struct output_options *out = &o->output;
    struct load_analysis how = o->analysis;
    struct loaded l = {0};

    if (!out->verbose && !out->markdown && !out->json && out->html == NULL)
        how.depth = ANALYSIS_BRIEF;
    if (!output_can_write(&o->output, e) || !aggpipe_spool(args->operands, args->n_operands, e))
        return false;
    bool has_rows = !loaded_lacks_rows(args);
    bool ok =
        has_rows
            ? load_dataset(&l.d, args->operands, args->n_operands, &o->filter, &o->input, e)
            : loaded_without_rows(&l, args, &o->filter, &o->analysis, &o->input, o->series_all, e);
    if (ok && has_rows && !load_ran_together(&l.d, &o->input, e)) {
        loaded_free(&l);
        show_runs(o, args);
        return false;
    }
    ok = ok &&
         (!has_rows ||
          load_run_analysis(&l.a, &l.d, &o->filter, &how, &o->input, o->series_all, e)) &&
         write_all(&l.a, o, asserted, args, e);
    *problem = findings_have_problem(&l.a.findings);
    loaded_free(&l);
    return ok;
}

static const struct cli_exit exits[] = {
    {"1, 3", "with --slo also: an assertion is missed; one is undecided"},
    {"1", "with --exit-on problem also: there is a problem"},
    {0},
};

static int run(const struct cli_args *args, void *options)
{
    const struct analyze_given *o = options;
    struct err e = {0};
    struct asserted asserted = {0};
    bool problem = false;
    bool right = output_check(&o->output, &e) && load_check_times(&o->filter, &e) &&
                 spares_inputs(o, args, &e) && output_fits(&o->output, args, &e) &&
                 slo_parse(&asserted.list, &o->slo, &e);
    bool ok = right && analyze(o, &asserted, args, &problem, &e);
    enum slo_verdict verdict = slo_verdict(&asserted.report);

    slo_report_free(&asserted.report);
    slo_free(&asserted.list);
    if (!right)
        return cli_wrong_usage(args, "%s", e.msg);
    if (!ok)
        return cli_failed(args, &e);
    if ((o->exit_on != 0 && problem) || verdict == SLO_MISSED)
        return EXIT_FAILED;
    return verdict == SLO_UNDECIDED ? EXIT_UNDECIDED : EXIT_DONE;
}

const struct cli_command cmd_analyze = {
    .name = "analyze",
    .summary = "say how fast a recorded run was",
    .text =
        "Reads captures of any generation (plain or zstd, - is standard input). Reports "
        "throughput, latency and errors by operation, host, client and size. An aggregated capture "
        "(NAME.json.zst of other recorders) gives the figures that it holds.\n\n"
        "Several captures must be of one run (they overlap in time) and are analysed as one. If "
        "one overlaps with no other, analyze only prints a table of the runs, one line for each "
        "operation, and the exit status is 1. --together takes them for one run all the same.\n\n"
        "Tables hold names as they were recorded. With --csv-safe, an apostrophe begins each cell "
        "that a spreadsheet would take for a formula (= + - @, tab, carriage return).\n\n"
        "While threads start and stop, a store is not under full load. --range says which time "
        "counts. all: from the moment when every thread has ended a request until the first "
        "thread begins its last one. single: from the first request to the last one, less the "
        "requests at either end. full: everything. auto: single if requests failed, operations ran "
        "at once, one host was picked, or requests were sent at a fixed rate; else all.\n\n"
        "A worker that waits for a slow answer sends nothing meanwhile. So a stall counts as one "
        "slow request per thread, whatever its length. --co-interval T adds the requests that the "
        "stall kept from being sent, one every T and thread, to percentiles beside the others. "
        "Runs of s3load with --rate have response times, which need no such estimate.\n\n"
        "A damaged capture is an error that names the line. With --salvage, analyze leaves "
        "damaged rows out and reads on at the next whole frame. The report says how many rows "
        "were dropped and why. Rows of a frame that fails its checksum are kept, and counted "
        "apart.\n\n"
        "--slo 'GET: p99<50ms, errors<0.1%' asserts limits (may be repeated; @FILE names a file "
        "with such a text on each line). Figures are p50, p99.9 and the like (response times, or "
        "durations where none were recorded), ttfb.p99, errors, throughput and rate. The 95 % "
        "interval decides: met, missed, or undecided, which gives exit status 3.",
    COMMANDS_ON_CAPTURES(struct analyze_given),
    .exits = exits,
};
