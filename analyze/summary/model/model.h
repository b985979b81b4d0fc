/* The result model of `s3analyze analyze`: everything a report can say, nothing about how it looks.
 * Section numbers are those of docs/how-the-numbers-are-made.md. Times are ns since the Unix epoch,
 * durations ns, rates per second, sizes bytes. A struct with a `present` flag that is false means
 * null. */
#ifndef S3_ANALYZE_SUMMARY_MODEL_MODEL_H
#define S3_ANALYZE_SUMMARY_MODEL_MODEL_H

#include "analyze/base/notes.h"
#include "analyze/data/dataset.h"
#include "analyze/data/filter.h"
#include "analyze/findings/finding.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef ANALYSIS_MAX_SEGMENTS
#define ANALYSIS_MAX_SEGMENTS 1000000
#endif
#define ANALYSIS_TIMES_CROSSED    "--to is not after --from: no request starts between them"
#define ANALYSIS_MAX_ERROR_GROUPS 1000
#define ANALYSIS_MAX_SLOW_THREADS 20 /* how many slow threads are listed */

struct analysis_source;
struct slo_report;
struct statistics;
struct sums_source;

/* Names the figures of a group that its source lacks. Their values mean nothing: reports print "-"
 * instead and give the reason once. */
struct known {
    unsigned absent; /* a bit for each figure; each group defines its bits */
    const char *why; /* the reason; static; NULL: there is nothing to say */
};

static inline bool known_all(const struct known *k, unsigned figures)
{
    return (k->absent & figures) == 0;
}

/* The figures of requests (fields.h): times, or rates where sizes differ. A figure's bit in struct
 * known is 1 << FIGURE. */
enum figure {
    FIGURE_N,
    FIGURE_SIZE,
    FIGURE_TIME,
    FIGURE_MEAN,
    FIGURE_FASTEST,
    FIGURE_P25,
    FIGURE_P50,
    FIGURE_P75,
    FIGURE_P90,
    FIGURE_P99,
    FIGURE_SLOWEST,
    FIGURE_STDDEV,
};

enum range_kind {
    RANGE_AUTO,   /* all threads, or single where section 2 says so */
    RANGE_ALL,    /* from the last thread's first end to the first thread's last start */
    RANGE_SINGLE, /* second start to last but one end */
    RANGE_FULL,   /* first start to last end */
    RANGE_INNER,  /* sums only: the seconds of an aggregated capture without two at each end */
};

/* Names by kind, for --range and JSON; NULL for RANGE_INNER. */
extern const char *const analysis_range_names[];

/* How much the analysis finds out. The command decides, not the user. */
enum analysis_depth {
    ANALYSIS_ALL,
    ANALYSIS_BRIEF,  /* all but what only long reports have: durations of single hosts and clients,
                        and of the first and last access of objects */
    ANALYSIS_TOTALS, /* throughput and series: no requests, statistics, errors, findings */
};

struct analysis_options {
    int64_t segment_ns;          /* 0: chosen (section 3) */
    int64_t skip_ns;             /* section 2 */
    struct filter_time from, to; /* keep requests that start at or after from and before to */
    enum range_kind range;
    enum analysis_depth depth;
    bool full_series;       /* series from first start to last end (--analyze.all) */
    int64_t co_interval_ns; /* > 0: durations corrected for coordinated omission too */
    bool by_second;         /* sums and aggregated captures: statistics by their seconds too */
    unsigned threads;       /* 0: one per core */
};

struct span {
    bool present;
    int64_t start_ns, end_ns; /* half-open */
};

/* The total of a set (section 4). */
enum throughput_figures {
    THROUGHPUT_BYTES = 1,   /* n_bytes and bytes_per_s */
    THROUGHPUT_OBJECTS = 2, /* n_objects and objects_per_s */
    THROUGHPUT_PARTS = 4,   /* full_ops, partial_ops */
    THROUGHPUT_ENDED = 8,   /* ops_ended and ops_ended_per_s */
};
struct throughput {
    bool present;
    struct known known; /* enum throughput_figures */
    int64_t start_ns, duration_ns;
    int64_t n_bytes;
    double n_objects;
    int64_t full_ops, partial_ops, ops_ended, errors;
    double bytes_per_s, objects_per_s, ops_ended_per_s;
};

/* Whether two totals are of different ranges. */
static inline bool throughput_differs(const struct throughput *a, const struct throughput *b)
{
    return b->present &&
           (!a->present || a->start_ns != b->start_ns || a->duration_ns != b->duration_ns);
}

/* Returns the throughput to show: as judged, or if that is not known without the failures. */
static inline const struct throughput *throughput_shown(const struct throughput *judged,
                                                        const struct throughput *t)
{
    return judged->known.why == NULL ? judged : t;
}

struct segment_pick {
    int64_t start_ns;
    double bytes_per_s, objects_per_s;
};

/* The segments of a set (section 4). */
struct segments {
    bool present;
    int64_t duration_ns;
    int64_t n;
    bool by_objects; /* sorted by objects_per_s, else by bytes_per_s */
    struct segment_pick fastest, median, slowest;
    /* Set if the segments do not cover the time of the throughput. */
    const char *which;        /* static: "without the first and last 2 s"; NULL: they cover it */
    bool with_failed;         /* bytes and objects of failed requests count as delivered */
    struct segment_pick mean; /* mean of all segments; set where `which` is */
};

/* With fewer segments the median is the fastest one by the rule of ranks: reports and charts leave
 * it out. */
#define ANALYSIS_MIN_MEDIAN 4

/* Durations of a set of requests, or their times to first byte. fields.h lists the figures. */
#define TIMES_N_QUANTILES 5
struct times {
    bool present;
    struct known known; /* enum figure */
    int64_t n;
    double mean_ns, stddev_ns; /* stddev NaN: null (a single request) */
    int64_t fastest_ns, p25_ns, p50_ns, p75_ns, p90_ns, p99_ns, slowest_ns;
};

/* Durations and times to first byte (section 5, "single size"). */
struct durations {
    struct times dur, ttfb;
};

/* Throughput of single requests (section 5, "several sizes"). fields.h lists the figures. */
struct sized {
    bool present;
    struct known known; /* enum figure */
    int64_t n, n_unrated;
    double mean_bytes, mean_ns;
    bool rated; /* some request has bytes and a duration: the rates below are numbers */
    double mean_bytes_per_s, p50_bytes_per_s, p90_bytes_per_s, p99_bytes_per_s;
    double fastest_bytes_per_s, slowest_bytes_per_s;
    struct times ttfb;
};

struct size_bucket {
    int64_t min_bytes, max_bytes; /* max -1: null (no upper edge) */
    struct sized all, first_access;
    struct times dur; /* of all */
};

struct host_requests {
    const char *host;
    union {
        struct durations single; /* used where all requests have one size */
        struct sized sized;      /* used where there are several sizes */
    };
};

#define REQUEST_NO_TIME INT64_MIN

/* The requests of one size class in a group. */
struct request_class {
    int64_t min_bytes, max_bytes; /* max excluded */
    int64_t n_requests;
    double mean_ms, fastest_bytes_per_s, slowest_bytes_per_s;
};

/* Requests of one client that ended within ten seconds, as an aggregated capture has them.
 * Durations include those of failed requests. */
struct request_group {
    uint32_t client; /* index into the clients of struct request_groups */
    bool is_multi;   /* sizes differ: only `classes` is set, not the figures from object_bytes on */
    int64_t start_ns; /* REQUEST_NO_TIME: not given */
    int64_t n_requests;
    int64_t object_bytes; /* of one of its requests */
    double mean_ms, stddev_ms, min_ms, max_ms, p50_ms, p90_ms, p99_ms;
    bool has_ttfb;
    double ttfb_mean_ms, ttfb_min_ms, ttfb_max_ms, ttfb_p50_ms, ttfb_p90_ms, ttfb_p99_ms;
    struct request_class *classes;
    size_t n_classes;
};

/* Smallest and largest value that a percentile has, or may have. */
struct group_range {
    double least_ns, most_ns;
};
struct request_groups {
    const struct request_group *v; /* borrowed: groups of 10 s and one client each; n may be 0 */
    char *const *clients;          /* borrowed: names by client number */
    size_t n;
    struct group_range p50, p90, p99; /* of the groups: not of the run */
    struct group_range bounds[3]; /* p50, p90, p99 of the run's successful requests; NaN: none */
};

struct requests {
    bool present;
    const char *why;   /* static: why they are not present; NULL: there are none */
    bool of_whole_run; /* all requests of the run, not only those in the range */
    bool with_failed;  /* failed ones are among them */
    bool single_size;
    int64_t n;
    struct durations all; /* of all sizes together */
    int64_t object_size_bytes;
    struct durations first_access, last_access;
    double mean_bytes; /* several sizes */
    struct size_bucket *sizes;
    size_t n_sizes;
    struct host_requests *hosts; /* empty for one host */
    size_t n_hosts;
    struct durations response_time; /* end - intended; present with that column */
    struct request_groups groups;
};

struct host_result {
    const char *host;
    int64_t n_requests, n_errors;
    struct throughput throughput;
    struct segments segments;
};

#define CLIENT_TIMES 1u
struct client_result {
    struct host_result result; /* as for a host; `host` is the client's name */
    int64_t n_bytes;           /* of the successful requests */
    struct known known;        /* CLIENT_TIMES */
    int64_t first_start_ns, last_end_ns;
};

/* One group of failed requests with the same normalised message. */
#define ERROR_TIMES 1u
struct error_host {
    const char *host;
    int64_t count;
    int64_t first_ns, last_ns;
};
struct error_group {
    const char *message;
    int64_t count;
    struct known known;        /* ERROR_TIMES */
    int64_t first_ns, last_ns; /* ends of the first and the last of them */
    struct error_host *hosts;
    size_t n_hosts;
};

/* When requests ran, and when some of them succeeded. */
struct coverage {
    int64_t start_ns, end_ns;       /* first start and last end of all requests */
    int64_t ok_start_ns, ok_end_ns; /* of the successful requests; end < start: none */
    int64_t within_ns;              /* uncertainty of ok_end_ns */
    int64_t n_bytes, n_objects;     /* of the successful requests */
    int64_t n_after;                /* requests that failed after the last success */
};

#define COVERAGE_NONE                                                                              \
    ((struct coverage){.start_ns = INT64_MAX,                                                      \
                       .end_ns = INT64_MIN,                                                        \
                       .ok_start_ns = INT64_MAX,                                                   \
                       .ok_end_ns = INT64_MIN})

/* True if some requests succeeded, but over less than 90 % of the time in which requests ran.
 * Throughput over the successful part then differs from that of the run. */
static inline bool coverage_is_short(const struct coverage *c)
{
    return c->ok_start_ns <= c->ok_end_ns && (double)c->ok_end_ns - (double)c->ok_start_ns <
                                                 .9 * ((double)c->end_ns - (double)c->start_ns);
}

/* Requests and bytes that no segment contains. */
struct outside {
    int64_t n;       /* requests that end in no segment */
    int64_t n_bytes; /* before + after; plus the segments' bytes: exactly those of all requests */
    int64_t before_bytes, after_bytes;
    int64_t n_before, n_after;
};

/* A thread that cuts the all-threads range short. */
struct slow_thread {
    uint32_t thread;
    int64_t first_end_ns, last_start_ns;
};

/* One row of the time series (section 3). */
struct series_row {
    int64_t start_ns, duration_ns;
    int64_t bytes;
    double objects; /* NaN: unknown, as are the bytes */
    int64_t full_ops, partial_ops, ops_started, ops_ended, errors;
    double ops_avg_ns;                     /* NaN: no request ended */
    double p50_ns, p90_ns, p99_ns, max_ns; /* of successful requests ending here; NaN: none */
    double ttfb_p50_ns;                    /* NaN: none */
    /* From when they were due; NaN: none. */
    double response_p50_ns, response_p90_ns, response_p99_ns, response_max_ns;
    double in_flight;  /* mean number of requests running; NaN: unknown */
    bool in_range;     /* the segment lies in the active range */
    bool lacks_parts;  /* full_ops and partial_ops are unknown */
    bool lacks_counts; /* ops_started and ops_ended are unknown */
    bool lacks_times;  /* ops_avg_ns is unknown */
};

/* Returns a row of a time in which no request ended. */
static inline struct series_row series_row_empty(int64_t start_ns, int64_t duration_ns)
{
    return (struct series_row){.start_ns = start_ns,
                               .duration_ns = duration_ns,
                               .ops_avg_ns = NAN,
                               .p50_ns = NAN,
                               .p90_ns = NAN,
                               .p99_ns = NAN,
                               .max_ns = NAN,
                               .ttfb_p50_ns = NAN,
                               .response_p50_ns = NAN,
                               .response_p90_ns = NAN,
                               .response_p99_ns = NAN,
                               .response_max_ns = NAN};
}

struct operation {
    const char *op;
    enum role role;
    int64_t n_requests, n_errors, n_objects, n_bytes;
    /* Further requests, of when not all clients ran: only verdicts count them. */
    int64_t n_apart, n_failed_apart;
    int64_t objects_per_op;
    int64_t concurrency, n_hosts, n_clients;
    const char *only_host; /* NULL: none or several */
    int64_t start_ns, end_ns;
    const char *skipped; /* NULL, "too few samples", "no requests left" */
    struct span range;   /* the range of the segments: over all requests */
    struct throughput throughput;
    /* Of the successful requests over `range`. Verdicts and headlines take it: time in which all
     * requests fail counts. Without failures it is `throughput`. */
    struct throughput judged;
    struct coverage coverage;
    struct segments segments;
    struct outside outside;
    struct host_result *hosts; /* empty for one host */
    size_t n_host_results;
    struct client_result *clients;
    struct durations *client_requests; /* one per entry of `clients` */
    size_t n_client_results;
    struct requests requests;
    struct error_group *errors; /* by count, then message */
    size_t n_error_groups;
    struct statistics *statistics; /* estimate/confidence.h; NULL without `judged` */
    /* True if the all-threads range covers under half of the run. The single range's figures below
     * are then shown too. */
    bool range_is_short;
    int64_t whole_run_ns; /* first start to last end; mixed captures: before the drop */
    struct throughput single_throughput;
    struct segments single_segments;
    struct slow_thread slow_threads[ANALYSIS_MAX_SLOW_THREADS]; /* the worst, worst first */
    size_t n_slow_threads;                                      /* listed or not */
};

/* Return the number of requests and of failed ones that verdicts count. */
static inline int64_t operation_n_all(const struct operation *op)
{
    return op->n_requests + op->n_apart;
}
static inline int64_t operation_n_failed(const struct operation *op)
{
    return op->n_errors + op->n_failed_apart;
}

/* Returns the share of the operation's time in which no request succeeded any more. 0: it ended in
 * order; the last request of each thread may hang until it times out, beyond the end of the run. */
static inline double operation_dead_frac(const struct operation *op)
{
    const struct coverage *c = &op->coverage;

    if (!coverage_is_short(c) || c->n_after <= op->concurrency)
        return 0;
    return (double)(c->end_ns - c->ok_end_ns) / (double)(c->end_ns - c->start_ns);
}

/* Returns how many slow threads are listed. */
static inline size_t operation_n_slow_listed(const struct operation *op)
{
    return op->n_slow_threads < ANALYSIS_MAX_SLOW_THREADS ? op->n_slow_threads
                                                          : ANALYSIS_MAX_SLOW_THREADS;
}

/* Requests that no figure counts. n_rows is their number plus that of the operations' requests. */
struct left_out {
    int64_t by_size;    /* --size, of those that failed without a byte */
    int64_t by_times;   /* --from, --to and --skip */
    int64_t by_warm_up; /* --steady */
    int64_t by_range;   /* the drop of section 2 */
    const char *range;  /* names the range of that drop; NULL: no drop */
    /* Requests that only the throughput leaves out, for the same reason: sums cannot drop them from
     * other figures. n_rows counts them once. */
    int64_t of_throughput;
};
#define ANALYSIS_FAILED_APART    "requests failed when not all clients ran: --range all counts them"
#define LEFT_OUT_NOT_ALL_CLIENTS "at the beginning and end, when not all clients ran"
#define ANALYSIS_LEFT_OUT_PARTS  4
struct left_out_part {
    int64_t n;
    const char *why; /* "in the warm-up" */
};

/* Cluster total of a mixed capture. */
struct cluster_total {
    bool present;
    struct span range;
    struct throughput throughput, judged; /* as in struct operation */
    struct coverage coverage;             /* without n_after */
    struct segments segments;
    const char *only_host; /* as in struct operation */
    struct host_result *hosts;
    size_t n_hosts;
    /* Names of the parties (hosts, then clients) that have a series for all operations together,
     * but none for each. Their index here is the index of the series. */
    const char **series_of;
    size_t n_series_hosts, n_series_clients;
};

/* Throughput of all clients together, over the seconds in which all of them ran. */
struct together {
    bool present;
    int64_t n_seconds; /* 0: none */
    double bytes_per_s, objects_per_s;
};

struct analysis {
    const struct dataset *dataset; /* borrowed: must outlive the analysis */
    struct analysis_options options;
    int64_t n_rows;
    /* The first start after the host, client and operation filters, before anything else is cut
     * off: where relative times (--from 10s, t_s of a series) count from. INT64_MAX: no rows. */
    int64_t run_start_ns;
    struct left_out left_out;
    bool mixed;
    enum range_kind range; /* the range that was used */
    struct operation *operations;
    size_t n_operations;
    struct cluster_total total;
    struct together together;
    struct findings findings;        /* worst first */
    struct notes notes;              /* what the recorder is known to get wrong; borrowed */
    const char *series_note;         /* static: which requests its time series cover; NULL: all */
    struct analysis_source *sources; /* input of the time series; one per operation, one for
                                        the total */
    struct sums_source *sums;        /* replaces `sources` where sums are analysed */
    const struct slo_report *slo;    /* borrowed; NULL: nothing was asserted */
};

#endif
