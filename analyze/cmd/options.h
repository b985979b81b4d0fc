/* What every command that reads captures shares: the options that choose and cut, and reading with
 * a progress bar. */
#ifndef S3_LOAD_H
#define S3_LOAD_H

#include "analysis.h"
#include "autoterm.h"
#include "cli.h"
#include "dataset.h"
#include "err.h"

#include <stdbool.h>
#include <stdint.h>

/* How to read. */
struct load_input {
    bool salvage, quiet, together;
    int64_t threads; /* 0: one per core */
};

/* A point in time: absolute, or ns since the run's first start. */
struct load_time {
    bool given, is_relative;
    int64_t ns;
};

/* Which requests to take. */
struct load_filter {
    struct cli_list ops;
    const char *host, *client; /* exact name, else glob; NULL: all */
    struct load_time from, to;
};

/* How to analyse them. */
struct load_analysis {
    int64_t segment_ns; /* 0: chosen */
    int64_t skip_ns;
    int range;              /* enum range_kind */
    bool steady;            /* without warm-up */
    int64_t co_interval_ns; /* 0: no correction for coordinated omission */
    bool without_access;    /* see analysis_options; a command says so, not its user */
};

/* The settings of autoterm that a run is replayed with. */
struct load_autoterm {
    int64_t dur_ns;
    double pct;
};
#define LOAD_AUTOTERM_DEFAULTS                                                                     \
    {                                                                                              \
        AUTOTERM_DEFAULT_DUR_NS, AUTOTERM_DEFAULT_PCT                                              \
    }

/* Option tables of the structs above, for a command's groups. --threads is apart, since not every
 * command that reads has a use for it. */
extern const struct cli_option load_input_table[];
extern const struct cli_option load_threads_table[];
extern const struct cli_option load_together_table[]; /* where several captures are one run */
extern const struct cli_option load_filter_table[];
extern const struct cli_option load_analysis_table[];
extern const struct cli_option load_autoterm_table[];

/* False, for wrong usage: no request can start from --from on and before --to. */
bool load_check_times(const struct load_filter *filter, struct err *e);

/* Reads the captures, no file twice, as one dataset, with a progress bar. The caller calls
 * dataset_free, on failure too. */
bool load_dataset(struct dataset *d, const char *const *paths, size_t n_paths,
                  const struct load_filter *filter, const struct load_input *input, struct err *e);

/* Whether the inputs of the dataset belong to one run: each with requests overlaps another one.
 * False: *e names one that does not, and what to type. */
bool load_ran_together(const struct dataset *d, const struct load_input *input, struct err *e);

/* The options of analysis_run that the structs above stand for. */
struct analysis_options load_analysis_options(const struct load_filter *filter,
                                              const struct load_analysis *analysis,
                                              const struct load_input *input);

/* Analyses the dataset with those options; with `steady` once more, without the warm-up that the
 * first time found (statistics.md, 1d; of a mixed run, the longest). full_series: see
 * analysis_options. The caller calls analysis_free in any case. */
bool load_run_analysis(struct analysis *a, struct dataset *d, const struct load_filter *filter,
                       const struct load_analysis *analysis, const struct load_input *input,
                       bool full_series, struct err *e);

#endif
