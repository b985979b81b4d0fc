#include "analyze/cmd/archive.h"
#include "analyze/cmd/commands.h"
#include "analyze/render/json/documents.h"
#include "analyze/render/page/pages.h"
#include "analyze/render/report/archive.h"
#include "analyze/tools/archive/cells.h"
#include "libcommon/mem.h"
#include "libcommon/suggest.h"

#include <stdlib.h>

struct table_given {
    struct archive_given common;
    struct cli_list where, by, metric;
    const char *sort;
    int across; /* 0: none */
};

static const char *const across[] = {"none", "label", NULL};

/* Returns the name of a metric. */
static const char *metric_name(size_t i)
{
    return i < RUN_N_COMPARED ? metrics[i].name : NULL;
}

static const struct cli_option own_table[] = {
    {"sort", CLI_STRING, offsetof(struct table_given, sort), "COLUMN",
     .help = "order of the lines; -COLUMN: largest first"},
    {"where", CLI_LIST, offsetof(struct table_given, where), "TEST,...",
     .help = "only lines such as op=GET, p99>20ms, run!=old*"},
    {"across", CLI_CHOICE, offsetof(struct table_given, across), "KEY",
     .help = "whether systems stand side by side", .choices = across},
    {"by", CLI_LIST, offsetof(struct table_given, by), "KEY,...",
     .help = "with --across: what a line is of; default: op,size"},
    {"metric", CLI_LIST, offsetof(struct table_given, metric), "NAME,...",
     .help = "with --across: what to show; default: throughput,p99", .offered = metric_name},
    {0},
};

static const struct cli_group groups[] = {
    {"Lines", NULL, own_table, 0},
    {"Output", NULL, output_csv_table, offsetof(struct table_given, common.output)},
    ARCHIVE_GROUPS(struct table_given)};

static const struct cli_example examples[] = {
    {"s3analyze table nightly/*.csv.zst", "all runs of a folder, oldest first"},
    {"s3analyze table --where op=GET --sort=-p99 nightly/*.csv.zst", "the slowest first"},
    {"s3analyze table --across label main/*.csv.zst pr/*.csv.zst", "systems side by side"},
    {0},
};

static const struct table_given defaults = {.common = ARCHIVE_DEFAULTS};

/* Parses what --across shows. */
static bool parse_cells(const struct table_given *o, struct cells_options *how, struct err *e)
{
    static const char *by[] = {"size"}, *shown[] = {"throughput", "p99"};
    const struct cli_list keys = o->by.n > 0 ? o->by : (struct cli_list){by, 1};
    const struct cli_list figures = o->metric.n > 0 ? o->metric : (struct cli_list){shown, 2};
    bool ok = (keys.n < CELLS_MAX_KEYS && figures.n <= RUN_N_COMPARED) ||
              err_set(e, "too many values of --by or --metric");

    /* Figures of different operations are never of one kind. */
    *how = (struct cells_options){.by = {{.column = &columns[COLUMNS_OP]}}, .n_metrics = figures.n};
    for (size_t i = 0, n = 1; ok && i < keys.n; i++)
        ok = strcmp(keys.v[i], "op") == 0 ||
             columns_parse_order("--by", keys.v[i], &how->by[n++], e);
    for (size_t i = 0; ok && i < figures.n; i++) {
        char known[128] = "";
        size_t k = 0;

        for (; k < RUN_N_COMPARED && strcmp(metrics[k].name, figures.v[i]) != 0; k++)
            suggest_list(known, sizeof known, metrics[k].name);
        ok = k < RUN_N_COMPARED || err_set(e, "--metric %s: there are %s", figures.v[i], known);
        how->metrics[i] = (enum run_metric)k;
    }
    return ok;
}

static bool list(const struct cli_args *args, const struct table_given *o,
                 const struct columns_test *tests, struct columns_order order,
                 const struct cells_options *how, struct err *e)
{
    struct archive a = {0};
    struct cells cells = {0};
    struct columns_table table = {.archive = &a, .csv_safe = o->common.output.csv_safe};
    const struct archive_writers writers = {archive_sheet_table,
                                            o->common.output.json  ? archive_table_json
                                            : o->common.output.csv ? archive_table_csv
                                                                   : NULL,
                                            archive_table_html};
    bool ok =
        archive_read(&a, &o->common, args, o->across ? ARCHIVE_AS_LEAST : ARCHIVE_AS_THEY_ARE, e) &&
        columns_select(&table, tests, o->where.n, order, e) &&
        (!o->across || cells_make(&cells, &table, how, e));

    table.cells = o->across ? &cells : NULL;
    ok = ok && archive_write(&o->common, args, &writers, &table, e);
    cells_free(&cells);
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
    struct cells_options how;
    bool right = true;

    if (!mem_new(&tests, o->where.n, &e))
        return cli_failed(args, &e);
    for (size_t i = 0; right && i < o->where.n; i++)
        right = columns_parse_test(o->where.v[i], &tests[i], &e);
    right = right && (o->sort == NULL || columns_parse_order("--sort", o->sort, &order, &e)) &&
            parse_cells(o, &how, &e) &&
            ((o->across ? o->sort == NULL : o->by.n + o->metric.n == 0) ||
             err_set(&e, "--by and --metric need --across label, and --sort is without it")) &&
            output_check(&o->common.output, &e) && load_check_times(&o->common.filter, &e);
    int status = !right                                  ? cli_wrong_usage(args, "%s", e.msg)
                 : list(args, o, tests, order, &how, &e) ? EXIT_DONE
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
        "has these), and the worst finding of the run. ~ marks a figure with a wide 95 % interval; "
        "-v shows the intervals. What prepared a benchmark or cleaned up after it is left out, "
        "unless --where has a test of op. A file of a folder that cannot be read is named below "
        "the table.\n\n"
        "--where shows only lines that meet all of its tests, which commas separate: "
        "COLUMN=VALUE, or != < <= > >=. The columns are run, start, op, size, threads, hosts, "
        "requests, errors, throughput, objects, p50, p90, p99, finding, label (the system) and "
        "level (rate, else threads). Texts are compared with patterns (run=night-*), times with a "
        "day or a moment (start>=2026-03-14), rates and durations with their units "
        "(throughput<1GiB/s, p99>20ms).\n\n"
        "--across label shows systems side by side: a line for each operation and size (or what "
        "--by names), the median of each system's runs. A folder is a system; of captures in one "
        "folder, those of one s3load --label are. Runs whose settings differ are never taken "
        "together. * marks the best of a line, if the test of cmp says that it is better than "
        "each other system; that takes several runs of each.\n\n"
        "trend says whether the runs became slower; cmp compares two groups of them.",
    COMMANDS_TAKE("CAPTURE|DIR...", 1, CLI_ANY_NUMBER, struct table_given),
};
