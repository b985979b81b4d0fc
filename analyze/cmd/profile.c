#include "analyze/analysis/run/load.h"
#include "analyze/cmd/commands.h"
#include "analyze/render/page/pages.h"
#include "analyze/render/report/figures.h"
#include "analyze/tools/profile/run.h"
#include "analyze/write/outfile.h"
#include "analyze/write/sheet.h"
#include "libcommon/visible.h"

#include <fnmatch.h>
#include <string.h>

struct profile_given {
    const char *kind, *sample_index, *output;
    struct cli_list base, captures;
    double node_fraction;
    double edge_fraction; /* of no effect: scripts for 1.0 may give it */
    int64_t n_nodes;
    bool cum, folded, force;
};

static const struct cli_option what_table[] = {
    {"type", CLI_STRING, offsetof(struct profile_given, kind), "KIND",
     .help = "which kind of an archive: cpu, mem, block, ..."},
    {"sample-index", CLI_STRING, offsetof(struct profile_given, sample_index), "NAME",
     .help = "what to count: alloc_space, contentions, ...", .alias = "sample_index"},
    {"diff-base", CLI_STRINGS, offsetof(struct profile_given, base), "FILE",
     .help = "a profile to subtract; may be repeated", .alias = "diff_base"},
    {"capture", CLI_STRINGS, offsetof(struct profile_given, captures), "CAPTURE",
     .help = "capture of the load; default: the one beside it"},
    {0},
};

static const struct cli_option shown_table[] = {
    {"cum", CLI_FLAG, offsetof(struct profile_given, cum),
     .help = "sort by the time of a function with all it calls"},
    {"nodecount", CLI_INT, offsetof(struct profile_given, n_nodes), "N",
     .help = "show so many functions; 0: all", .max = 1e9},
    {"nodefraction", CLI_DOUBLE, offsetof(struct profile_given, node_fraction), "F",
     .help = "drop functions below this share", .max = 1},
    {"edgefraction", CLI_DOUBLE, offsetof(struct profile_given, edge_fraction), "F",
     .help = "does nothing, as functions are listed without their calls", .max = 1},
    {"folded", CLI_FLAG, offsetof(struct profile_given, folded),
     .help = "instead: a line a stack, for other tools"},
    {0},
};

static const struct cli_option file_table[] = {
    {"output", CLI_STRING, offsetof(struct profile_given, output), "FILE",
     .help = "where to write; of flame: .svg or .html", .alias = "out", .letter = 'o'},
    {"force", CLI_FLAG, offsetof(struct profile_given, force),
     .help = "overwrite an existing file, whatever it holds", .letter = 'f'},
    {0},
};

static const struct cli_group groups[] = {
    {"Which profiles", NULL, what_table, 0},
    {"What is shown", NULL, shown_table, 0},
    {"Output", NULL, file_table, 0},
    {0},
};

static const struct cli_example examples[] = {
    {"s3analyze profile info run.profiles.zip", "what a request costs, by part of the server"},
    {"s3analyze profile top --cum run.profiles.zip", "where the server spent its CPU"},
    {"s3analyze profile diff old.profiles.zip run.profiles.zip", "what changed"},
    {"s3analyze profile flame --out flame.html run.profiles.zip", "the same as a picture"},
    {0},
};

static const struct profile_given defaults = {.output = "-", .node_fraction = 0.005};

enum action { TOP, DIFF, INFO, FLAME };
static const char *const action_names[] = {"top", "diff", "info", "flame", NULL};

/* ---- Reading ---- */

/* Counts the requests of a capture: of the one given for this side (if two are given, the first is
 * for the base), else of the one beside the archive. Counts nothing if there is none, or if the one
 * beside the archive cannot be read. */
static bool count(struct profile_run *r, const struct profile_given *o, const char *archive,
                  bool base, struct err *e)
{
    size_t n = o->captures.n;
    const char *given = n > base ? o->captures.v[base ? 0 : n - 1] : NULL;
    char *beside = given == NULL ? profile_beside(archive, ".profiles.zip", ".csv.zst") : NULL;
    const char *path = given != NULL ? given : beside;
    struct dataset d = {0};
    bool ok = true;

    if (path != NULL && !outfile_spares(o->output, &path, 1, e)) {
        free(beside);
        return false;
    }
    if (path != NULL) {
        ok = load_dataset(&d, &path, 1, &(struct load_filter){0},
                          &(struct load_input){.quiet = true}, e);
        if (ok)
            profile_run_count(r, &d, base);
        dataset_free(&d);
    }
    if (!ok && beside != NULL) {
        visible_line(stderr, "s3analyze: no cost of requests: %s", e->msg);
        err_clear(e);
        ok = true;
    }
    free(beside);
    return ok;
}

/* Checks that the output is none of the profiles that were read, also from folders. */
static bool spares_sources(const struct profile_given *o, const struct profile_sources *s,
                           struct err *e)
{
    bool ok = true;

    for (size_t i = 0; ok && i < s->n; i++)
        ok = outfile_spares(o->output, &s->v[i].path, 1, e);
    return ok;
}

/* Reads the profiles of the command line, and the load. For a difference the operands are BEFORE
 * and AFTER, or one archive with both. */
static bool read_run(struct profile_run *r, const struct profile_given *o, const char *const *paths,
                     size_t n, enum action action, struct err *e)
{
    bool two = action == DIFF && o->base.n == 0 && n == 2;
    const struct profile_wanted wanted = {
        .paths = two ? paths + 1 : paths,
        .n_paths = two ? 1 : n,
        .base = two ? paths : o->base.v,
        .n_base = two ? 1 : o->base.n,
        .kind = o->kind,
        .is_diff = action == DIFF,
    };

    /* Read captures only if needed: a large one takes longer than all else. */
    bool wants_cost = action == DIFF || action == INFO || o->captures.n > 0;
    return profile_run_read(r, &wanted, e) && spares_sources(o, &r->sources, e) &&
           spares_sources(o, &r->base, e) &&
           (!wants_cost || (count(r, o, wanted.paths[0], false, e) &&
                            (wanted.n_base == 0 || count(r, o, wanted.base[0], true, e))));
}

/* ---- Writing ---- */

/* Writes the text asked for, as `go tool pprof` does. */
static bool write_lines(const struct profile *p, const struct profile_given *o, size_t type,
                        FILE *f, struct err *e)
{
    const struct graph_options how = {type, o->node_fraction, (size_t)o->n_nodes, o->cum};

    if (!o->folded)
        return profile_write_top(p, &how, f, e);
    profile_write_folded(p, type, f);
    return true;
}

/* Writes sentences about cost to a file, separate from lines for other programs. */
static bool write_sheet(struct sheet *s, FILE *f, struct err *e)
{
    return sheet_end(s, &(struct sheet_form){false, sheet_wants_colour(f), true}, f, e);
}

static bool write_info(const struct profile_run *r, FILE *f, struct err *e)
{
    struct sheet s = {0};

    profile_cost_line(&s, &r->p, r->loads);
    profile_run_nodes(&s, r);
    profile_cost_parts(&s, &r->p, r->loads);
    return write_sheet(&s, f, e);
}

/* Writes a flame graph, as a picture or within a page, by the name of the file. */
static bool write_flame(const struct profile_run *r, const struct profile_given *o, size_t type,
                        FILE *f, struct err *e)
{
    size_t n = strlen(o->output);

    if (n > 5 && strcmp(o->output + n - 5, ".html") == 0)
        return profile_html(r, type, figures_file(r->sources.v[0].path), f, e);
    return profile_write_flame(&r->p, type, f, e);
}

static bool write_action(const struct profile_run *r, const struct profile_given *o,
                         enum action action, FILE *f, struct err *e)
{
    size_t type = profile_type_index(&r->p, o->sample_index, e);
    struct sheet s = {0};

    if (type == SIZE_MAX)
        return false;
    if (action == FLAME && !o->folded)
        return write_flame(r, o, type, f, e);
    if (action == INFO)
        return write_info(r, f, e);
    profile_cost_line(&s, &r->p, r->loads);
    profile_run_odd(&s, r);
    bool ok = write_lines(&r->p, o, type, f, e);
    fflush(f); /* outfile_close says why it fails */
    return ok && write_sheet(&s, stderr, e);
}

/* ---- The command ---- */

static bool check_usage(const struct cli_args *args, const struct profile_given *o, int action,
                        struct err *e)
{
    size_t n = args->n_operands - 1;

    if (action < 0)
        return err_set(e, "%s: write top, diff, info or flame, then the files", args->operands[0]);
    if (n == 0)
        return err_set(e, "%s needs profiles: NAME.pprof, NAME.profiles.zip or a folder",
                       args->operands[0]);
    if (action == DIFF && o->base.n == 0 && n > 2)
        return err_set(e, "diff takes BEFORE and AFTER, or one archive; for several files a side, "
                          "name each of BEFORE with --diff-base");
    if (action == INFO && o->folded)
        return err_set(e, "--folded is for top, diff and flame");
    bool draws = action == FLAME && !o->folded;
    bool is_picture = fnmatch("*.@(svg|html)", o->output, FNM_EXTMATCH | FNM_CASEFOLD) == 0;
    if (draws && !is_picture && strchr(figures_file(o->output), '.') != NULL)
        return err_set(e, "-o %s: flame draws .svg and .html", o->output);
    if (!draws && is_picture)
        return err_set(e, "-o %s: flame draws such files, %s writes text", o->output,
                       args->operands[0]);
    return outfile_spares(o->output, args->operands + 1, n, e) &&
           outfile_spares(o->output, o->captures.v, o->captures.n, e) &&
           outfile_spares(o->output, o->base.v, o->base.n, e);
}

static int run(const struct cli_args *args, void *options)
{
    const struct profile_given *o = options;
    struct profile_run r = {0};
    struct outfile out;
    struct err e = {0};
    int word = cli_choice(action_names, args->operands[0]);

    if (!check_usage(args, o, word, &e))
        return cli_wrong_usage(args, "%s", e.msg);
    enum action action = (enum action)word;
    enum outfile_replaces replaces = o->force          ? OUTFILE_ANYTHING
                                     : action == FLAME ? OUTFILE_HTML
                                                       : OUTFILE_NOTHING;
    bool ok = outfile_check(o->output, replaces, &e) &&
              read_run(&r, o, args->operands + 1, args->n_operands - 1, action, &e) &&
              outfile_open(&out, o->output, replaces, &e) &&
              outfile_finish(&out, write_action(&r, o, action, out.f, &e), &e);
    profile_run_free(&r);
    return ok ? EXIT_DONE : cli_failed(args, &e);
}

const struct cli_command cmd_profile = {
    .name = "profile",
    .summary = "say where a server spent its CPU, memory and waiting",
    .text =
        "Reads profiles of Go servers (NAME.pprof, as gzip or not), archives of them as s3load "
        "--serverprof saves them beside a capture (NAME.profiles.zip), folders, and what perf "
        "script prints. Several add up, such as those of a cluster's nodes.\n\n"
        "top prints the lines of `go tool pprof -top`, with the same digits. diff prints what "
        "AFTER has more than BEFORE (-diff_base); of one "
        "archive, what the profiles taken after the load have more than those before. info prints "
        "the nodes, the one that stands out, and which parts of the server the CPU went to. flame "
        "draws a flame graph, or of a difference where there is more and less.\n\n"
        "With the capture of the load, info prints what a request cost: the CPU time of the "
        "server, divided by the requests that ended while the profile was taken. diff prints it "
        "to standard error, and so does top with --capture; both also name the node that stands "
        "out.",
    COMMANDS_TAKE("top|diff|info|flame FILE...", 1, CLI_ANY_NUMBER, struct profile_given),
};
