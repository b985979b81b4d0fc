#include "analyze/cmd/commands.h"
#include "analyze/cmd/options.h"
#include "analyze/cmd/output.h"
#include "analyze/cmd/sides.h"
#include "analyze/render/json/documents.h"
#include "analyze/render/page/pages.h"
#include "analyze/render/report/compare.h"
#include "analyze/tools/compare/compare.h"
#include "analyze/write/outfile.h"
#include "libcommon/mem.h"

#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cmp_given {
    struct load_filter filter;
    struct load_analysis analysis;
    struct load_input input;
    struct sides_options sides;
    struct output_options output;
    struct cli_list history, gate;
    double run_cv_pct;
};

static const struct cli_option noise_table[] = {
    {"history", CLI_STRINGS, offsetof(struct cmp_given, history), "GLOB",
     .help = "3 or more earlier runs, which show how much runs vary"},
    {"run-cv", CLI_PCT, offsetof(struct cmp_given, run_cv_pct), "PCT",
     .help = "how much runs vary: standard deviation / mean", .min = 0, .max = 100},
    {0},
};

static const struct cli_option own_table[] = {
    {"gate", CLI_LIST, offsetof(struct cmp_given, gate), "METRIC:PCT,...",
     .help = "exit status 0: no worse, 1: worse, 3: undecided"},
    {0},
};

static const struct cli_group groups[] = {
    {"Runs", NULL, sides_table, offsetof(struct cmp_given, sides)},
    {"Runs", NULL, noise_table, 0},
    {"Output", NULL, output_form_table, offsetof(struct cmp_given, output)},
    {"Output", NULL, output_file_table, offsetof(struct cmp_given, output)},
    {"Output", NULL, output_page_table, offsetof(struct cmp_given, output)},
    {"Output", NULL, output_csv_table, offsetof(struct cmp_given, output)},
    {"Output", NULL, own_table, 0},
    {"Which requests", "filters", load_filter_table, offsetof(struct cmp_given, filter)},
    {"Analysis", "filters", load_analysis_table, offsetof(struct cmp_given, analysis)},
    {"Reading", "filters", load_input_table, offsetof(struct cmp_given, input)},
    {"Reading", "filters", load_threads_table, offsetof(struct cmp_given, input)},
    {0},
};

static const struct cli_example examples[] = {
    {"s3analyze cmp monday.csv.zst tuesday.csv.zst", "two runs"},
    {"s3analyze cmp --before a*.zst --after b*.zst", "two groups of runs: 5 or more are best"},
    {"s3analyze cmp --markdown main/ pr/", "matrices of runs: a comment for a pull request"},
    {"s3analyze cmp --history 'old/*.zst' --gate throughput:5%,p99:10% a.zst b.zst",
     "fail if it got worse"},
    {0},
};

static const struct cli_exit exits[] = {
    {"1, 3", "with --gate also: something is worse than allowed; it is undecided"},
    {0},
};

static const struct cmp_given defaults = {.output = {.path = "-"}};

/* ---- Runs ---- */

/* Adds the runs that a path or pattern names. */
static bool add_pattern(struct sides_runs *runs, const char *pattern, const struct run_options *how,
                        struct err *e)
{
    if (access(pattern, F_OK) == 0 || strcmp(pattern, "-") == 0)
        return sides_runs_add(runs, &pattern, 1, how, e);
    glob_t found;
    int status = glob(pattern, 0, NULL, &found);
    if (status != 0)
        return err_set(e, status == GLOB_NOSPACE ? "out of memory" : "%s: no such file", pattern);
    bool ok = sides_runs_add(runs, (const char *const *)found.gl_pathv, found.gl_pathc, how, e);
    globfree(&found);
    return ok;
}

/* Calls sides_basis for the files that a pattern matches, or for a file of that name. */
static enum run_basis pattern_basis(enum run_basis others, const char *pattern)
{
    glob_t found;
    enum run_basis basis = sides_basis(others, &pattern, 1);

    if (glob(pattern, 0, NULL, &found) != 0)
        return basis;
    basis = sides_basis(basis, (const char *const *)found.gl_pathv, found.gl_pathc);
    globfree(&found);
    return basis;
}

static bool load_all(struct sides *sides, struct sides_runs *history, struct plot_traces *traces,
                     const struct cmp_given *o, struct err *e)
{
    struct run_options how = {.filter = &o->filter,
                              .input = &o->input,
                              .analysis = &o->analysis,
                              .with_parts = o->output.verbose,
                              .with_sum = o->output.json || o->output.html != NULL};
    if (!sides_spool(&o->sides, &how.basis, e))
        return false;
    for (size_t i = 0; i < o->history.n; i++)
        how.basis = pattern_basis(how.basis, o->history.v[i]);
    if (!sides_load(sides, &o->sides, &how, o->output.html != NULL ? traces : NULL, e))
        return false;
    for (size_t i = 0; i < o->history.n; i++)
        if (!add_pattern(history, o->history.v[i], &how, e))
            return false;
    return true;
}

static bool write_report(const struct compare *c, const struct cmp_given *o, struct err *e)
{
    struct outfile out;
    bool ok = true;

    if (!outfile_open(&out, o->output.path, output_replaces(&o->output), e))
        return false;
    const struct sheet_form form = output_form(&o->output, out.f);
    if (o->output.json)
        ok = compare_json(c, out.f, e);
    else if (o->output.csv)
        ok = compare_csv(c, o->output.csv_safe, out.f, e);
    else
        ok = compare_text(c, &form, out.f, e);
    return outfile_finish(&out, ok, e);
}

/* What the page shows. */
struct paged {
    const struct compare *c;
    const struct plot_traces *traces;
};

static bool write_page(const void *ctx, const char *words, const char *command, FILE *f,
                       struct err *e)
{
    const struct paged *of = ctx;

    return compare_html(of->c, of->traces, words, command, f, e);
}

/* ---- The command ---- */

/* Checks that no output overwrites a capture. */
static bool spares_captures(const struct cmp_given *o, struct err *e)
{
    const struct cli_list *lists[] = {&o->sides.before, &o->sides.after, &o->history};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!output_spares(&o->output, lists[i]->v, lists[i]->n, e))
            return false;
    return true;
}

static bool check_usage(const struct cmp_given *o, const struct cli_args *args, struct err *e)
{
    bool has_run_cv = cli_given(args, "run-cv");

    if (!output_check(&o->output, e))
        return false;
    if (!sides_check(&o->sides, args, "BEFORE AFTER", e))
        return false;
    if (!sides_given(&o->sides) && args->n_operands != 2)
        return err_set(
            e,
            "cmp needs two captures or folders, not %zu; several runs a side: --before A... "
            "--after B... (a pattern for --history goes in quotes; --markdown takes no file: -o "
            "FILE)",
            args->n_operands);
    if (!load_check_times(&o->filter, e) || !output_fits(&o->output, args, e))
        return false;
    if (has_run_cv && o->history.n > 0)
        return err_set(e, "choose one of --run-cv and --history");
    if ((o->sides.before.n > 1 || o->sides.after.n > 1) && (has_run_cv || o->history.n > 0))
        return err_set(e, "--run-cv and --history are for a single run a side: several runs show "
                          "their noise themselves");
    return true;
}

static bool compare(const struct cli_args *args, const struct cmp_given *o, struct sides *sides,
                    const struct compare_gate *gates, enum exit_code *code, struct err *e)
{
    struct sides_runs history = {0};
    struct plot_traces traces = {0};
    struct compare c = {0};
    const struct output_page page = {&o->output, &o->filter, &o->analysis, args};
    bool ok = load_all(sides, &history, &traces, o, e);
    const struct compare_options how = {
        .run_cv_frac = cli_given(args, "run-cv") ? o->run_cv_pct / 100 : NAN,
        .history = history.v,
        .n_history = history.n,
        .gates = gates,
        .n_gates = o->gate.n,
    };

    ok = ok && sides_compare(&c, sides, &o->sides, &how, e) && write_report(&c, o, e) &&
         output_page(&page, write_page, &(struct paged){&c, &traces}, e);
    *code = c.has_gate ? c.gate : EXIT_DONE;
    compare_free(&c);
    sides_runs_free(&history);
    plot_traces_free(&traces);
    return ok;
}

static int run(const struct cli_args *args, void *options)
{
    struct cmp_given *o = options;
    struct err e = {0};
    enum exit_code code = EXIT_FAILED;
    struct sides sides = {0};
    struct compare_gate *gates;

    if (!mem_cleared(&gates, o->gate.n, &e))
        return cli_failed(args, &e);
    bool right = check_usage(o, args, &e);
    if (right && !sides_given(&o->sides)) {
        o->sides.before = (struct cli_list){&args->operands[0], 1};
        o->sides.after = (struct cli_list){&args->operands[1], 1};
    }
    if (!right || !sides_find(&sides, &o->sides, &e) || !spares_captures(o, &e) ||
        !compare_parse_gates(&o->gate, gates, &e)) {
        free(gates);
        sides_free(&sides);
        return cli_wrong_usage(args, "%s", e.msg);
    }
    bool ok = output_can_write(&o->output, &e) && compare(args, o, &sides, gates, &code, &e);
    free(gates);
    sides_free(&sides);
    return ok ? (int)code : cli_failed(args, &e);
}

const struct cli_command cmd_cmp = {
    .name = "cmp",
    .summary = "say what differs between runs, and whether it is noise",
    .text =
        "Compares two runs, or two groups of runs, per operation: throughput, latency and errors, "
        "with confidence intervals.\n\n"
        "One run a side is not enough: cmp cannot tell noise from change. Compare several runs a "
        "side, or give --history (at least three earlier runs of one configuration) or --run-cv. "
        "Without these, no difference of single runs is called a change. The answer is then the "
        "break-even run CV: if runs vary by less, the difference is real. Several runs a side are "
        "compared by Welch's t tests of the logs of their figures, Holm-adjusted over throughput, "
        "p50 and p99 of all operations.\n\n"
        "Runs with several settings are compared cell by cell; a cell is an operation with its "
        "settings. The captures of a side may be in a folder. One sentence is about all cells, "
        "then each has a row, the worst first. -v adds all figures, --cell chooses cells.\n\n"
        "--gate METRIC:PCT allows that much worsening of " METRIC_GATES " (percentage points). The "
        "exit status is 0 if all are shown to be within their limits, 1 if one is shown to be "
        "worse, 3 if the runs do not decide it. An upload that prepared another operation, and a "
        "clean-up, are not judged unless --op names them.\n\n"
        "CSV holds names as they were recorded. With --csv-safe, an apostrophe begins each cell "
        "that a spreadsheet would take for a formula (= + - @, tab, carriage return).",
    COMMANDS_TAKE("BEFORE AFTER", 0, CLI_ANY_NUMBER, struct cmp_given),
    .exits = exits,
};
