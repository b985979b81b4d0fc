/* Sums of a run: what is kept of a capture whose single requests need not be kept
 * (docs/sums.md). Exact integers by second, host, client, operation and size class, and log-linear
 * histograms (libcommon/hist.h) of durations, times to first byte and rates.
 *
 * All of it can be added: the sums of two captures together are those of the captures' merge, byte
 * for byte in the file. So nothing is kept that depends on all requests at once, such as a
 * percentile, or what lies within an active range that ends between two seconds. */
#ifndef S3_ANALYZE_SUMS_SUMS_H
#define S3_ANALYZE_SUMS_SUMS_H

#include "analyze/model/model.h"
#include "analyze/requests/moments.h"
#include "analyze/base/lineset.h"
#include "libcommon/err.h"
#include "libcommon/quantile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SUMS_SECOND_NS   INT64_C(1000000000)
#define SUMS_MAX_SECONDS 4000000 /* of all parts together: 224 MB */
#define SUMS_MICRO       1000000 /* objects by second are counted in millionths */
#define SUMS_MILLI       1000    /* rates are counted in thousandths of a byte per second */

/* A clock second. Bytes and objects of a request are spread over its time as those of segments are
 * (attribution_bytes_before), so that each request's parts add up to all of it. */
struct sums_second {
    int64_t n_started;       /* requests, failed ones too */
    int64_t n_ended;         /* successful requests that ended in it */
    int64_t n_failed;        /* failed ones that ended in it */
    int64_t n_bytes;         /* of successful requests */
    int64_t n_micro_objects; /* likewise */
    int64_t busy_ns;         /* time in it that requests ran for, all together */
    int64_t ended_ns;        /* durations of n_ended, together */
};
#define SUMS_N_COLUMNS 7

/* Values of successful requests: how many fell into each bucket of hist.h. */
struct sums_values {
    struct moments moments; /* of rates n alone; the sum fits 63 bits, so the squares do 128 */
    int64_t min, max;       /* meaningless without values */
    size_t n_buckets;
    uint32_t *bucket; /* ascending */
    int64_t *count;   /* > 0 */
};

/* Some requests: all of an operation, or those of a host, a client, or a class of sizes. */
struct sums_part {
    char *name;        /* of the host or client; "" otherwise */
    int64_t min_bytes; /* of a size class: its lower edge, one of analysis_size_edges */
    int64_t n_requests, n_errors;
    int64_t n_bytes, n_objects;        /* of the successful */
    int64_t start_ns, end_ns;          /* first start, last end, failed requests too */
    int64_t n_rated_bytes, n_rated_ns; /* of requests with bytes and a duration */
    struct sums_values duration, ttfb; /* ns */
    struct sums_values rate;           /* bytes per second of single requests, in thousandths */
    int64_t first_s;                   /* the second that seconds[0] is, since 1970 */
    size_t n_seconds;                  /* 0 of a size class */
    struct sums_second *seconds;
};

struct sums_parts {
    struct sums_part *v; /* by name, or by size */
    size_t n;
};

/* Failed requests of one message to one host. */
struct sums_error {
    char *message, *host;
    int64_t n;
    int64_t first_ns, last_ns; /* ends of the first and the last */
};

/* From when all threads have ended a request until one of them begins its last. */
struct sums_range {
    int64_t start_ns, end_ns; /* end < start: never */
};

struct sums_op {
    char *op;
    int64_t n_threads;
    struct sums_range range;
    int64_t min_bytes, max_bytes; /* sizes of the successful; min > max: there are none */
    int64_t first_objects;        /* of the earliest request (the least of several) */
    struct sums_part all;
    struct sums_parts hosts, clients, sizes;
    struct sums_error *errors; /* by message, then host */
    size_t n_errors;
    struct sums_values response; /* end - intended */
};

struct sums {
    bool has_intended;
    int64_t n_threads; /* of all operations */
    struct sums_range range;
    struct sums_op *ops; /* by name */
    size_t n_ops;
    struct lineset said; /* by s3load of its runs: JSON (analyze/data/recorded.h) */
};

void sums_free(struct sums *s);

/* Reads a file of sums. Strict: what does not add up is damage. False: *e says "FILE: path.to.key:
 * what is wrong". The caller calls sums_free in any case. */
bool sums_read(struct sums *s, const char *path, struct err *e);

/* Writes it to f, compressed. Errors of writing stay in the FILE. False: *e says why. */
bool sums_write(const struct sums *s, FILE *f, struct err *e);

/* Drops all operations but the n that are named, in any case of letters; n = 0: keeps all. */
void sums_keep(struct sums *s, const char *const *ops, size_t n);

/* The sums of all requests of the dataset, on up to `threads` threads (0: one per core). False: a
 * sum past 63 bits, too many seconds, or out of memory. The caller calls sums_free in any case. */
bool sums_of_dataset(struct sums *s, const struct dataset *d, unsigned threads, struct err *e);

/* Adds `from`, which is empty afterwards. Threads count as different ones, as in a merge of
 * captures. False: as sums_of_dataset. */
bool sums_merge(struct sums *to, struct sums *from, struct err *e);

/* Analyses them as analysis_run does a dataset, by whole seconds: *a and *d, which stands for the
 * file at `path`, are filled, but what the sums do not tell is absent there (struct known). Of the
 * options, segment_ns (whole seconds) and range (not single) count. s must outlive both; the caller
 * calls analysis_free and dataset_free in any case. */
bool sums_analyze(struct analysis *a, struct dataset *d, const struct sums *s, const char *path,
                  const struct analysis_options *options, struct err *e);

/* The sums of operation k of such an analysis. */
const struct sums_op *sums_op_of(const struct analysis *a, size_t k);

/* analysis_series and analysis_series_on (analyze/analysis/analysis.h) of such an analysis, on a
 * grid of whole seconds. */
bool sums_series(const struct analysis *a, int op, int host, struct series_row **rows, size_t *n,
                 struct err *e);

bool sums_series_on(const struct analysis *a, int op, int host, const struct segment_grid *grid,
                    struct series_row **rows, size_t *n, struct err *e);

/* Frees what such an analysis keeps; NULL: nothing. */
void sums_source_free(struct sums_source *s);

/* The value of 0-based rank k < v->moments.n: the middle of its bucket, within the least and the
 * greatest value. Off by at most 0.05 %. */
int64_t sums_value_at(const struct sums_values *v, int64_t k);

/* The quantile of v->moments.n > 0 values (libcommon/quantile.h), as near as sums_value_at. */
static inline int64_t sums_quantile(const struct sums_values *v, unsigned permille)
{
    return sums_value_at(v, (int64_t)quantile_index((size_t)v->moments.n, permille));
}

#endif
