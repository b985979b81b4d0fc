#include "analyze/cmd/options.h"

#include "analyze/analysis/confidence.h"
#include "analyze/base/progress.h"
#include "analyze/read/recfile.h"
#include "analyze/read/rowcsv.h"
#include "analyze/write/outfile.h"
#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const range_names[] = {"auto", "all", "single", "full", NULL};

/* A moment (RFC 3339), or how far into the run. */
static bool parse_time(const char *text, void *field, struct err *e)
{
    struct load_time *t = field;
    struct err ignored = {""};
    t->given = true;
    if (rfc3339_parse(text, strlen(text), &t->ns)) {
        t->is_relative = false;
        return true;
    }
    t->is_relative = true;
    if (units_parse_duration(text, false, &t->ns, &ignored))
        return true;
    return err_set(e, "expected a time such as 2026-11-21T05:41:32Z, or 90s or 1m30s into the run");
}

const struct cli_option load_input_table[] = {
    {.name = "salvage",
     .type = CLI_FLAG,
     .offset = offsetof(struct load_input, salvage),
     .help = "count and skip damaged rows instead of stopping"},
    {.name = "quiet",
     .letter = 'q',
     .type = CLI_FLAG,
     .offset = offsetof(struct load_input, quiet),
     .help = "no progress bar"},
    {0},
};

const struct cli_option load_threads_table[] = {
    {.name = "threads",
     .type = CLI_INT,
     .offset = offsetof(struct load_input, threads),
     .arg = "N",
     .help = "threads to work with; 0: one per core",
     .min = 0,
     .max = 1024},
    {0},
};

const struct cli_option load_together_table[] = {
    {.name = "together",
     .type = CLI_FLAG,
     .offset = offsetof(struct load_input, together),
     .help = "captures are one run though they do not overlap"},
    {0},
};

const struct cli_option load_filter_table[] = {
    {.name = "analyze.op",
     .alias = "op",
     .type = CLI_LIST,
     .offset = offsetof(struct load_filter, ops),
     .arg = "OP,...",
     .help = "only these operations"},
    {.name = "analyze.host",
     .alias = "host",
     .type = CLI_STRING,
     .offset = offsetof(struct load_filter, host),
     .arg = "GLOB",
     .help = "only these hosts"},
    {.name = "analyze.client",
     .alias = "client",
     .type = CLI_STRING,
     .offset = offsetof(struct load_filter, client),
     .arg = "GLOB",
     .help = "only these clients"},
    {.name = "from",
     .type = CLI_CUSTOM,
     .offset = offsetof(struct load_filter, from),
     .arg = "TIME",
     .help = "only from then on: RFC 3339, or 10s after start",
     .parse = parse_time},
    {.name = "to",
     .type = CLI_CUSTOM,
     .offset = offsetof(struct load_filter, to),
     .arg = "TIME",
     .help = "only what starts before that",
     .parse = parse_time},
    {0},
};

const struct cli_option load_analysis_table[] = {
    {.name = "analyze.dur",
     .alias = "dur",
     .type = CLI_DURATION,
     .offset = offsetof(struct load_analysis, segment_ns),
     .arg = "DUR",
     .help = "length of a segment; default: by the run's length",
     .min = 1,
     .max = INFINITY},
    {.name = "analyze.skip",
     .alias = "skip",
     .type = CLI_DURATION,
     .offset = offsetof(struct load_analysis, skip_ns),
     .arg = "DUR",
     .help = "leave out the first part of each operation",
     .min = 0,
     .max = INFINITY},
    {.name = "range",
     .type = CLI_CHOICE,
     .offset = offsetof(struct load_analysis, range),
     .arg = "KIND",
     .help = "which time counts",
     .choices = range_names},
    {.name = "steady",
     .type = CLI_FLAG,
     .offset = offsetof(struct load_analysis, steady),
     .help = "leave out the warm-up, where there is one"},
    {.name = "co-interval",
     .type = CLI_DURATION,
     .offset = offsetof(struct load_analysis, co_interval_ns),
     .arg = "T",
     .help = "correct for coordinated omission: one request every T",
     .min = 1,
     .max = INFINITY},
    {0},
};

const struct cli_option load_autoterm_table[] = {
    {.name = "autoterm.dur",
     .type = CLI_DURATION,
     .offset = offsetof(struct load_autoterm, dur_ns),
     .arg = "DUR",
     .help = "how long it must have been stable",
     .min = 1,
     .max = INFINITY},
    {.name = "autoterm.pct",
     .type = CLI_PCT,
     .offset = offsetof(struct load_autoterm, pct),
     .arg = "PCT",
     .help = "within how much of the last speed",
     .min = 0,
     .max = INFINITY},
    {0},
};
