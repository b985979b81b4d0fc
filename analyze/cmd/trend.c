#include "analyze/tools/archive/trend.h"
#include "analyze/cmd/archive.h"
#include "analyze/cmd/commands.h"
#include "analyze/render/json/documents.h"
#include "analyze/render/page/pages.h"
#include "analyze/render/report/archive.h"
#include "libcommon/visible.h"

struct trend_given {
    struct archive_given common;
    bool check_last;
};

static const struct cli_option own_table[] = {
    {"check-last", CLI_FLAG, offsetof(struct trend_given, check_last),
     .help = "exit status 0: the last run is no worse, 1: it is, 3: undecided"},
    {0},
};

static const struct cli_group groups[] = {{"Answer", NULL, own_table, 0},
                                          ARCHIVE_GROUPS(struct trend_given)};

static const struct cli_example examples[] = {
    {"s3analyze trend nightly/*.csv.zst", "when did it become slower?"},
    {"s3analyze trend --html trend.html nightly/*.csv.zst", "a page with charts"},
    {"s3analyze trend --check-last nightly/*.csv.zst", "for a nightly job"},
    {0},
};

static const struct cli_exit exits[] = {
    {"1, 3",
     "with --check-last also: the newest level is worse, or the last run fails; it is undecided"},
    {0},
};

static const struct trend_given defaults = {.common = ARCHIVE_DEFAULTS};

/* Names unread files on standard error, too: a job's report may go to a file that nobody reads. */
static void warn_of_unread(const struct archive *a)
{
    for (size_t i = 0; i < a->n_unread; i++)
        visible_line(stderr, "s3analyze: %s", a->unread[i].why);
}

static bool judge(const struct cli_args *args, const struct trend_given *o, enum exit_code *code,
                  struct err *e)
{
    struct archive a = {0};
    struct trend t = {0};
    const struct archive_writers writers = {trend_sheet, o->common.output.json ? trend_json : NULL,
                                            trend_html};
    bool ok = archive_read(&a, &o->common, args, ARCHIVE_AS_SUMS, e) && trend_find(&t, &a, e);

    t.shows_last = o->check_last;
    *code = o->check_last ? t.last : EXIT_DONE;
    if (ok && o->check_last)
        warn_of_unread(&a);
    ok = ok && archive_write(&o->common, args, &writers, &t, e);
    trend_free(&t);
    archive_free(&a);
    return ok;
}

static int run(const struct cli_args *args, void *options)
{
    const struct trend_given *o = options;
    struct err e = {0};
    enum exit_code code;

    if (!output_check(&o->common.output, &e) || !load_check_times(&o->common.filter, &e))
        return cli_wrong_usage(args, "%s", e.msg);
    return judge(args, o, &code, &e) ? (int)code : cli_failed(args, &e);
}

const struct cli_command cmd_trend = {
    .name = "trend",
    .summary = "say when runs of equal settings became slower or faster",
    .text =
        "Reads captures, sums and aggregated captures, or all of a folder, and groups the runs "
        "that have equal settings (the settings that cmp compares). In each group, by the runs' "
        "start, it finds where the level of throughput (objects/s where sizes differ or there are "
        "no bytes), p50, p99 or errors of an operation changed.\n\n"
        "The runs are also put in random order many times. A change is reported only if fewer than "
        "4.2 % of the orders show one as strong, in any metric; p is that share. So more metrics "
        "give no more false changes. A level has at least 3 runs: a single run that is far off is "
        "no change. Fewer than 8 runs show none.\n\n"
        "--check-last is for a nightly job, and looks at the group of the newest run. The status "
        "is 1 while the last level of an operation is slower or has more errors than the one "
        "before. It is 1, too, if no request of the last run succeeded, or none in its last tenth. "
        "It is 3 if there are fewer than 8 runs, or if the last run alone is worse than noise "
        "explains, has too few requests or cannot be read. It is also 3 if the last level is worse "
        "by less than cmp takes for the same, and has fewer than 8 runs or a p above 0.001. Else "
        "it is 0. Files of a folder that cannot be read are named on standard error; one that was "
        "written before the newest run began does not count. To accept a new level, give only the "
        "runs since then.",
    COMMANDS_TAKE("CAPTURE|DIR...", 1, CLI_ANY_NUMBER, struct trend_given),
    .exits = exits,
};
