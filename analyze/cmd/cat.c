#include "analyze/base/intern.h"
#include "analyze/base/progress.h"
#include "analyze/base/tasks.h"
#include "analyze/capture/stream/capture_out.h"
#include "analyze/capture/stream/survey.h"
#include "analyze/cmd/commands.h"
#include "analyze/cmd/options.h"
#include "analyze/data/filter.h"
#include "analyze/data/recorded.h"
#include "analyze/write/outfile.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/recwrite.h"
#include "libcommon/units.h"
#include "libcommon/visible.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct cat_given {
    struct load_filter filter;
    struct capture_out_options output;
    struct load_input input;
};

static const struct cli_group groups[] = {
    {"Output", NULL, capture_out_table, offsetof(struct cat_given, output)},
    {"Which requests", NULL, load_filter_table, offsetof(struct cat_given, filter)},
    {"Reading", NULL, load_input_table, offsetof(struct cat_given, input)},
    {0},
};

static const struct cli_example examples[] = {
    {"s3analyze cat old.csv.zst | head", "see the rows"},
    {"s3analyze cat -o new.csv.zst old.csv", "bring it to the newest form, compressed"},
    {"s3analyze cat --op GET --from 10s -o get.csv.zst run.csv.zst", "only some of its requests"},
    {0},
};

/* Upper bound on comments above a header line: they are kept until the header is known. */
#define MAX_EARLY_BYTES ((size_t)16 << 20)

static const struct cat_given defaults = {.output = {.path = "-"},
                                          .input = {.say_dropped = options_say_dropped}};

/* ---- The filter, row by row, without a dataset ---- */

/* The names of hosts or clients seen so far, and which of them the filter means. */
struct rowfilter_names {
    const char *kind;   /* "host" */
    const char *wanted; /* exact name, else glob; NULL: all */
    struct intern seen;
    bool *is_meant;  /* by id in `seen` */
    bool has_exact;  /* `wanted` itself was seen, so it is no glob and means no other name */
    bool has_others; /* another name was seen that `wanted` matches as a glob */
};

struct rowfilter {
    const struct cli_list *ops;
    struct intern seen_ops;
    const struct filter_sizes *sizes;
    bool has_rows, has_size; /* there was a row; there was a row of a wanted name and size */
    struct rowfilter_names hosts, clients;
    int64_t from_ns, to_ns; /* starts in [from, to) */
    /* The offset of this capture's thread numbers, and 1 + the highest number so far. Where the
     * rows of another capture begin, set the first to the second: that capture gets threads of its
     * own, as in `analyze`. */
    uint64_t thread_base, thread_top;
};

/* Gives a row its thread number in the result. False: it is more than a capture can have. */
static bool rowfilter_thread(struct rowfilter *f, struct record *r, struct err *e)
{
    uint64_t thread = f->thread_base + r->thread;

    if (thread > UINT32_MAX)
        return err_set(e, "thread numbers past 4294967295 where captures are put together");
    if (thread >= f->thread_top)
        f->thread_top = thread + 1;
    r->thread = (uint32_t)thread;
    return true;
}

/* Relative times count from run_start_ns. `filter` must outlive *f. */
static void rowfilter_init(struct rowfilter *f, const struct load_filter *filter,
                           int64_t run_start_ns)
{
    *f = (struct rowfilter){
        .ops = &filter->ops,
        .sizes = &filter->sizes,
        .hosts = {.kind = "host", .wanted = filter->host},
        .clients = {.kind = "client", .wanted = filter->client},
        .from_ns = filter->from.given ? filter_time_at(&filter->from, run_start_ns) : INT64_MIN,
        .to_ns = filter->to.given ? filter_time_at(&filter->to, run_start_ns) : INT64_MAX,
    };
}

static void names_fini(struct rowfilter_names *names)
{
    intern_fini(&names->seen);
    free(names->is_meant);
}

static void rowfilter_fini(struct rowfilter *f)
{
    intern_fini(&f->seen_ops);
    names_fini(&f->hosts);
    names_fini(&f->clients);
}

/* Decides whether the filter means a new name. */
static bool judge(struct rowfilter_names *names, uint32_t id, struct err *e)
{
    const char *name = names->seen.strings[id].p;

    if (!mem_room(&names->is_meant, names->seen.cap, e))
        return false;
    bool is_exact = strcmp(name, names->wanted) == 0;
    /* An exact name goes before a glob, but rows that match the glob may have been kept already. */
    if (is_exact && names->has_others)
        return err_set(
            e,
            "\"%s\" is the name of a %s, and as a pattern it stands for others: put a \\ "
            "before each [ * ?",
            name, names->kind);
    names->is_meant[id] =
        is_exact || (!names->has_exact && filter_name_matches(names->wanted, name));
    names->has_exact |= is_exact;
    names->has_others |= names->is_meant[id] && !is_exact;
    return true;
}

static inline bool is_meant(struct rowfilter_names *names, struct slice name, bool *meant,
                            struct err *e)
{
    *meant = true;
    if (!names->wanted)
        return true;
    size_t n = names->seen.n;
    uint32_t id = intern_add(&names->seen, name);
    if (id == INTERN_NONE)
        return mem_none(e);
    if (id == n && !judge(names, id, e))
        return false;
    *meant = names->is_meant[id];
    return true;
}

/* Sets *keep for a row. False: *e says why it cannot. */
static bool rowfilter_row(struct rowfilter *f, const struct record *r, bool *keep, struct err *e)
{
    bool host, client, op = true;

    if (!is_meant(&f->hosts, r->endpoint, &host, e) ||
        !is_meant(&f->clients, r->client, &client, e))
        return false;
    if (f->ops->n) {
        uint32_t id = intern_add(&f->seen_ops, r->op);
        if (id == INTERN_NONE)
            return mem_none(e);
        op = filter_op_matches(f->ops->v, f->ops->n, f->seen_ops.strings[id].p);
    }
    *keep = host && client && op && filter_size_matches(f->sizes, r->bytes);
    f->has_rows = true;
    f->has_size |= *keep;
    *keep = *keep && r->start_ns >= f->from_ns && r->start_ns < f->to_ns;
    return true;
}

static bool check_names(const struct rowfilter_names *names, struct err *e)
{
    for (size_t i = 0; i < names->seen.n; i++)
        if (names->is_meant[i])
            return true;
    return names->seen.n == 0 ||
           filter_list_known(filter_interned(&names->seen), names->kind, names->wanted, e);
}

/* After the last row. False: no row had one of the operations, the host or the client of the
 * filter; *e lists the known ones. */
static bool rowfilter_check(const struct rowfilter *f, struct err *e)
{
    if (f->seen_ops.n > 0 &&
        !filter_ops_known(filter_interned(&f->seen_ops), f->ops->v, f->ops->n, e))
        return false;
    if (!check_names(&f->hosts, e) || !check_names(&f->clients, e))
        return false;
    if (f->sizes->given && f->has_rows && !f->has_size)
        return err_set(e, "no requests of %s (--size); analyze -v shows the sizes",
                       filter_sizes_text(f->sizes).s);
    return true;
}

/* The state of a run of the command. */
struct cat {
    const struct cat_given *options;
    struct rowfilter filter;
    struct capture_out out;
    struct err error; /* a failure that is not due to the capture being read */
    bool intended;
    char *early_comments; /* lines from above the header line */
    size_t n_early, early_room;
};

/* ---- The first request ---- */

static bool is_pipe(const char *path)
{
    struct stat st;

    return strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode));
}

/* Lowers *start_ns to the earliest start of the requests that the name filters keep. */
static void first_start(const struct survey *s, const struct load_filter *f, int64_t *start_ns)
{
    for (size_t i = 0; i < s->n_groups; i++) {
        const struct survey_group *g = &s->groups[i];
        if (g->sum.first_start_ns < *start_ns &&
            filter_op_matches(f->ops.v, f->ops.n, s->ops.v[g->op].name) &&
            filter_name_matches(f->host, s->hosts.v[g->host].name) &&
            filter_name_matches(f->client, s->clients.v[g->client].name))
            *start_ns = g->sum.first_start_ns;
    }
}

/* Facts that the filters need before any row is read. */
struct foresight {
    int64_t start_ns;              /* relative times count from here */
    bool exact_host, exact_client; /* the name itself occurs: it is not a glob */
};

/* Passes over all captures, if the filters need it. */
static bool look_ahead(const struct cat_given *o, const struct cli_args *args,
                       struct progress *progress, struct foresight *f, struct err *e)
{
    bool relative = o->filter.from.is_relative || o->filter.to.is_relative;
    const struct recfile_options how = {
        .salvage = o->input.salvage, .progress = progress_update, .progress_ctx = progress};
    bool ok = true;

    *f = (struct foresight){.start_ns = INT64_MAX};
    if (!relative && !o->filter.host && !o->filter.client)
        return true;
    for (size_t i = 0; i < args->n_operands && ok; i++) {
        struct survey s;
        bool pipe = is_pipe(args->operands[i]);

        if (pipe && !relative)
            continue; /* rowfilter reports an error if this turns out wrong */
        if (pipe)
            return err_set(e,
                           "%s: times into the run take a first pass, and this can be read only "
                           "once: give --from and --to as times such as 2026-11-21T05:41:32Z, or "
                           "save it to a file",
                           args->operands[i]);
        ok = survey_read(&s, args->operands[i], &how, false, e);
        if (ok) {
            first_start(&s, &o->filter, &f->start_ns);
            f->exact_host |= o->filter.host && survey_find(&s.hosts, o->filter.host);
            f->exact_client |= o->filter.client && survey_find(&s.clients, o->filter.client);
        }
        survey_free(&s);
    }
    return ok;
}

/* ---- Called by the reader ---- */

/* Fails with an error that is not due to the capture. */
static bool fail(struct cat *c, struct err *e)
{
    return err_pass(e, &c->error);
}

static bool put_comment(struct cat *c, const char *line, size_t n)
{
    size_t skip = n > 1 && line[1] == ' ' ? 2 : 1;

    return recwrite_comment(c->out.writer, line + skip, n - skip, &c->error);
}

static bool put_early_comments(struct cat *c)
{
    const char *line = c->early_comments;
    bool ok = true;

    for (size_t left = c->n_early; left && ok;) {
        size_t n = (size_t)((const char *)memchr(line, '\n', left) - line);
        ok = put_comment(c, line, n);
        line += n + 1;
        left -= n + 1;
    }
    c->n_early = 0;
    return ok;
}

static bool keep_early_comment(struct cat *c, struct slice line)
{
    if (line.n + 1 > MAX_EARLY_BYTES - c->n_early)
        return err_set(&c->error, "more than 16 MiB of comments above the header line");
    if (!mem_fit(&c->early_comments, &c->early_room, c->n_early + line.n + 1, &c->error))
        return false;
    memcpy(c->early_comments + c->n_early, line.p, line.n);
    c->n_early += line.n + 1;
    c->early_comments[c->n_early - 1] = '\n';
    return true;
}

static bool on_header(void *ctx, const struct recfile_layout *layout, struct err *e)
{
    struct cat *c = ctx;
    bool intended = layout->field[COL_INTENDED] >= 0;
    bool ok = true;

    c->filter.thread_base = c->filter.thread_top;
    if (!c->out.writer) {
        ok = capture_out_start(&c->out, intended, tasks_n_threads(0), &c->error) &&
             put_early_comments(c);
        c->intended = intended;
    } else if (intended && !c->intended) {
        /* The additional column needs a new header line, at which a reader starts a new offset of
         * threads. */
        ok = recwrite_header(c->out.writer, true, &c->error);
        c->intended = true;
        c->filter.thread_base = c->filter.thread_top = 0;
    }
    return ok || fail(c, e);
}

static bool unit_rows(void *ctx, void *unit, const struct record *rows, size_t n, struct err *e)
{
    struct cat *c = ctx;
    bool keep = false;

    (void)unit;
    for (size_t i = 0; i < n; i++) {
        struct record r = rows[i];

        if (!rowfilter_thread(&c->filter, &r, e))
            return false;
        if (!rowfilter_row(&c->filter, &r, &keep, &c->error))
            return fail(c, e);
        if (keep && !recwrite_row(c->out.writer, &r, &c->error))
            return fail(c, e);
    }
    return true;
}

static bool on_comment(void *ctx, struct slice line, struct err *e)
{
    struct cat *c = ctx;
    bool ok = c->out.writer ? put_comment(c, line.p, line.n) : keep_early_comment(c, line);

    return ok || fail(c, e);
}

/* ---- The command ---- */

/* Reports what --salvage did, in the capture and on standard error. */
static bool __attribute__((format(printf, 2, 3))) say(struct cat *c, const char *fmt, ...)
{
    char *text, *line = NULL;
    va_list args;

    va_start(args, fmt);
    bool ok = mem_vformat(&text, &c->error, fmt, args) &&
              mem_format(&line, &c->error, "s3analyze cat --salvage: %s", text);
    va_end(args);
    if (ok)
        visible_line(stderr, "%s", line);
    ok = ok && recwrite_comment(c->out.writer, line, strlen(line), &c->error);
    free(text);
    free(line);
    return ok;
}

static bool say_dropped(struct cat *c, const char *path, const struct recfile_info *info)
{
    char *line;
    bool ok = recorded_damage_line(&line, info, &c->error) &&
              (line == NULL || recwrite_comment(c->out.writer, line, strlen(line), &c->error));

    free(line);
    load_say_dropped(&c->options->input, info);
    return ok && (info->n_unverified == 0 ||
                  say(c, "%s of frames of %s that fail their checksum",
                      units_counted((int64_t)info->n_unverified, "row").s, path));
}

static bool copy(struct cat *c, const struct cli_args *args, struct progress *progress,
                 struct err *e)
{
    const struct recfile_options how = {.salvage = c->options->input.salvage,
                                        .progress = progress_update,
                                        .progress_ctx = progress};
    const struct recfile_sink sink = {
        .ctx = c, .unit_rows = unit_rows, .header = on_header, .comment = on_comment};

    for (size_t i = 0; i < args->n_operands; i++) {
        struct recfile_info info;
        const char *path = args->operands[i];
        bool ok = recfile_read(path, &how, &sink, &info, e);

        if (ok)
            ok = say_dropped(c, path, &info);
        if (c->error.msg[0])
            *e = c->error;
        if (!ok)
            return false;
    }
    return rowfilter_check(&c->filter, e);
}

static bool cat(const struct cat_given *o, const struct cli_args *args, struct err *e)
{
    struct cat c = {.options = o};
    struct progress progress;
    struct foresight ahead;

    progress_init(&progress, o->input.quiet);
    bool ok = capture_out_check(&o->output, e) && look_ahead(o, args, &progress, &ahead, e);
    if (ok) {
        rowfilter_init(&c.filter, &o->filter, ahead.start_ns);
        if (o->filter.from.given && o->filter.to.given && c.filter.from_ns >= c.filter.to_ns)
            ok = err_set(e, ANALYSIS_TIMES_CROSSED);
        c.filter.hosts.has_exact = ahead.exact_host;
        c.filter.clients.has_exact = ahead.exact_client;
        ok = ok && capture_out_open(&c.out, &o->output, e);
    }
    ok = ok && capture_out_finish(&c.out, copy(&c, args, &progress, e), e);
    progress_fini(&progress);
    rowfilter_fini(&c.filter);
    free(c.early_comments);
    return ok;
}

static int run(const struct cli_args *args, void *options)
{
    const struct cat_given *o = options;
    struct err e = {0};

    if (!load_check_times(&o->filter, &e) ||
        !outfile_spares(o->output.path, args->operands, args->n_operands, &e))
        return cli_wrong_usage(args, "%s", e.msg);
    bool ok = options_have_rows(args, &e) && cat(o, args, &e);
    return ok ? EXIT_DONE : cli_failed(args, &e);
}

const struct cli_command cmd_cat = {
    .name = "cat",
    .summary = "write captures of any age in the newest form",
    .text = "Writes the requests of a capture as g4, tab-separated, plain or compressed. Several "
            "captures, or several in one file, become one. The threads of each further one get "
            "numbers above those before.",
    COMMANDS_ON_CAPTURES(struct cat_given),
};
