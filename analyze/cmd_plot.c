#include "commands.h"
#include "load.h"
#include "plot.h"
#include "plot_write.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

struct options {
    struct load_filter filter;
    struct load_analysis analysis;
    struct load_input input;
    const char *out, *label;
    struct cli_list charts;
    struct {
        int width, height;
    } size;
    bool dark;
    int64_t dur_ns;
    double pct;
};

/* "860x400" */
static bool parse_size(const char *text, void *field, struct err *e)
{
    int *v = field;
    int end = 0;
    if (sscanf(text, "%5dx%5d%n", &v[0], &v[1], &end) != 2 || text[end] != '\0' || v[0] < 200 ||
        v[1] < 120 || v[0] > 10000 || v[1] > 10000)
        return err_set(e, "expected WIDTHxHEIGHT in pixels, 200x120 to 10000x10000");
    return true;
}

static const struct cli_option output_table[] = {
    {.name = "out",
     .letter = 'o',
     .type = CLI_STRING,
     .offset = offsetof(struct options, out),
     .arg = "DIR|FILE",
     .help = "a folder; or one picture: .svg, .png, .pdf"},
    {.name = "chart",
     .type = CLI_LIST,
     .offset = offsetof(struct options, charts),
     .arg = "NAME,...",
     .help = "only these; default: all that show something"},
    {.name = "size",
     .type = CLI_CUSTOM,
     .offset = offsetof(struct options, size),
     .arg = "WxH",
     .help = "of a picture, in pixels",
     .parse = parse_size},
    {.name = "dark",
     .type = CLI_FLAG,
     .offset = offsetof(struct options, dark),
     .help = "light on dark"},
    {.name = "label",
     .type = CLI_STRING,
     .offset = offsetof(struct options, label),
     .arg = "TEXT",
     .help = "put it before every title"},
    {0},
};

static const struct cli_option replay_table[] = {
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
    {0},
};

static const struct cli_group groups[] = {
    {"Output", NULL, output_table, 0},
    {"Autoterm chart", "filters", replay_table, 0},
    {"Which requests", "filters", load_filter_table, offsetof(struct options, filter)},
    {"Analysis", "filters", load_analysis_table, offsetof(struct options, analysis)},
    {"Reading", "filters", load_input_table, offsetof(struct options, input)},
    {0},
};

static const struct options defaults = {.dur_ns = AUTOTERM_DEFAULT_DUR_NS,
                                        .pct = AUTOTERM_DEFAULT_PCT};

static int run(const struct cli_args *args, void *options)
{
    struct options *o = options;
    struct err e = {""};
    struct dataset d = {0};
    struct analysis a = {0};
    struct plot_set set = {0};
    const struct plot_options how = {.charts = o->charts.v,
                                     .n_charts = o->charts.n,
                                     .label = o->label,
                                     .format = "svg",
                                     .theme = o->dark ? "dark" : "light",
                                     .width = o->size.width,
                                     .height = o->size.height};
    mkdir(o->out, 0777);
    bool ok = load_dataset(&d, args->operands, args->n_operands, &o->filter, &o->input, &e) &&
              load_run_analysis(&a, &d, &o->filter, &o->analysis, &o->input, false, &e) &&
              plot_add_analysis(&set, &a, o->out, NULL, &how, &e) && plot_draw(&set, &how, &e);
    analysis_free(&a);
    dataset_free(&d);
    plot_set_free(&set);
    return ok ? EXIT_DONE : cli_failed(args, &e);
}

const struct cli_command cmd_plot = {
    .name = "plot",
    .summary = "draw charts of a run, or of two sides of a comparison",
    .operands = "CAPTURE...",
    .min_operands = 0,
    .max_operands = CLI_ANY_NUMBER,
    .groups = groups,
    .options_size = sizeof(struct options),
    .defaults = &defaults,
    .run = run,
};
