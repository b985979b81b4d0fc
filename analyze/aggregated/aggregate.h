/* What an aggregated capture lets us say of a run (docs/aggregated-captures.md): exact figures, a
 * series by second with its times corrected, figures of 10-second groups, and what is not known.
 * aggregate_analyze makes an analysis of it. */
#ifndef S3_ANALYZE_AGGREGATED_AGGREGATE_H
#define S3_ANALYZE_AGGREGATED_AGGREGATE_H

#include "analyze/model/model.h"
#include "analyze/read/aggfile.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The series of an entry: whole clock seconds, without the first two and the last two. */
struct aggregate_window {
    bool present;
    int shift_s; /* to be added to the labels */
    bool shift_is_sure;
    bool misses_early; /* requests that started before the series are not in it */
    int64_t early_s;   /* ... namely before this second since 1970 */
    int64_t span_s;    /* from the first second to the end of the last */
    bool is_complete;  /* no second was lost in a merge */
    double lost_bytes, lost_objects;
    double mean_bytes_per_s, mean_objects_per_s; /* of the seconds that are there */
    bool by_bytes;                   /* how these are chosen: by bytes, else by objects */
    size_t fastest, median, slowest; /* seconds of the entry */
};

enum aggregate_kind { AGGREGATE_NO_GROUPS, AGGREGATE_SINGLE, AGGREGATE_MULTI };

/* Smallest and largest of the groups' own percentiles. */
struct aggregate_range {
    double min_ms, max_ms;
};

/* Durations, as far as the groups tell. Those of failed requests are among them. */
struct aggregate_latency {
    enum aggregate_kind kind;
    int64_t n_requests; /* that the groups say they hold */
    bool is_complete;   /* these are all of the entry */
    size_t n_groups, n_empty_groups;
    double mean_ms;                   /* NaN: not known */
    double stddev_ms, min_ms, max_ms; /* AGGREGATE_SINGLE; exact as the mean is */
    int64_t n_smallest_group;         /* AGGREGATE_SINGLE, as what follows */
    struct aggregate_range p50, p90, p99;
    bool is_one_group; /* one group holds all requests: its percentiles are those of the run */
    struct aggfile_class *classes; /* AGGREGATE_MULTI, where it is complete */
    size_t n_classes;
};

/* An entry and what follows from it. */
struct aggregate_part {
    const struct aggfile_entry *x;
    char **messages; /* first errors, without what differs from one request to the next */
    size_t n_messages;
    int64_t duration_ns;
    bool ok_bytes_known, ok_objects_known; /* of successful requests */
    int64_t ok_bytes, ok_objects;
    bool is_preparation; /* of the run: it ended before the other operations began */
    struct aggregate_window window;
    struct aggregate_latency latency;
};

struct aggregate_parts {
    struct aggregate_part *v;
    size_t n;
};

/* A second of all operations together, added up from the clients of a merged file. */
struct aggregate_sum_second {
    int64_t start_s;
    double bytes_per_s, objects_per_s;
    int64_t n_errors;
    size_t n_clients; /* that have it */
};

struct aggregate {
    struct aggfile file;
    bool is_merged;   /* from several clients */
    bool overlaps;    /* operations overlap in time: `total` is a figure of the run */
    size_t n_clients; /* at least 1 */
    struct aggregate_part total;
    struct aggregate_parts ops, hosts, clients;
    struct aggregate_sum_second *sum; /* merged files: by time */
    size_t n_sum;
    struct note *warnings;
    size_t n_warnings;
    const struct aggregate_part **in_order; /* operations as the analysis has them */
};

/* Where percentiles of the run are not known, the only thing that is said of them. */
#define AGGREGATE_NO_PERCENTILES                                                                   \
    "not in this file: percentiles were averaged by the recorder, over 10-second groups"

/* Reads and checks the file: sums that do not add up, and seconds outside of the run, fail as
 * damage does. The caller calls aggregate_free in any case. */
bool aggregate_load(struct aggregate *a, const char *path, struct err *e);
void aggregate_free(struct aggregate *a);
void aggregate_free_part(struct aggregate_part *part);

/* Analyses it as analysis_run does a dataset: *a and *d, which stands for the file, are filled, but
 * what the file does not tell is absent there (struct known). It must outlive both; the caller
 * calls analysis_free and dataset_free in any case. False: out of memory. */
bool aggregate_analyze(struct analysis *a, struct dataset *d, struct aggregate *of, struct err *e);

/* Start of second i of the part's series, ns since 1970. */
int64_t aggregate_second_ns(const struct aggregate_part *part, size_t i);

/* The smallest size of a class of a->file.sizes, in bytes; the first above it is twice that. */
int64_t aggregate_size_floor(const struct aggfile_entry *size);

/* Of the seconds that all clients of a merged file have: how many, their means, and the first one.
 * `present` is false of other files. */
struct together aggregate_together(const struct aggregate *a, int64_t *start_s);

#endif
