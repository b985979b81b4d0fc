/* How sure one run's figures are (docs/how-the-numbers-are-made.md, section 7): computed from the
 * requests of one operation type, of one of its hosts or of one size class, over the active range.
 *
 * The window W is the range of the throughput (section 4), cut into statistical
 * segments. A request belongs to the segment it ends in. Latencies and their quantiles are those of
 * the report (section 5): of the successful requests that lie wholly in W. */
#ifndef S3_ANALYZE_ESTIMATE_CONFIDENCE_H
#define S3_ANALYZE_ESTIMATE_CONFIDENCE_H

#include "analyze/model/model.h"
#include "analyze/sets/blocks.h"
#include "analyze/data/group.h"
#include "analyze/stats/stats.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATISTICS_N_QUANTILES 4 /* 50, 90, 99 and 99.9 % */
extern const unsigned statistics_permille[STATISTICS_N_QUANTILES];
#define STATISTICS_N_RESIDUALS 3 /* of the residual life: the first three */

/* Amounts per second. */
struct statistics_rate {
    bool present; /* bytes: any of them at all */
    struct stats_ci mean;
    struct stats_ci median; /* of the segments */
    size_t n_stalls;
    double n_stretches; /* independent of each other; 0: not known */
};

/* A quantile in ns. Its value holds wherever there are requests, its limits where ci.ok. */
struct statistics_quantile {
    struct stats_ci ci;
    double deff;
    uint64_t n_e;
    bool can_gate;
};

struct statistics_latency {
    int64_t n; /* 0: none, and what follows means nothing */
    double mean_ns, fastest_ns, slowest_ns;
    struct statistics_quantile q[STATISTICS_N_QUANTILES]; /* value NaN: not known */
    /* Of durations, how many fell into each bucket of libcommon/hist.h from first_bucket on; owned.
     * NULL: not known. */
    uint64_t *count;
    size_t first_bucket, n_buckets;
};

struct statistics_host {
    const char *host; /* owned by the dataset */
    double value;     /* mean over the segments: bytes/s, objects/s, or ns */
    double z;
    bool outlier;
};

/* Hosts that were given equal numbers of requests (round robin) differ in latency alone.
 */
struct statistics_hosts {
    bool by_latency; /* mean duration per segment, instead of the rate */
    struct stats_hosts test;
    struct statistics_host *v; /* owned; n = 0: one host */
    size_t n;
};

/* Durations corrected for coordinated omission (--co-interval). */
struct statistics_co {
    int64_t interval_ns; /* 0: not asked for */
    uint64_t n;          /* values after the correction */
    int64_t q_ns[STATISTICS_N_QUANTILES];
};

struct statistics {
    int64_t start_ns, duration_ns; /* W */
    int64_t segment_ns;
    size_t n_segments;            /* whole ones */
    int64_t n_requests, n_failed; /* ended in a segment; successful, failed */
    struct statistics_rate bytes, objects;
    struct stats_ci error_rate; /* fraction */
    struct statistics_latency duration, ttfb;

    /* Of the series of bytes/s, or of objects/s where there are no bytes. */
    bool by_objects;
    struct stats_warmup warmup;
    int64_t cut_ns; /* warm-up that was left out already (--steady) */
    struct stats_drift drift;
    struct stats_shifts shifts;

    int64_t concurrency;
    double utilisation_frac; /* of the threads' time in W */
    double residual_ns[STATISTICS_N_RESIDUALS];
    struct statistics_hosts hosts;
    struct statistics_co co;
};

/* Which requests, over which window. */
struct statistics_input {
    const struct dataset *dataset;
    const struct table *table;
    const uint32_t *row; /* n rows of the table; NULL: all n */
    size_t n;
    const struct blocks *blocks;    /* of the table, where all rows are meant; NULL: slower */
    int64_t start_ns, end_ns;       /* W */
    const struct throughput *total; /* for the means; NULL: they are computed */
    int64_t concurrency;
    const struct group_keys *hosts; /* NULL: not by host */
    int64_t co_interval_ns;
};

/* A few passes over the rows; memory does not grow with them, but for requests whose durations lie
 * within 0.1 % of a quantile (12 bytes each), and 8 bytes a row with co_interval_ns. NULL: *e says
 * why. */
struct statistics *statistics_new(const struct statistics_input *in, struct err *e);
void statistics_free(struct statistics *s);

/* Why the interval of the mean may not hold; "": nothing says so. */
const char *statistics_doubt(const struct statistics_rate *r);

/* Start of the steady state: after the accepted warm-up, else the start of W. */
int64_t statistics_steady_from_ns(const struct statistics *s);

#endif
