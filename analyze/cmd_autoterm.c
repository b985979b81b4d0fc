#include "autoterm.h"
#include "commands.h"
#include "load.h"
#include "outfile.h"
#include "stopping.h"
#include "stopping_report.h"
#include "text.h"

#include <math.h>

struct options {
    struct load_filter filter;
    struct load_input input;
    int64_t dur_ns;
    double pct;
    const char *output;
    bool sweep, json, no_color;
};

static const struct cli_option own_table[] = {
    {.name = "autoterm.dur",
     .type = CLI_DURATION,
     .offset = offsetof(struct options, dur_ns),
     .arg = "DUR",
     .help = "how long it must have been stable",
     .min = 1,
     .max = INFINITY},
    {.name = "autoterm.pct",
     .type = CLI_PCT,
     .offset = offsetof(struct options, pct),
     .arg = "PCT",
     .help = "within how much of the last speed",
     .min = 0,
     .max = INFINITY},
    {.name = "sweep",
     .type = CLI_FLAG,
     .offset = offsetof(struct options, sweep),
     .help = "a table over durations and percentages"},
    {.name = "json",
     .type = CLI_FLAG,
     .offset = offsetof(struct options, json),
     .help = "print JSON"},
    {.name = "output",
     .letter = 'o',
     .type = CLI_STRING,
     .offset = offsetof(struct options, output),
     .arg = "FILE",
     .help = "write it there"},
    {.name = "no-color",
     .alias = "no-colour",
     .type = CLI_FLAG,
     .offset = offsetof(struct options, no_color),
     .help = "no colours"},
    {0},
};

static const struct cli_group groups[] = {
    {"Replay", NULL, own_table, 0},
    {"Which requests", NULL, load_filter_table, offsetof(struct options, filter)},
    {"Reading", NULL, load_input_table, offsetof(struct options, input)},
    {0},
};

static const struct cli_example examples[] = {
    {"s3analyze autoterm --autoterm.dur 4s --autoterm.pct 12 run.csv.zst", "with those settings"},
    {"s3analyze autoterm --sweep run.csv.zst", "which settings would do"},
    {0},
};

static const struct options defaults = {
    .dur_ns = AUTOTERM_DEFAULT_DUR_NS, .pct = AUTOTERM_DEFAULT_PCT, .output = "-"};

static bool write_report(const struct stopping *s, const struct options *o, struct err *e)
{
    struct outfile out;
    if (!outfile_open(&out, o->output, e))
        return false;
    bool ok = o->json ? stopping_report_json(s, out.f, e)
                      : stopping_report_text(s, !o->no_color && text_wants_colour(out.f), out.f, e);
    if (!ok) {
        outfile_discard(&out);
        return false;
    }
    return outfile_close(&out, e);
}

static int run(const struct cli_args *args, void *options)
{
    const struct options *o = options;
    struct dataset d = {0};
    struct stopping s = {0};
    struct err e = {""};
    const struct load_analysis as_usual = {0};
    const struct analysis_options how = load_analysis_options(&o->filter, &as_usual, &o->input);
    bool ok = load_dataset(&d, args->operands, args->n_operands, &o->filter, &o->input, &e) &&
              stopping_run(&s, &d, &how, o->dur_ns, o->pct, o->sweep, &e) &&
              write_report(&s, o, &e);
    stopping_free(&s);
    dataset_free(&d);
    return ok ? EXIT_DONE : cli_failed(args, &e);
}

const struct cli_command cmd_autoterm = {
    .name = "autoterm",
    .summary = "say when a run could have been stopped as stable",
    .text = "Replays the rule that a load generator stops by: at each whole second, whether the "
            "last 7 of about 25 equal parts of the run so far are equally fast. A steady drift "
            "passes that rule; where one is found, a warning says so.",
    .operands = "CAPTURE...",
    .min_operands = 1,
    .max_operands = CLI_ANY_NUMBER,
    .groups = groups,
    .examples = examples,
    .options_size = sizeof(struct options),
    .defaults = &defaults,
    .run = run,
};
