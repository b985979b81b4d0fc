#include "analyze/analysis/run/stopping.h"
#include "analyze/cmd/commands.h"
#include "analyze/cmd/options.h"
#include "analyze/cmd/output.h"
#include "analyze/render/report/run.h"
#include "analyze/write/outfile.h"

struct autoterm_given {
    struct load_filter filter;
    struct load_input input;
    struct load_autoterm autoterm;
    struct output_options output;
};

static const struct cli_group groups[] = {
    {"Replay", NULL, load_autoterm_table, offsetof(struct autoterm_given, autoterm)},
    {"Output", NULL, output_form_table, offsetof(struct autoterm_given, output)},
    {"Output", NULL, output_file_table, offsetof(struct autoterm_given, output)},
    {"Which requests", NULL, load_filter_table, offsetof(struct autoterm_given, filter)},
    {"Reading", NULL, load_together_table, offsetof(struct autoterm_given, input)},
    {"Reading", NULL, load_input_table, offsetof(struct autoterm_given, input)},
    {"Reading", NULL, load_threads_table, offsetof(struct autoterm_given, input)},
    {0},
};

static const struct cli_example examples[] = {
    {"s3analyze autoterm --autoterm.dur 4s --autoterm.pct 12 run.csv.zst",
     "when these settings would have stopped it"},
    {0},
};

static const struct autoterm_given defaults = {.input = {.say_dropped = options_say_dropped},
                                               .autoterm = LOAD_AUTOTERM_DEFAULTS,
                                               .output = {.path = "-"}};

static bool write_report(const struct stopping *s, const struct autoterm_given *o, struct err *e)
{
    struct outfile out;
    if (!outfile_open(&out, o->output.path, output_replaces(&o->output), e))
        return false;
    bool ok = o->output.json
                  ? stopping_report_json(s, out.f, e)
                  : stopping_report_text(s, output_form(&o->output, out.f).colour, out.f, e);
    return outfile_finish(&out, ok, e);
}

/* Refuses imports: the rule needs segments of any length, and all threads. */
static bool refuse_imports(const struct dataset *d, struct err *e)
{
    return !dataset_is_imported(d) ||
           err_set(e, "%s: imported from %s: starts are not known well enough to replay autoterm",
                   d->inputs[0].path, d->inputs[0].recorded.imports.from);
}

static int run(const struct cli_args *args, void *options)
{
    const struct autoterm_given *o = options;
    struct dataset d = {0};
    struct stopping s = {0};
    struct err e = {0};
    const struct load_analysis as_usual = {0};
    const struct analysis_options how = load_analysis_options(&o->filter, &as_usual, &o->input);

    if (!load_check_times(&o->filter, &e) ||
        !outfile_spares(o->output.path, args->operands, args->n_operands, &e) ||
        !output_fits(&o->output, args, &e))
        return cli_wrong_usage(args, "%s", e.msg);
    bool ok = options_have_rows(args, &e) && output_can_write(&o->output, &e) &&
              load_dataset(&d, args->operands, args->n_operands, &o->filter, &o->input, &e) &&
              load_ran_together(&d, &o->input, &e) && refuse_imports(&d, &e) &&
              stopping_run(&s, &d, &how, o->autoterm.dur_ns, o->autoterm.pct, &e) &&
              write_report(&s, o, &e);
    stopping_free(&s);
    dataset_free(&d);
    return ok ? EXIT_DONE : cli_failed(args, &e);
}

const struct cli_command cmd_autoterm = {
    .name = "autoterm",
    .summary = "say when a run could have been stopped as stable",
    .text = "Replays the rule by which a load generator stops. At each whole second it looks at "
            "about 25 equal parts of the run so far, and whether the last 7 are equally fast. A "
            "steady drift passes that rule; a warning says so.",
    COMMANDS_ON_CAPTURES(struct autoterm_given),
};
