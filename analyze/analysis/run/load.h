/* Reads captures as one dataset and analyses it, according to a command's options. */
#ifndef S3_ANALYZE_ANALYSIS_RUN_LOAD_H
#define S3_ANALYZE_ANALYSIS_RUN_LOAD_H

#include "analyze/analysis/sums/sums.h"
#include "analyze/data/dataset.h"
#include "analyze/summary/model/model.h"
#include "libcommon/cli.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How to read the captures. */
struct load_input {
    bool salvage, quiet, together;
    int64_t threads; /* 0: one per core */
    /* Gets a line for each reason for which --salvage left something out; may be called by several
     * threads. NULL: the report says it. */
    void (*say_dropped)(const char *line);
};

/* Selects the requests to take. */
struct load_filter {
    struct cli_list ops;
    const char *host, *client; /* exact name, else glob; NULL: all */
    struct filter_sizes sizes;
    struct filter_time from, to;
};

/* How to analyse the requests. */
struct load_analysis {
    int64_t segment_ns; /* 0: chosen */
    int64_t skip_ns;
    int range;              /* enum range_kind */
    bool steady;            /* leave out the warm-up */
    int64_t co_interval_ns; /* 0: no correction for coordinated omission */
    enum analysis_depth depth;
};

/* Returns false for wrong usage: no request can start at or after --from and before --to. */
bool load_check_times(const struct load_filter *filter, struct err *e);

/* Reads the captures as one dataset, with a progress bar; no file may be given twice. Fails also if
 * no request is left. The caller calls dataset_free, on failure too. */
bool load_dataset(struct dataset *d, const char *const *paths, size_t n_paths,
                  const struct load_filter *filter, const struct load_input *input, struct err *e);

/* Calls input->say_dropped for what was left out of a file. */
void load_say_dropped(const struct load_input *input, const struct recfile_info *info);

/* True if the inputs of the dataset belong to one run: each one with requests overlaps another one.
 * If not, *e names one that does not, and what to type. */
bool load_ran_together(const struct dataset *d, const struct load_input *input, struct err *e);

/* Returns the options of analysis_run for the structs above. */
struct analysis_options load_analysis_options(const struct load_filter *filter,
                                              const struct load_analysis *analysis,
                                              const struct load_input *input);

/* Analyses the dataset with these options. With `steady` it analyses twice, and leaves out the
 * warm-up that the first analysis found (docs/how-the-numbers-are-made.md, section 7; in a mixed
 * run, the longest). full_series: see analysis_options. The caller calls analysis_free in any case.
 */
bool load_run_analysis(struct analysis *a, struct dataset *d, const struct load_filter *filter,
                       const struct load_analysis *analysis, const struct load_input *input,
                       bool full_series, struct err *e);

/* Fills the sums of a dataset, with the intervals that its requests give. False: *e says why. The
 * caller calls sums_free in any case. */
bool load_sums_of_dataset(struct sums *s, struct dataset *d, const struct load_input *input,
                          struct err *e);

#endif
