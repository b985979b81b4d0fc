#include "analyze/render/plot/plot.h"
#include "analyze/cmd/archive.h"
#include "analyze/cmd/commands.h"
#include "analyze/cmd/loaded.h"
#include "analyze/cmd/options.h"
#include "analyze/cmd/sides.h"
#include "analyze/read/aggpipe.h"
#include "analyze/render/plot/compare.h"
#include "analyze/render/plot/plot.h"
#include "analyze/tools/archive/columns.h"
#include "libcommon/mem.h"
#include "libcommon/suggest.h"
#include "libcommon/visible.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIN_WIDTH  360
#define MIN_HEIGHT 300
#define MAX_PIXELS 10000

struct size {
    int width, height;
    double inches; /* width in print; 0: none */
};

struct plot_given {
    struct load_filter filter;
    struct load_analysis analysis;
    struct load_input input;
    struct sides_options sides;
    struct load_autoterm autoterm;
    const char *out, *label;
    struct cli_list charts;
    struct size size;
    int64_t font_px; /* 0: by the size */
    bool dark, force, no_title;
};

/* Sizes by their use: text has at least 7 points in a column of 3.5 inch, or on a page of text that
 * is 6.5 inch wide. */
static const struct {
    const char *name;
    struct size size;
} uses[] = {{"column", {460, 380, 3.5}},
            {"page", {PLOT_WIDTH, PLOT_HEIGHT, 6.5}},
            {"slide", {1600, 900, 0}}};

/* Parses "860x400" or a use, the size of a picture; other texts are sizes of requests, as in all
 * commands. */
static bool parse_size(const char *text, void *field, struct err *e)
{
    struct plot_given *o = field;
    struct size *size = &o->size;
    struct err ignored = {0};
    int end = 0;

    size->inches = 0;
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (strcmp(text, uses[i].name) == 0) {
            *size = uses[i].size;
            return true;
        }
    if (filter_parse_sizes(text, &o->filter.sizes, &ignored))
        return true;
    if (sscanf(text, "%5dx%5d%n", &size->width, &size->height, &end) != 2 || text[end] != '\0' ||
        size->width < MIN_WIDTH || size->height < MIN_HEIGHT || size->width > MAX_PIXELS ||
        size->height > MAX_PIXELS)
        return err_set(e,
                       "expected WIDTHxHEIGHT in pixels, from %dx%d to %dx%d, or column, page or "
                       "slide",
                       MIN_WIDTH, MIN_HEIGHT, MAX_PIXELS, MAX_PIXELS);
    return true;
}

/* Returns the name of chart i: those of runs come first, then those of comparisons. */
static const char *chart_name(size_t i)
{
    size_t n = 0;

    while (n < i && plot_listed(false, n).name != NULL)
        n++;
    const char *of_run = plot_listed(false, n).name;
    return of_run != NULL ? of_run : plot_listed(true, i - n).name;
}

static const struct cli_option output_table[] = {
    {"out", CLI_STRING, offsetof(struct plot_given, out), "DIR|FILE",
     .help = "a folder; or one picture: .svg, .png, .pdf", .letter = 'o'},
    {"force", CLI_FLAG, offsetof(struct plot_given, force),
     .help = "overwrite an existing file, whatever it holds", .letter = 'f'},
    {"chart", CLI_LIST, offsetof(struct plot_given, charts), "NAME,...",
     .help = "which charts (--help charts lists them); default: all that show something",
     .offered = chart_name},
    {"size", CLI_CUSTOM, 0, "WxH",
     .help = "pixels [860x400], or column (3.5 in), page (6.5 in), slide; 1MiB is --analyze.size",
     .parse = parse_size},
    {"font-size", CLI_INT, offsetof(struct plot_given, font_px), "N",
     .help = "height of text in pixels; default: 13, or more in a large picture", .min = 9,
     .max = 400},
    {"dark", CLI_FLAG, offsetof(struct plot_given, dark), .help = "light lines on dark"},
    {"label", CLI_STRING, offsetof(struct plot_given, label), "TEXT",
     .help = "text before every title"},
    {"no-title", CLI_FLAG, offsetof(struct plot_given, no_title),
     .help = "no title in the picture: a paper has a caption"},
    {0},
};

static void put_chart(FILE *f, const char *name, const char *title, const char *when)
{
    fprintf(f, "  %-20s%s%s\n", name, title, when);
}

/* For --help charts: which charts there are, and how to change them. */
static void put_charts(FILE *f)
{
    for (int of_comparison = 0; of_comparison < 2; of_comparison++) {
        fputs(of_comparison ? "\nCharts of a comparison:\n" : "\nCharts of a run:\n", f);
        for (size_t i = 0; plot_listed(of_comparison, i).name != NULL; i++) {
            const struct plot_listed x = plot_listed(of_comparison, i);

            put_chart(f, x.name, x.title,
                      x.is_by_name                    ? " (only if asked for)"
                      : strcmp(x.name, "groups") == 0 ? " (of aggregated captures)"
                                                      : "");
        }
    }
    fputs("\nText, lines and gaps grow with --size. It may say what the picture is for:\n"
          "column (of a paper), page or slide: PDF and SVG are 3.5 and 6.5 inches wide,\n"
          "with text of 7 points; PNG has 300 pixels an inch. Or choose --font-size. To\n"
          "restyle a chart, copy the folder share/s3analyze/plots, change its CHART.gp or\n"
          "style.gp, and draw the .tsv that lies beside the picture:\n"
          "  gnuplot -c plots/cdf.gp cdf-GET.tsv cdf.pdf 860 400 light\n"
          "or let the variable S3ANALYZE_PLOTS name that folder.\n",
          f);
}

static const struct cli_group groups[] = {
    {"Output", NULL, output_table, 0},
    {"Comparison", NULL, sides_table, offsetof(struct plot_given, sides)},
    {"Chart autoterm", "charts", load_autoterm_table, offsetof(struct plot_given, autoterm)},
    {"Which requests", "filters", load_filter_table, offsetof(struct plot_given, filter)},
    {"Analysis", "filters", load_analysis_table, offsetof(struct plot_given, analysis)},
    {"Reading", "filters", load_together_table, offsetof(struct plot_given, input)},
    {"Reading", "filters", load_input_table, offsetof(struct plot_given, input)},
    {"Reading", "filters", load_threads_table, offsetof(struct plot_given, input)},
    {0},
};

static const struct cli_example examples[] = {
    {"s3analyze plot run.csv.zst --out charts", "all charts of a run, with their data"},
    {"s3analyze plot run.csv.zst --chart cdf --out cdf.png", "one picture"},
    {"s3analyze plot --before a*.zst --after b*.zst --out ab", "charts of a comparison"},
    {"s3analyze plot --chart response --out curve.svg main/*.csv.zst pr/*.csv.zst",
     "latency over throughput"},
    {0},
};

static const struct plot_given defaults = {.input = {.say_dropped = options_say_dropped},
                                           .autoterm = LOAD_AUTOTERM_DEFAULTS};

/* ---- Where charts go ---- */

struct target {
    char *folder, *stem; /* stem NULL: each chart has a name of its own */
    const char *format;
    bool made_folder;
};

/* Returns the ending of a path, as written there, if it is one of n endings; else NULL. */
static const char *ending_of(const char *path, const char *const *endings, size_t n)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < n; i++)
        if (strcasecmp(dot + 1, endings[i]) == 0)
            return dot + 1;
    return NULL;
}

/* Returns the format of a path that ends like a picture; else NULL. */
static const char *format_of(const char *path)
{
    static const char *const formats[] = {"svg", "png", "pdf"};
    return ending_of(path, formats, sizeof formats / sizeof *formats);
}

/* True if a path looks like another kind of file: its user does not mean a folder. */
static bool is_other_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    struct stat st;

    return strcmp(path, "-") == 0 || (dot != NULL && dot != name && format_of(path) == NULL &&
                                      !(stat(path, &st) == 0 && S_ISDIR(st.st_mode)));
}

static bool target_init(struct target *t, const char *out, bool force, struct err *e)
{
    const char *slash = strrchr(out, '/');
    struct stat st;
    bool is_folder = stat(out, &st) == 0 && S_ISDIR(st.st_mode);

    *t = (struct target){.format = is_folder ? NULL : format_of(out)};
    if (t->format == NULL) {
        t->format = "svg";
        if (!mem_text(&t->folder, out, e))
            return false;
        if (!is_folder && mkdir(out, 0777) != 0)
            return errno == EEXIST
                       ? err_set(e, "%s is no folder: name one, or a .svg, .png or .pdf", out)
                       : err_errno(e, errno, "cannot make the folder %s", out);
        t->made_folder = !is_folder;
        return access(out, W_OK | X_OK) == 0 || err_errno(e, errno, "cannot write into %s", out);
    }
    if (!outfile_check(out, plot_replaces(out, force), e))
        return false;
    if (!mem_text(&t->stem, slash != NULL ? slash + 1 : out, e) ||
        !mem_text(&t->folder, slash != NULL ? out : ".", e))
        return false;
    if (slash != NULL)
        t->folder[slash - out + (slash == out)] = '\0';
    *strrchr(t->stem, '.') = '\0';
    return true;
}

/* Removes a folder that was made for charts, if none was written. */
static void target_fini(struct target *t)
{
    if (t->made_folder)
        (void)rmdir(t->folder); /* only if it is empty */
    free(t->folder);
    free(t->stem);
}

/* ---- Charts of a run ---- */

static bool add_run(struct plot_set *set, const struct cli_args *args, const struct plot_given *o,
                    struct plot_options *how, struct err *e)
{
    const struct load_analysis as_usual = {0};
    struct load_filter filter = o->filter;
    struct loaded l = {0};
    struct stopping replays = {0};
    bool with_replay = o->charts.n > 0 && plot_wants(how, "autoterm");
    bool ok = load_dataset(&l.d, args->operands, args->n_operands, &filter, &o->input, e) &&
              load_ran_together(&l.d, &o->input, e);

    if (ok && with_replay) { /* first: the analysis may drop requests */
        const struct analysis_options all = load_analysis_options(&filter, &as_usual, &o->input);
        ok = stopping_replay(&replays, &l.d, &all, o->autoterm.dur_ns, o->autoterm.pct, e);
        how->replays = &replays;
        filter.from = filter.to = (struct filter_time){0}; /* the replay has applied these */
    }
    ok = ok && load_run_analysis(&l.a, &l.d, &filter, &o->analysis, &o->input, false, e) &&
         plot_add_analysis(set, &l.a, how, e);
    how->replays = NULL;
    stopping_free(&replays);
    loaded_free(&l);
    return ok;
}

static bool add_without_rows(struct plot_set *set, const struct cli_args *args,
                             const struct plot_given *o, const struct plot_options *how,
                             struct err *e)
{
    struct loaded l = {0};
    bool ok = loaded_without_rows(&l, args, &o->filter, &o->analysis, &o->input, false, e) &&
              plot_add_analysis(set, &l.a, how, e);

    if (ok && set->n == 0 && l.a.series_note != NULL)
        ok = err_set(e,
                     "%s: nothing to draw: an aggregated capture only has the charts errors, "
                     "throughput, hosts, clients and groups",
                     args->operands[0]);
    loaded_free(&l);
    return ok;
}

/* ---- Charts of a comparison ---- */

static bool add_comparison(struct plot_set *set, const struct plot_given *o, struct sides *sides,
                           const struct plot_options *how, struct err *e)
{
    struct run_options reading = {
        .filter = &o->filter, .input = &o->input, .analysis = &o->analysis};
    const struct compare_options plain = {.run_cv_frac = NAN};
    struct plot_traces traces = {0};
    struct compare c = {0};
    bool ok = sides_spool(&o->sides, &reading.basis, e) &&
              sides_load(sides, &o->sides, &reading, &traces, e) &&
              sides_compare(&c, sides, &o->sides, &plain, e) &&
              plot_add_compare(set, &c, &traces, how, e);

    compare_free(&c);
    plot_traces_free(&traces);
    return ok;
}

/* ---- Response curves ---- */

static bool wants_response(const struct plot_given *o)
{
    bool wants = false;

    for (size_t i = 0; i < o->charts.n; i++)
        wants |= strcmp(o->charts.v[i], "response") == 0;
    return wants;
}

static bool add_response(struct plot_set *set, const struct cli_args *args,
                         const struct plot_given *o, const struct plot_options *how, struct err *e)
{
    const struct archive_given given = {o->filter, o->analysis, o->input, {.path = "-"}, false};
    struct archive a = {0};
    struct columns_table t = {.archive = &a};
    bool ok = archive_read(&a, &given, args, ARCHIVE_AS_LEAST, e) &&
              columns_select(&t, NULL, 0, (struct columns_order){.column = NULL}, e) &&
              plot_add_response(set, &t, how, e);

    for (size_t i = 0; ok && i < a.n_unread; i++)
        visible_line(stderr, "%s: %s", args->program, a.unread[i].why);
    free(t.rows);
    archive_free(&a);
    return ok;
}

/* ---- The command ---- */

static bool check_charts(const struct plot_given *o, bool comparison, struct err *e)
{
    for (size_t i = 0; i < o->charts.n; i++) {
        char known[512] = "";
        bool found = false;

        for (size_t k = 0; plot_listed(comparison, k).name != NULL; k++) {
            const char *name = plot_listed(comparison, k).name;

            found |= strcmp(name, o->charts.v[i]) == 0;
            suggest_list(known, sizeof known, name);
        }
        if (!found)
            return err_set(e, "--chart %s: there are %s", o->charts.v[i], known);
    }
    return true;
}

static bool check_usage(const struct plot_given *o, const struct cli_args *args, struct err *e)
{
    bool comparison = sides_given(&o->sides);
    if (o->out == NULL || *o->out == '\0')
        return err_set(e, "--out is missing: name a folder, or a picture such as run.svg");
    if (!sides_check(&o->sides, args, "captures", e))
        return false;
    if (!comparison && args->n_operands == 0)
        return err_set(e, "no capture is given: name it, or use --before and --after");
    if (is_other_file(o->out))
        return err_set(
            e,
            "--out %s: name a picture that ends in .svg, .png or .pdf, or a folder (a new "
            "one whose name has a dot ends in /)",
            o->out);
    int width = o->size.width > 0 ? o->size.width : PLOT_WIDTH,
        height = o->size.height > 0 ? o->size.height : PLOT_HEIGHT;
    if (o->font_px * MIN_WIDTH > width * BASE_FONT_PX ||
        o->font_px * MIN_HEIGHT > height * BASE_FONT_PX)
        return err_set(e, "--font-size %d needs a picture of %dx%d at least (--size)",
                       (int)o->font_px,
                       (int)(o->font_px * MIN_WIDTH + BASE_FONT_PX - 1) / BASE_FONT_PX,
                       (int)(o->font_px * MIN_HEIGHT + BASE_FONT_PX - 1) / BASE_FONT_PX);
    if (format_of(o->out) != NULL && o->charts.n > 1)
        return err_set(e, "%s is one picture: choose one chart, or give a folder", o->out);
    if (wants_response(o) && o->charts.n > 1)
        return err_set(e, "--chart response is of systems: draw the other charts apart");
    return load_check_times(&o->filter, e) && check_charts(o, comparison, e);
}

/* Says which charts that were asked for have no data. Returns whether there is any to draw. */
static bool say_missing(const struct plot_set *set, const struct plot_options *how,
                        const struct cli_args *args, struct err *e)
{
    const char *of = args->n_operands > 0 ? args->operands[0] : "the comparison";

    if (set->n == 0)
        return err_set(e, "%s: nothing to draw: there is no data for %s%s", of,
                       how->n_charts == 1 ? "--chart " : "any of the charts",
                       how->n_charts == 1 ? how->charts[0] : "");
    for (size_t i = 0; i < how->n_charts; i++) {
        size_t k = 0;

        while (k < set->n && strcmp(set->v[k].asked, how->charts[i]) != 0)
            k++;
        if (k == set->n)
            visible_line(stderr, "%s: %s: there is no data for --chart %s", args->program, of,
                         how->charts[i]);
    }
    return true;
}

static bool draw(const struct cli_args *args, const struct plot_given *o, struct sides *sides,
                 struct err *e)
{
    static const char *const one_chart[] = {"throughput"}, *const one_change[] = {"compare-change"};
    bool comparison = sides_given(&o->sides);
    struct plot_options how = {
        .captures = {{args->operands, args->n_operands}, o->sides.before, o->sides.after},
        .charts = o->charts.v,
        .n_charts = o->charts.n,
        .label = o->label,
        .theme = o->dark ? "dark" : "light",
        .width = o->size.width,
        .height = o->size.height,
        .inches = o->size.inches,
        .font_px = (int)o->font_px,
        .no_titles = o->no_title,
        .lists_findings = true,
        .benchmark_only = o->filter.ops.n == 0 && o->charts.n == 0,
        .force = o->force};
    struct plot_set set = {0};
    struct target t;

    bool ok = target_init(&t, o->out, o->force, e);
    how.folder = t.folder;
    how.stem = t.stem;
    how.format = t.format;
    if (t.stem != NULL && how.n_charts == 0) {
        how.charts = comparison ? one_change : one_chart;
        how.n_charts = 1;
    }
    ok = ok && (comparison                ? add_comparison(&set, o, sides, &how, e)
                : wants_response(o)       ? add_response(&set, args, o, &how, e)
                : loaded_lacks_rows(args) ? add_without_rows(&set, args, o, &how, e)
                                          : add_run(&set, args, o, &how, e));
    ok = ok && say_missing(&set, &how, args, e) && plot_draw(&set, &how, e);
    plot_set_free(&set);
    target_fini(&t);
    return ok;
}

static int run(const struct cli_args *args, void *options)
{
    struct plot_given *o = options;
    struct sides sides = {0};
    struct err e = {0};

    if (!check_usage(o, args, &e))
        return cli_wrong_usage(args, "%s", e.msg);
    bool ok = sides_find(&sides, &o->sides, &e) &&
              aggpipe_spool(args->operands, args->n_operands, &e) && draw(args, o, &sides, &e);
    sides_free(&sides);
    return ok ? EXIT_DONE : cli_failed(args, &e);
}

const struct cli_command cmd_plot = {
    .name = "plot",
    .summary = "draw charts of a run or of a comparison",
    .text =
        "Draws charts with gnuplot. Its scripts are in the folder share/s3analyze/plots of the "
        "installation, or in the folder that the environment variable S3ANALYZE_PLOTS names. The "
        "data file of each picture lies beside it: gnuplot -c SCRIPT DATA OUT draws it again, "
        "and SCRIPT may be changed.\n\n"
        "Charts whose names begin with compare- are of a comparison (--before, --after), "
        "compare-runs of several runs. cdf and autoterm are only drawn if asked for by name. Of "
        "an aggregated capture there are errors, throughput, hosts, clients and groups, the "
        "durations of each 10 seconds.\n\n"
        "--chart response is of systems: latency over throughput, a point for each level of "
        "concurrency or rate, a line for each system, at most six. A folder is a system; of "
        "captures in one folder, those of one s3load --label are. Each operation and size has its "
        "own chart.\n\n"
        "A mixed run also has charts of all operations together. A single picture shows these, "
        "or the largest operation if the chart is of one. Of operations one after another it "
        "shows the benchmark. --op chooses another one.",
    COMMANDS_TAKE("CAPTURE|DIR...", 0, CLI_ANY_NUMBER, struct plot_given),
    .put_more = put_charts,
    .more_topic = "charts",
};
