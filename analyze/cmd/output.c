#include "analyze/cmd/output.h"

#include "analyze/analysis/run/load.h"
#include "libcommon/mem.h"
#include "libcommon/slice.h"
#include "libcommon/units.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct cli_option output_form_table[] = {
    {"json", CLI_FLAG, offsetof(struct output_options, json), .help = "print JSON"},
    {"no-color", CLI_FLAG, offsetof(struct output_options, no_color), .help = "no colours",
     .alias = "no-colour"},
    {0},
};

const struct cli_option output_file_table[] = {
    {"output", CLI_STRING, offsetof(struct output_options, path), "FILE",
     .help = "where to write; - is standard output", .letter = 'o'},
    {"force", CLI_FLAG, offsetof(struct output_options, force),
     .help = "overwrite an existing file, whatever it holds", .letter = 'f'},
    {0},
};

const struct cli_option output_page_table[] = {
    {"markdown", CLI_FLAG, offsetof(struct output_options, markdown), .help = "print Markdown"},
    {"analyze.v", CLI_FLAG, offsetof(struct output_options, verbose),
     .help = "all details: each host, client, size and error, all columns", .alias = "v",
     .letter = 'v'},
    {"html", CLI_CUSTOM, offsetof(struct output_options, html), "FILE",
     .help = "write a page with charts too", .parse = output_parse_path},
    {0},
};

const struct cli_option output_csv_table[] = {
    {"csv", CLI_FLAG, offsetof(struct output_options, csv), .help = "print comma-separated values"},
    {"csv-safe", CLI_FLAG, offsetof(struct output_options, csv_safe),
     .help = "begin cells that look like formulas with '"},
    {0},
};

bool output_parse_path(const char *text, void *field, struct err *e)
{
    const char *dot = strrchr(text, '.');
    if (dot != NULL && (strcmp(dot, ".zst") == 0 || strcmp(dot, ".xlsx") == 0))
        return err_set(e, "this option names a file to write, which cannot be a %s file%s", dot,
                       dot[1] == 'z'
                           ? "; write it before the captures, as in --html PAGE.html CAPTURE"
                           : "; use .csv");
    *(const char **)field = text;
    return true;
}

bool output_fits(const struct output_options *o, const struct cli_args *args, struct err *e)
{
    static const struct {
        const char *pattern, *option, *meant; /* option "": no report is such a file */
    } forms[] = {{"*.json", "json", "add --json"},
                 {"*.csv", "csv", "add --csv (cmp, table), or use --out FILE (analyze)"},
                 {"*.tsv", "", "analyze --out FILE writes time series"},
                 {"*.htm?(l)", "", "--html FILE writes a page"},
                 {"*.@(svg|png|pdf)", "", "s3analyze plot --out FILE draws pictures"}};

    for (size_t i = 0; o->path != NULL && i < sizeof forms / sizeof *forms; i++)
        if (fnmatch(forms[i].pattern, o->path, FNM_EXTMATCH | FNM_CASEFOLD) == 0 &&
            !cli_given(args, forms[i].option))
            return err_set(e, "-o %s: this report is no %s file: %s", o->path,
                           strrchr(o->path, '.'), forms[i].meant);
    return true;
}

struct sheet_form output_form(const struct output_options *o, FILE *f)
{
    return (struct sheet_form){o->markdown, !o->no_color && sheet_wants_colour(f), o->verbose};
}

enum outfile_replaces output_replaces(const struct output_options *o)
{
    return o->force ? OUTFILE_ANYTHING : o->json ? OUTFILE_JSON : OUTFILE_NOTHING;
}

static enum outfile_replaces replaces_page(const struct output_options *o)
{
    return o->force ? OUTFILE_ANYTHING : OUTFILE_HTML;
}

enum outfile_replaces output_replaces_series(const struct output_options *o)
{
    return o->force ? OUTFILE_ANYTHING : OUTFILE_SERIES;
}

/* Checks that two outputs, each of which may be NULL for none, go to different places. */
static bool are_apart(const char *a, const char *b, const char *who, struct err *e)
{
    if (a == NULL || b == NULL)
        return true;
    if (outfile_is_stdout(a) && outfile_is_stdout(b))
        return err_set(e, "%s both want standard output: give one of them a file", who);
    return !outfile_is_same(a, b) || err_set(e, "%s both want %s", who, a);
}

bool output_check(const struct output_options *o, struct err *e)
{
    if (o->json + o->markdown + o->csv > 1)
        return err_set(e, o->csv ? "choose one of --json, --markdown and --csv"
                                 : "choose one of --json and --markdown");
    return are_apart(o->series, o->path, "the report and the time series", e) &&
           are_apart(o->html, o->path, "the page and the report", e) &&
           are_apart(o->html, o->series, "the page and the time series", e);
}

bool output_can_write(const struct output_options *o, struct err *e)
{
    return outfile_check(o->path, output_replaces(o), e) &&
           outfile_check(o->series, output_replaces_series(o), e) &&
           outfile_check(o->html, replaces_page(o), e);
}

bool output_spares(const struct output_options *o, const char *const *inputs, size_t n,
                   struct err *e)
{
    return outfile_spares(o->path, inputs, n, e) && outfile_spares(o->series, inputs, n, e) &&
           outfile_spares(o->html, inputs, n, e);
}

bool output_spares_slo(const struct output_options *o, const struct cli_list *slo, struct err *e)
{
    bool ok = true;

    for (size_t i = 0; ok && i < slo->n; i++) {
        const char *path = slo->v[i] + 1;
        ok = *slo->v[i] != '@' || output_spares(o, &path, 1, e);
    }
    return ok;
}

/* ---- How requests were chosen ---- */

static void add(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(FILE *f, const char *fmt, ...)
{
    va_list args;
    if (ftell(f) > 0)
        fputs("; ", f);
    va_start(args, fmt);
    vfprintf(f, fmt, args);
    va_end(args);
}

static void add_filter(FILE *f, const struct load_filter *filter)
{
    for (size_t i = 0; i < filter->ops.n; i++) {
        if (i == 0)
            add(f, "operations %s", filter->ops.v[i]);
        else
            fprintf(f, ", %s", filter->ops.v[i]);
    }
    if (filter->host != NULL)
        add(f, "hosts %s", filter->host);
    if (filter->client != NULL)
        add(f, "clients %s", filter->client);
    if (filter->sizes.given)
        add(f, "sizes %s", filter_sizes_text(&filter->sizes).s);
    if (filter->from.given)
        add(f, "from %s", filter_time_text(&filter->from).s);
    if (filter->to.given)
        add(f, "to %s", filter_time_text(&filter->to).s);
}

static void add_analysis(FILE *f, const struct load_analysis *a)
{
    static const char *const ranges[] = {
        [RANGE_ALL] = "the range in which all threads ran",
        [RANGE_SINGLE] = "the range from the second start to the last but one end",
        [RANGE_FULL] = "the range from first start to last end"};
    if (a->skip_ns > 0)
        add(f, "without the first %s of each operation", units_duration(a->skip_ns).s);
    if (a->segment_ns > 0)
        add(f, "segments of %s", units_duration(a->segment_ns).s);
    if (a->range != RANGE_AUTO)
        add(f, "%s", ranges[a->range]);
    if (a->steady)
        add(f, "without the warm-up");
    if (a->co_interval_ns > 0)
        add(f, "corrected for coordinated omission, one request every %s",
            units_duration(a->co_interval_ns).s);
}

char *load_words(const struct load_filter *filter, const struct load_analysis *analysis)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    if (f == NULL)
        return NULL;
    add_filter(f, filter);
    add_analysis(f, analysis);
    bool ok = !ferror(f);
    if (fclose(f) != 0 || !ok) {
        free(text);
        return NULL;
    }
    return text;
}

/* ---- The command line as shown to others ---- */

#define MAX_ARGUMENTS 60

/* Returns an argument without what is private: folders of files, and the user in an address. The
 * caller frees it. NULL: out of memory. */
static char *public_part(const char *text, bool is_file)
{
    const char *equals = strncmp(text, "--", 2) == 0 ? strchr(text, '=') : NULL;
    const char *value = equals != NULL ? equals + 1 : text, *slash = strrchr(value, '/');
    struct slice user = slice_userinfo(value);
    char *s = NULL;

    if ((is_file || *value == '/' || *value == '.' || *value == '~') && slash != NULL)
        mem_format(&s, NULL, "%.*s%s", (int)(value - text), text, slash + 1);
    else if (user.p != NULL)
        mem_format(&s, NULL, "%.*s*REDACTED*%s", (int)(user.p - text), text, user.p + user.n);
    else
        mem_text(&s, text, NULL);
    return s;
}

void output_word(FILE *f, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_./:=,@%+-";
    bool quoted = *text == '\0' || text[strspn(text, plain)] != '\0';

    fputs(quoted ? " '" : " ", f);
    for (; *text != '\0'; text++)
        fputs(quoted && *text == '\'' ? "'\\''" : (char[]){*text, '\0'}, f);
    fputs(quoted ? "'" : "", f);
}

/* Returns the command line as a page shows it: files without folders, addresses without users,
 * quoted where a shell needs it. The caller frees it. NULL: out of memory. */
static char *command_of(const struct cli_args *args)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    bool ok = f != NULL;

    if (!ok)
        return NULL;
    fputs(args->program, f);
    for (int i = 1; ok && i < args->argc && i <= MAX_ARGUMENTS; i++) {
        bool is_file = false;
        for (size_t k = 0; k < args->n_operands; k++)
            is_file |= args->operands[k] == args->argv[i];
        char *word = public_part(args->argv[i], is_file);
        ok = word != NULL;
        if (ok)
            output_word(f, word);
        free(word);
    }
    if (args->argc > MAX_ARGUMENTS + 1)
        fprintf(f, " ... (%d more)", args->argc - MAX_ARGUMENTS - 1);
    ok = !ferror(f) && ok;
    if (fclose(f) == 0 && ok)
        return text;
    free(text);
    return NULL;
}

bool output_page(const struct output_page *o, output_page_writer *write, const void *ctx,
                 struct err *e)
{
    struct outfile out;

    if (o->output->html == NULL)
        return true;
    char *words = load_words(o->filter, o->analysis), *command = command_of(o->args);
    bool ok = ((words != NULL && command != NULL) || mem_none(e)) &&
              outfile_open(&out, o->output->html, replaces_page(o->output), e) &&
              outfile_finish(&out, write(ctx, words, command, out.f, e), e);
    free(words);
    free(command);
    return ok;
}
