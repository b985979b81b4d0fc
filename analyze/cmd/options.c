#include "analyze/cmd/options.h"

#include "analyze/analysis/run/load.h"
#include "libcommon/units.h"
#include "libcommon/visible.h"

#include <math.h>
#include <string.h>

void options_say_dropped(const char *line)
{
    visible_line(stderr, "s3analyze --salvage: %s", line);
}

const struct cli_option load_input_table[] = {
    {"salvage", CLI_FLAG, offsetof(struct load_input, salvage),
     .help = "count and skip damaged rows instead of stopping"},
    {"quiet", CLI_FLAG, offsetof(struct load_input, quiet), .help = "no progress bar",
     .letter = 'q'},
    {0},
};

const struct cli_option load_threads_table[] = {
    {"threads", CLI_INT, offsetof(struct load_input, threads), "N",
     .help = "threads to work with; 0: one per core", .min = 0, .max = 1024},
    {0},
};

const struct cli_option load_together_table[] = {
    {"together", CLI_FLAG, offsetof(struct load_input, together),
     .help = "captures are one run, though they do not overlap"},
    {0},
};

const struct cli_option load_filter_table[] = {
    {"analyze.op", CLI_LIST, offsetof(struct load_filter, ops), "OP,...",
     .help = "only these operations", .alias = "op"},
    {"analyze.host", CLI_STRING, offsetof(struct load_filter, host), "GLOB",
     .help = "only these hosts", .alias = "host"},
    {"analyze.client", CLI_STRING, offsetof(struct load_filter, client), "GLOB",
     .help = "only these clients", .alias = "client"},
    {"analyze.size", CLI_CUSTOM, offsetof(struct load_filter, sizes), "SIZE",
     .help = "only these sizes: 1MiB, or 1MiB..4MiB", .parse = filter_parse_sizes, .alias = "size"},
    {"from", CLI_CUSTOM, offsetof(struct load_filter, from), "TIME",
     .help = "only what starts from then on: 10s, 05:41:32, or RFC 3339",
     .parse = filter_parse_time},
    {"to", CLI_CUSTOM, offsetof(struct load_filter, to), "TIME",
     .help = "only what starts before: 10s, 05:41:32, or RFC 3339", .parse = filter_parse_time},
    {0},
};

const struct cli_option load_analysis_table[] = {
    {"analyze.dur", CLI_DURATION, offsetof(struct load_analysis, segment_ns), "DUR",
     .help = "length of a segment; default: by the run's length", .alias = "dur", .min = 1,
     .max = INFINITY},
    {"analyze.skip", CLI_DURATION, offsetof(struct load_analysis, skip_ns), "DUR",
     .help = "leave out the first part of each operation", .alias = "skip", .min = 0,
     .max = INFINITY},
    {"range", CLI_CHOICE, offsetof(struct load_analysis, range), "KIND",
     .help = "which time counts", .choices = analysis_range_names},
    {"steady", CLI_FLAG, offsetof(struct load_analysis, steady),
     .help = "leave out the warm-up, if there is one"},
    {"co-interval", CLI_DURATION, offsetof(struct load_analysis, co_interval_ns), "T",
     .help = "correct coordinated omission: requests due every T", .min = 1, .max = INFINITY},
    {0},
};

const struct cli_option load_autoterm_table[] = {
    {"autoterm.dur", CLI_DURATION, offsetof(struct load_autoterm, dur_ns), "DUR",
     .help = "how long it must be stable", .min = 1, .max = INFINITY},
    {"autoterm.pct", CLI_PCT, offsetof(struct load_autoterm, pct), "PCT",
     .help = "how far throughputs may differ, in percent", .min = 0, .max = INFINITY},
    {0},
};

const char *options_first(const char *const *paths, size_t n, enum run_basis what)
{
    for (size_t i = 0; i < n; i++)
        if (run_source(paths[i]) == what)
            return paths[i];
    return NULL;
}

bool options_have_rows(const struct cli_args *args, struct err *e)
{
    const char *sums = options_first(args->operands, args->n_operands, RUN_OF_SUMS);
    const char *other = options_first(args->operands, args->n_operands, RUN_OF_AGGREGATES);

    if (sums != NULL)
        return err_set(
            e,
            "%s: this file holds sums by second, not requests, which s3analyze %s needs: "
            "use the capture, if it was kept; analyze, cmp, info, merge and plot read "
            "sums",
            sums, args->command->name);
    return other == NULL ||
           err_set(e,
                   "%s: this is an aggregated capture, without requests, which s3analyze %s needs: "
                   "record with --full; analyze, cmp, info and plot read such files",
                   other, args->command->name);
}

bool options_need_no_requests(const struct cli_args *args, const char *const *more,
                              const char *path, const char *kind, struct err *e)
{
    static const char *const shared[] = {
        "analyze.host", "analyze.client", "analyze.size", "from", "to",
        "analyze.skip", "steady",         "co-interval",  NULL};
    const char *const *const lists[] = {shared, more};

    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (const char *const *name = lists[k]; *name != NULL; name++)
            if (cli_given(args, *name))
                return err_set(e, "%s: --%s needs single requests, which %s does not have", path,
                               *name + (strncmp(*name, "analyze.", 8) == 0 ? 8 : 0), kind);
    return true;
}
