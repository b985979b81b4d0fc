/* Sums of a run: what is kept of a capture when its single requests need not be kept
 * (docs/sums.md). They are exact integers by second, host, client, operation and size class, and
 * log-linear histograms (libcommon/hist.h) of durations, times to first byte and rates.
 *
 * All of it can be added: the sums of two captures added up equal the sums of the merged capture,
 * byte for byte in the file. So nothing is kept that depends on all requests at once: no
 * percentile, and nothing about an active range that ends between two seconds. The one exception
 * are intervals of percentiles, which a merge drops. */
#ifndef S3_ANALYZE_ANALYSIS_SUMS_SUMS_H
#define S3_ANALYZE_ANALYSIS_SUMS_SUMS_H

#include "analyze/base/lineset.h"
#include "analyze/data/slices.h"
#include "analyze/stats/moments.h"
#include "analyze/stats/stats.h"
#include "analyze/summary/model/model.h"
#include "libcommon/err.h"
#include "libcommon/quantile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SUMS_MAX_SECONDS  4000000 /* over all parts; 224 MB */
#define SUMS_MICRO        1000000 /* objects by second are in millionths */
#define SUMS_MILLI        1000    /* rates are in thousandths of a byte per second */
/* Limit for all operations together: this number times the logarithm of a duration fits 63 bits. */
#define SUMS_MAX_REQUESTS (INT64_C(1) << 46)
/* Reports say this where an interval needs the order of single requests. */
#define SUMS_NO_ORDER     "how its requests lie in time is not in sums"
/* Latest end of a request: the whole seconds around it fit 63 bits, too. */
#define SUMS_LAST_NS      ((INT64_MAX / NS_PER_S - 3) * NS_PER_S)

/* A clock second. The bytes and objects of a request are spread over its time as over segments
 * (attribution_bytes_before): its shares add up to all of it. */
struct sums_second {
    int64_t n_started;       /* requests, failed ones too */
    int64_t n_ended;         /* successful requests that ended in this second */
    int64_t n_failed;        /* failed requests that ended in this second */
    int64_t n_bytes;         /* of successful requests */
    int64_t n_micro_objects; /* of successful requests */
    int64_t busy_ns;         /* time that requests ran in this second, summed */
    int64_t ended_ns;        /* sum of the durations of the n_ended requests */
    int64_t late_ns;         /* how long after they were due the n_started requests began, summed */
};
#define SUMS_N_COLUMNS 8

/* The 95 % interval of a percentile, as the requests gave it. */
struct sums_interval {
    int64_t lo_ns, hi_ns; /* 0: no limit on that side */
    int64_t n_e;          /* effective number of requests; 0: no interval */
    int64_t is_doubted;   /* 1: unreliable (statistics_doubt) */
};
#define SUMS_N_INTERVALS 3 /* of 50, 90 and 99 %, the first of statistics_permille */

/* Values of successful requests: how many fell into each bucket of hist.h. */
struct sums_values {
    struct moments moments; /* for rates only n is used; the sum fits 63 bits, so the sum of
                               squares fits 128 */
    int64_t min, max;       /* meaningless without values */
    size_t n_buckets;
    uint32_t *bucket;                                /* ascending */
    int64_t *count;                                  /* > 0 */
    struct sums_interval interval[SUMS_N_INTERVALS]; /* of an operation; of rates none */
};

/* Sums of some requests: all of an operation, or those of a host, a client or a size class. */
struct sums_part {
    char *name;        /* name of the host or client; else "" */
    int64_t min_bytes; /* size class: its lower edge, one of analysis_size_edges */
    int64_t n_requests, n_errors;
    int64_t n_bytes, n_objects;        /* of the successful requests */
    int64_t start_ns, end_ns;          /* first start, last end; failed requests count */
    int64_t n_rated_bytes, n_rated_ns; /* of requests with bytes and a duration */
    struct sums_values duration, ttfb; /* ns */
    struct sums_values rate;           /* bytes per second of single requests, in thousandths */
    int64_t first_s;                   /* the second of seconds[0], since 1970 */
    size_t n_seconds;                  /* 0 for a size class */
    struct sums_second *seconds;
};

struct sums_parts {
    struct sums_part *v; /* by name, or by size */
    size_t n;
};

/* Failed requests with one message to one host. */
struct sums_error {
    char *message, *host;
    int64_t n;
    int64_t first_ns, last_ns; /* ends of the first and the last of them */
};

/* The time from when all threads have ended a request until one of them begins its last. */
struct sums_range {
    int64_t start_ns, end_ns; /* end < start: there is none */
};

struct foreign;
struct foreign_part;

struct sums_op {
    char *op;
    int64_t n_threads;
    struct sums_range range;
    int64_t min_bytes, max_bytes; /* sizes of the successful requests; min > max: none */
    int64_t first_objects;        /* of the earliest request; the least if several start then */
    struct sums_part all;
    struct sums_parts hosts, clients, sizes;
    struct sums_error *errors; /* by message, then host */
    size_t n_errors;
    struct sums_values response;  /* end - intended */
    struct foreign_part *foreign; /* what else a foreign file says; NULL: none */
};

struct sums {
    bool has_intended;
    int64_t n_threads; /* over all operations */
    struct sums_range range;
    struct sums_op *ops; /* by name */
    size_t n_ops;
    bool lacks_ops;      /* sums_keep dropped some */
    struct lineset said; /* what s3load recorded about its runs: JSON (analyze/data/recorded.h) */
    struct foreign *foreign; /* NULL: our own sums */
};

void sums_free(struct sums *s);

/* Several parts taken together: the part of one operation, or those of a host or client in several.
 */
struct sums_group {
    const char *name;              /* borrowed */
    const struct sums_part **part; /* n of them, borrowed */
    size_t n;
};

struct sums_groups {
    struct sums_group *v; /* by name */
    size_t n;
    const struct sums_part **part; /* the parts of the first group, then those of the next */
};

enum sums_grouping { SUMS_TOGETHER, SUMS_BY_HOST, SUMS_BY_CLIENT };

/* Groups the hosts or clients of n operations by name, or makes one group of the operations. False:
 * out of memory. The caller calls sums_groups_fini in any case. */
bool sums_groups_init(struct sums_groups *x, const struct sums_op *ops, size_t n_ops,
                      enum sums_grouping by, struct err *e);
void sums_groups_fini(struct sums_groups *x);

/* Reads a file of sums. Strict: a file whose sums do not add up is damaged. On failure *e says
 * "FILE: path.to.key: what is wrong". The caller calls sums_free in any case. */
bool sums_read(struct sums *s, const char *path, struct err *e);

/* Reads an aggregated capture, the totals that another recorder made of a run
 * (docs/aggregated-captures.md). What they do not hold is absent in the analysis; they can be
 * neither merged nor written. Fails if the file is damaged, if sums do not add up, or if seconds
 * lie outside of the run. `path` and s->foreign are needed as long as the analysis. The caller
 * calls sums_free in any case. */
bool sums_of_foreign(struct sums *s, const char *path, struct err *e);

/* Returns the command line of the recorder of a foreign file, and its version in *version, NULL if
 * it is not known. Returns NULL for our own sums. */
const char *sums_command(const struct sums *s, const char **version);

/* Writes the sums to f, compressed. Write errors stay in the FILE. Returns false on other failures:
 * *e says why. */
bool sums_write(const struct sums *s, FILE *f, struct err *e);

/* Drops all operations except the n named ones (case does not matter); n = 0 keeps all. False:
 * there is no such operation, or out of memory. */
bool sums_keep(struct sums *s, const char *const *ops, size_t n, struct err *e);

/* Adds up all requests of the dataset, on up to `threads` threads (0: one per core). Fails if a sum
 * exceeds 63 bits, if there are too many seconds, or if out of memory. The caller calls sums_free
 * in any case. */
bool sums_of_dataset(struct sums *s, const struct dataset *d, unsigned threads, struct err *e);

/* Takes the intervals of percentiles from an analysis of the same requests. */
void sums_take_intervals(struct sums *s, const struct analysis *a);

/* Returns percentile i of SUMS_N_INTERVALS with its interval; ok is false if it has none. */
struct stats_ci sums_interval(const struct sums_values *v, size_t i);

/* Adds `from`, which is empty afterwards. Drops the intervals if both have requests. Its threads
 * count as further threads, as in a merge of captures. Fails as sums_of_dataset does. */
bool sums_merge(struct sums *to, struct sums *from, struct err *e);

/* Analyses s as analysis_run does a dataset, but by whole seconds. Fills *a, and *d, which stands
 * for the file at `path`. Figures that sums lack are marked absent (struct known). Uses only these
 * options: segment_ns (whole seconds) and range (not single). s must outlive both; the caller calls
 * analysis_free and dataset_free in any case. */
bool sums_analyze(struct analysis *a, struct dataset *d, const struct sums *s, const char *path,
                  const struct analysis_options *options, struct err *e);

/* A percentile of the successful requests of a foreign file. It lies within the bounds, whichever
 * requests failed. */
struct sums_bounds {
    bool present;             /* false: the file has nothing that bounds it */
    double least_ns, most_ns; /* most may be infinite */
    double lo_ns, hi_ns;      /* the bounds with the sampling error, 95 %; may be infinite */
};

/* Finds percentile ppm / 1,000,000 of the durations of an operation of a foreign file. The sampling
 * error is that of the share of requests beyond a value, in which the scatter between the groups of
 * 10 s counts (stats_wilson). O(groups log groups). Returns false if out of memory. */
bool sums_foreign_percentile(struct sums_bounds *to, const struct sums_op *op, uint32_t ppm,
                             struct err *e);

/* Return the sums of an analysis made by sums_analyze. */
const struct sums *sums_of(const struct analysis *a);

/* Returns the sums of operation k of an analysis made by sums_analyze. */
const struct sums_op *sums_op_of(const struct analysis *a, size_t k);

/* Work as analysis_series and analysis_series_on (analyze/analysis/run/analysis.h), for an analysis
 * made by sums_analyze. The grid is one of whole seconds. */
bool sums_series(const struct analysis *a, int op, int host, struct series_row **rows, size_t *n,
                 struct err *e);

bool sums_series_on(const struct analysis *a, int op, int host, const struct slice_grid *grid,
                    struct series_row **rows, size_t *n, struct err *e);

/* Frees what sums_analyze keeps in the analysis; NULL: does nothing. */
void sums_source_free(struct sums_source *s);

/* Returns the value of 0-based rank k < v->moments.n: the middle of its bucket, limited to min and
 * max. Off by at most 0.05 %. */
int64_t sums_value_at(const struct sums_values *v, int64_t k);

/* Returns a quantile of v->moments.n > 0 values (libcommon/quantile.h), as exact as sums_value_at.
 */
static inline int64_t sums_quantile(const struct sums_values *v, unsigned permille)
{
    return sums_value_at(v, (int64_t)quantile_index((size_t)v->moments.n, permille));
}

#endif
