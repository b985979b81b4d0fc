/* The figures of a run from an aggregated capture (docs/aggregated-captures.md): exact figures, a
 * series by second with corrected times, figures of 10-second groups, and what is not known.
 * aggregate_analyze makes an analysis of them. */
#ifndef S3_ANALYZE_AGGREGATED_AGGREGATE_H
#define S3_ANALYZE_AGGREGATED_AGGREGATE_H

#include "analyze/data/slices.h"
#include "analyze/model/model.h"
#include "analyze/read/aggfile.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The series of an entry: whole clock seconds, without the first two and the last two. */
struct aggregate_window {
    bool present;
    int shift_s; /* add this to the labels */
    bool shift_is_sure;
    bool misses_early; /* the series lacks requests that started before it did */
    int64_t early_s;   /* if so: those that started before this second since 1970 */
    int64_t span_s;    /* from the first second to the end of the last */
    bool is_complete;  /* no second was lost in a merge */
    double lost_bytes, lost_objects;
    double mean_bytes_per_s, mean_objects_per_s; /* over the seconds that are present */
    bool by_bytes;                   /* the next three are chosen by bytes; else by objects */
    size_t fastest, median, slowest; /* indexes of the entry's seconds */
};

enum aggregate_kind { AGGREGATE_NO_GROUPS, AGGREGATE_SINGLE, AGGREGATE_MULTI };

/* Smallest and largest value of a percentile over the groups. */
struct aggregate_range {
    double min_ms, max_ms;
};

/* Durations as far as the groups have them, those of failed requests included. */
struct aggregate_latency {
    enum aggregate_kind kind;
    int64_t n_requests; /* requests that the groups say they hold */
    bool is_complete;   /* the groups hold all requests of the entry */
    size_t n_groups, n_empty_groups;
    double mean_ms;                   /* NaN: not known */
    double stddev_ms, min_ms, max_ms; /* AGGREGATE_SINGLE; as exact as the mean */
    int64_t n_smallest_group;         /* AGGREGATE_SINGLE, like p50, p90, p99 */
    struct aggregate_range p50, p90, p99;
    bool is_one_group;             /* one group holds all requests: its percentiles are the run's */
    struct aggfile_class *classes; /* AGGREGATE_MULTI, if is_complete */
    size_t n_classes;
};

/* An entry of the file and what follows from it. */
struct aggregate_part {
    const struct aggfile_entry *x;
    char **messages; /* first errors, normalised: without what differs between requests */
    size_t n_messages;
    int64_t duration_ns;
    bool ok_bytes_known, ok_objects_known; /* amounts of successful requests */
    int64_t ok_bytes, ok_objects;
    enum role role; /* where operations overlap, preparation is what ended before all others */
    struct aggregate_window window;
    struct aggregate_latency latency;
};

struct aggregate_parts {
    struct aggregate_part *v;
    size_t n;
};

/* A second of a merged file: all operations together, summed over the clients. */
struct aggregate_sum_second {
    int64_t start_s;
    double bytes_per_s, objects_per_s;
    int64_t n_errors;
    size_t n_clients; /* clients that have this second */
};

struct aggregate {
    struct aggfile file;
    bool is_merged;   /* made from several clients' files */
    bool overlaps;    /* operations overlap in time: `total` describes the run */
    size_t n_clients; /* at least 1 */
    struct aggregate_part total;
    struct aggregate_parts ops, hosts, clients;
    struct aggregate_sum_second *sum; /* merged files: by time; else NULL */
    size_t n_sum;
    struct notes warnings;
    struct aggregate_part **in_order; /* operations in the order of the analysis */
};

/* Reports say this where the percentiles of the run are not known. */
#define AGGREGATE_NO_PERCENTILES                                                                   \
    "not in this file: percentiles were averaged by the recorder, over 10-second groups"

/* Reads and checks the file. Fails if it is damaged, if sums do not add up, or if seconds lie
 * outside of the run. The caller calls aggregate_free in any case. */
bool aggregate_load(struct aggregate *a, const char *path, struct err *e);
void aggregate_free(struct aggregate *a);

/* Keeps the operations that `ops` names (filter_op_matches). False: there is no such operation, or
 * out of memory. */
bool aggregate_keep(struct aggregate *a, const char *const *ops, size_t n_ops, struct err *e);

/* Analyses `of` as analysis_run does a dataset. Fills *a, and *d, which stands for the file.
 * Figures that the file lacks are marked absent (struct known). `of` must outlive both; the caller
 * calls analysis_free and dataset_free in any case. Returns false if out of memory.
 *
 * by_second: takes range, throughput and segments of the operations from whole seconds, and adds
 * statistics with their confidence intervals. The throughput is absent where failed requests may be
 * among its bytes and objects. */
bool aggregate_analyze(struct analysis *a, struct dataset *d, const struct aggregate *of,
                       bool by_second, struct err *e);

/* Work as analysis_series and analysis_series_on (analyze/analysis/analysis.h), for an analysis
 * that aggregate_analyze made. If the file knows no second of a row, its objects are NAN and its
 * bytes mean nothing. `party` is an index into a->total.series_of. Parties are known only for all
 * operations together: *n is 0 for a party with op >= 0. */
bool aggregate_series(const struct analysis *a, int op, int party, struct series_row **rows,
                      size_t *n, struct err *e);
bool aggregate_series_on(const struct analysis *a, int op, int party, const struct slice_grid *grid,
                         struct series_row **rows, size_t *n, struct err *e);

/* Returns the start of second i of the part's series, ns since 1970. */
int64_t aggregate_second_ns(const struct aggregate_part *part, size_t i);

/* Returns the smallest size in a class of a->file.sizes, in bytes; the class ends below twice that.
 */
int64_t aggregate_size_floor(const struct aggfile_entry *size);

/* Means over the seconds that all clients of a merged file have, their number, and the first of
 * them in *start_s. `present` is false for other files. */
struct together aggregate_together(const struct aggregate *a, int64_t *start_s);

#endif
