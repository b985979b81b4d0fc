/* How sure one run's figures are (docs/how-the-numbers-are-made.md, section 7): computed from the
 * requests of one operation type, of one of its hosts or of one size class, over the active range.
 *
 * The window W is the active range of all requests, failed ones included, cut into statistical
 * segments. A request belongs to the segment in which it ends. Rates are those of the successful
 * requests in W. Latencies and their quantiles are those of the report (section 5): they come from
 * the successful requests that lie wholly in their own active range. */
#ifndef S3_ANALYZE_SUMMARY_ESTIMATE_CONFIDENCE_H
#define S3_ANALYZE_SUMMARY_ESTIMATE_CONFIDENCE_H

#include "analyze/stats/stats.h"
#include "analyze/summary/model/model.h"
#include "analyze/summary/sets/blocks.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATISTICS_N_QUANTILES 4 /* 50, 90, 99 and 99.9 % */
extern const unsigned statistics_permille[STATISTICS_N_QUANTILES];

/* A rate: amounts per second. */
struct statistics_rate {
    bool present;    /* for bytes: some request moved bytes */
    const char *why; /* static: why objects are not present; NULL: there is nothing to say */
    struct stats_ci mean;
    struct stats_ci median; /* median over the segments */
};

/* A quantile in ns. The value is valid wherever there are requests, the limits only if ci.ok. */
struct statistics_quantile {
    struct stats_ci ci;
    double deff;
    uint64_t n_e;
    bool can_gate;
};

struct statistics_latency {
    struct times times;   /* absent: there are none, and the members below mean nothing */
    struct stats_ci mean; /* why NULL: nothing is known of its interval */
    struct statistics_quantile q[STATISTICS_N_QUANTILES]; /* value NaN: not known */
    /* Durations only: how many fell into each bucket of libcommon/hist.h, from first_bucket on.
     * Owned. NULL: unknown. */
    uint64_t *count;
    size_t first_bucket, n_buckets;
};

/* Durations corrected for coordinated omission (--co-interval). */
struct statistics_co {
    int64_t interval_ns; /* 0: not asked for */
    uint64_t n;          /* values after the correction */
    int64_t q_ns[STATISTICS_N_QUANTILES];
};

struct statistics {
    int64_t start_ns, duration_ns; /* W */
    struct span ok;                /* of the latencies */
    int64_t segment_ns;
    size_t n_segments;            /* whole segments */
    int64_t n_requests, n_failed; /* requests that ended in a segment: successful, failed */
    struct statistics_rate bytes, objects;
    struct stats_ci error_rate; /* fraction of all requests, in W or not */
    struct statistics_latency duration, ttfb;
    struct statistics_latency response; /* end - intended */

    int64_t cut_ns; /* the warm-up that --steady has left out */
    /* A finding that changes the rate (its kind's `doubt`); NULL: there is none. */
    const char *change;
    bool is_changed; /* it costs more than the interval of the mean is wide to one side */

    int64_t concurrency;
    double utilisation_frac; /* share of the threads' time in W in which requests ran */
    struct statistics_co co;
};

/* The requests to look at, and the window. */
struct statistics_input {
    const struct dataset *dataset;
    const struct table *table;
    const uint32_t *row; /* n rows of the table; NULL: all n rows */
    size_t n;
    const struct blocks *blocks;    /* of the table, allowed with row == NULL; NULL: slower */
    int64_t start_ns, end_ns;       /* W */
    struct span ok;                 /* of the latencies, within W */
    const struct throughput *total; /* for the means; NULL: compute them */
    int64_t n_requests, n_errors;   /* in W or not; n_requests 0: count those in W */
    int64_t concurrency;
    int64_t co_interval_ns;
};

/* Computes the statistics in a few passes over the rows. Memory does not grow with the rows,
 * except: 12 bytes for each request whose duration is within 0.1 % of a quantile, and 8 bytes a row
 * with co_interval_ns. Returns NULL on failure: *e says why. */
struct statistics *statistics_new(const struct statistics_input *in, struct err *e);
void statistics_free(struct statistics *s);

/* The percentile of an assertion: any one, of any times. */
struct statistics_percentile {
    int64_t n; /* requests with such a time; 0: the rest means nothing */
    struct statistics_quantile q;
    struct stats_ci above; /* the share of them whose time is longer than the limit */
};

enum statistics_of {
    STATISTICS_DURATION,
    STATISTICS_TTFB,
    STATISTICS_RESPONSE,
    STATISTICS_N_TIMES
};

/* Finds quantile `p` of the successful requests of a table that count for the latencies of `s`, and
 * how many are above a limit in ns. Passes over the rows four times. False: *e says why. */
bool statistics_find_percentile(const struct table *t, const struct statistics *s,
                                enum statistics_of of, struct stats_ratio p, double limit_ns,
                                struct statistics_percentile *out, struct err *e);

/* Fills *to where no requests are known: the rates of op->judged and the share of failures, with
 * intervals from n segments of a series. Rates are absent where the operation has none; objects.why
 * then repeats the reason. False: *e says why. */
bool statistics_of_series(struct statistics *to, const struct operation *op,
                          const struct series_row *rows, size_t n, struct err *e);

/* Makes the rates unknown, for this reason (static). */
void statistics_forget_rates(struct statistics *s, const char *why);

/* The length of the segments of a window: stats_segment_width_ns, and longer for runs of weeks. */
int64_t statistics_segment_ns(int64_t window_ns);

/* Widens the interval of a quantile of imported durations, which were rounded, by half of their
 * resolution; none is below 0. */
void statistics_round_off(struct stats_ci *ci, int64_t resolution_ns);

/* Looks for the first finding that changes the throughput of the operation, NULL: of all operations
 * together, and sets change and is_changed. Call it once findings are ranked. */
void statistics_find_change(struct statistics *s, const struct findings *all, const char *op);

/* Returns why an interval of these statistics is unreliable; "": no reason is known. The string is
 * static. */
const char *statistics_doubt(const struct statistics *s, const struct stats_ci *ci);
/* The first unreliable interval among those of the benchmark that reports show. */
struct statistics_doubted {
    const char *why;   /* "": none is known to be unreliable */
    const char *op;    /* of a mix; "": of the only operation, or of a phase */
    const char *of;    /* "TTFB "; "": of durations, which have no name of their own */
    unsigned permille; /* of a quantile; 0: of throughput, or none */
};

struct statistics_doubted statistics_doubt_of(const struct analysis *a);

#endif
