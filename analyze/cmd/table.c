#include "analyze/cmd/archive.h"
#include "analyze/cmd/commands.h"
#include "analyze/render/json/documents.h"
#include "analyze/render/page/pages.h"
#include "analyze/render/report/archive.h"
#include "analyze/tools/archive/columns.h"
#include "libcommon/mem.h"

#include <stdlib.h>

struct table_given {
    struct archive_given common;
    struct cli_list where;
    const char *sort;
};

static const struct cli_option own_table[] = {
    {"sort", CLI_STRING, offsetof(struct table_given, sort), "COLUMN",
     .help = "order of the lines; -COLUMN: largest first"},
    {"where", CLI_LIST, offsetof(struct table_given, where), "TEST,...",
     .help = "only lines such as op=GET, p99>20ms, run!=old*"},
    {0},
};

static const struct cli_group groups[] = {
    {"Lines", NULL, own_table, 0},
    {"Output", NULL, output_csv_table, offsetof(struct table_given, common.output)},
    ARCHIVE_GROUPS(struct table_given)};

static const struct cli_example examples[] = {
    {"s3analyze table nightly/*.csv.zst", "all runs of a folder, oldest first"},
    {"s3analyze table --where op=GET --sort=-p99 nightly/*.csv.zst", "the slowest first"},
    {0},
};

static const struct table_given defaults = {.common = ARCHIVE_DEFAULTS};

static bool list(const struct cli_args *args, const struct table_given *o,
                 const struct columns_test *tests, struct columns_order order, struct err *e)
{
    struct archive a = {0};
    struct columns_table table = {.archive = &a, .csv_safe = o->common.output.csv_safe};
    const struct archive_writers writers = {archive_sheet_table,
                                            o->common.output.json  ? archive_table_json
                                            : o->common.output.csv ? archive_table_csv
                                                                   : NULL,
                                            archive_table_html};
    bool ok = archive_read(&a, &o->common, args, false, e) &&
              columns_select(&table, tests, o->where.n, order, e) &&
              archive_write(&o->common, args, &writers, &table, e);

    free(table.rows);
    archive_free(&a);
    return ok;
}

static int run(const struct cli_args *args, void *options)
{
    const struct table_given *o = options;
    struct err e = {0};
    struct columns_test *tests;
    struct columns_order order = {0};
    bool right = true;

    if (!mem_new(&tests, o->where.n, &e))
        return cli_failed(args, &e);
    for (size_t i = 0; right && i < o->where.n; i++)
        right = columns_parse_test(o->where.v[i], &tests[i], &e);
    right = right && (o->sort == NULL || columns_parse_order(o->sort, &order, &e)) &&
            output_check(&o->common.output, &e) && load_check_times(&o->common.filter, &e);
    int status = !right                            ? cli_wrong_usage(args, "%s", e.msg)
                 : list(args, o, tests, order, &e) ? EXIT_DONE
                                                   : cli_failed(args, &e);
    free(tests);
    return status;
}

const struct cli_command cmd_table = {
    .name = "table",
    .summary = "list many runs, one line for each operation",
    .text =
        "Reads captures, sums and aggregated captures, or all of a folder (*.csv, *.csv.zst, "
        "*.json.zst, *.sums.zst), and lists them by start: size of the objects, threads, hosts, "
        "requests, errors, throughput and percentiles of durations (of response times, if the run "
        "has these), and the worst finding of the run. Behind each figure is the half width of its "
        "95 % confidence interval. What prepared a benchmark or cleaned up after it is left out, "
        "unless --where has a test of op. A file of a "
        "folder that cannot be read is named below the table.\n\n"
        "--where shows only lines that meet all of its tests, which commas separate: "
        "COLUMN=VALUE, or != < <= > >=. The columns are run, start, op, size, threads, hosts, "
        "requests, errors, throughput, objects, p50, p90, p99 and finding. Texts are compared "
        "with patterns (run=night-*), times with a day or a moment (start>=2026-03-14), rates and "
        "durations with their units (throughput<1GiB/s, p99>20ms).\n\n"
        "trend says whether the runs became slower; cmp compares two groups of them.",
    COMMANDS_TAKE("CAPTURE|DIR...", 1, CLI_ANY_NUMBER, struct table_given),
};
