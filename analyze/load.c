#include "load.h"

#include "progress.h"
#include "recfile.h"
#include "rfc3339.h"
#include "row_csv.h"
#include "units.h"

#include <math.h>
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
    {.name = "threads",
     .type = CLI_INT,
     .offset = offsetof(struct load_input, threads),
     .arg = "N",
     .help = "threads that read; 0: one per core",
     .min = 0,
     .max = 1024},
    {.name = "quiet",
     .letter = 'q',
     .type = CLI_FLAG,
     .offset = offsetof(struct load_input, quiet),
     .help = "no progress bar"},
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
     .help = "only what starts then or later: RFC 3339, or 10s",
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
    {0},
};

bool load_dataset(struct dataset *d, const char *const *paths, size_t n_paths,
                  const struct load_filter *filter, const struct load_input *input, struct err *e)
{
    const struct dataset_filter keep = {.ops = filter->ops.v,
                                        .n_ops = filter->ops.n,
                                        .host = filter->host,
                                        .client = filter->client};
    struct progress progress;
    const struct recfile_options options = {.salvage = input->salvage,
                                            .threads = (unsigned)input->threads,
                                            .slow_row = row_csv_parse,
                                            .slow_new = row_csv_new,
                                            .slow_free = row_csv_free,
                                            .progress = progress_update,
                                            .progress_ctx = &progress};
    progress_init(&progress, input->quiet);
    bool ok = dataset_load(d, paths, n_paths, &keep, &options, e);
    progress_fini(&progress);
    return ok;
}

struct analysis_options load_analysis_options(const struct load_filter *filter,
                                              const struct load_analysis *analysis,
                                              const struct load_input *input)
{
    return (struct analysis_options){
        .segment_ns = analysis->segment_ns,
        .skip_ns = analysis->skip_ns,
        .has_from = filter->from.given,
        .has_to = filter->to.given,
        .from_is_relative = filter->from.is_relative,
        .to_is_relative = filter->to.is_relative,
        .from_ns = filter->from.ns,
        .to_ns = filter->to.ns,
        .range = (enum range_kind)analysis->range,
        .threads = (unsigned)input->threads,
    };
}
