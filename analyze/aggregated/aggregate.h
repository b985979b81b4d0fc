/* What an aggregated capture lets us say of a run (docs/aggregated-captures.md): beside struct
 * analysis, which is made of requests, a model of its own. It holds exact figures, a series by
 * second with its times corrected, figures of 10-second groups, and marks what is not known. There
 * are no percentiles of the run in it. */
#ifndef S3_ANALYZE_AGGREGATED_AGGREGATE_H
#define S3_ANALYZE_AGGREGATED_AGGREGATE_H

#include "analyze/findings/finding.h"
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

struct aggregate_warning {
    const char *code; /* static */
    const char *op;   /* borrowed; NULL: of the file */
    char *message;
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
    struct aggregate_warning *warnings;
    size_t n_warnings;
};

/* Reads and checks the file: sums that do not add up, and seconds outside of the run, fail as
 * damage does. The caller calls aggregate_free in any case. */
bool aggregate_load(struct aggregate *a, const char *path, struct err *e);
void aggregate_free(struct aggregate *a);

/* Findings of its operations: of throughput and errors by second, and of the hosts' shares. Appends
 * to *out, ranked. False: out of memory. */
bool aggregate_find(struct findings *out, const struct aggregate *a, struct err *e);

/* Message i of the entry's first errors, without what differs from one request to the next: as
 * errnorm_message. `out` holds ERRNORM_MAX_BYTES. */
size_t aggregate_message(const struct aggfile_entry *x, size_t i, char *out);

/* Start of second i of the part's series, ns since 1970. */
int64_t aggregate_second_ns(const struct aggregate_part *part, size_t i);

/* The smallest size of a class of a->file.sizes, in bytes; the first above it is twice that. */
int64_t aggregate_size_floor(const struct aggfile_entry *size);

/* Rates over the whole time of the part, of all requests, failed ones included; NaN: it has no
 * length. */
double aggregate_bytes_per_s(const struct aggregate_part *part);
double aggregate_objects_per_s(const struct aggregate_part *part);
double aggregate_requests_per_s(const struct aggregate_part *part);

/* Of the seconds that all clients of a merged file have: the first, how many, and their means.
 * False: none. */
struct aggregate_common {
    int64_t start_s;
    size_t n_seconds;
    double bytes_per_s, objects_per_s;
};
bool aggregate_common(const struct aggregate *a, struct aggregate_common *common);

#endif
