/* The data of the charts of one operation, or of all operations of a mixed run together: series and
 * figures of the analysis, and results of one pass over the requests. Its size does not grow with
 * the number of requests. */
#ifndef S3_ANALYZE_RENDER_PLOT_DATA_H
#define S3_ANALYZE_RENDER_PLOT_DATA_H

#include "analyze/analysis/run/stopping.h"
#include "analyze/data/slices.h"
#include "analyze/render/plot/timeline.h"
#include "libcommon/err.h"
#include "libcommon/hist.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLOT_DATA_MIN_SPAN_NS   1000000 /* least span of an axis of time */
#define PLOT_DATA_MAX_HEAT_BINS 160     /* bins of time in a heat map */
#define PLOT_DATA_MAX_LINES     8       /* hosts drawn as lines; more make a heat map */
#define PLOT_DATA_MAX_HOSTS     400 /* rows of a heat map: the slowest ones, if there are more */
#define PLOT_DATA_MAX_BY_NAME   24  /* hosts sorted by name; with more, the slowest come first */
#define PLOT_DATA_MAX_CLIENTS   60  /* clients in a heat map: the first ones by name */
#define PLOT_DATA_N_LOG         256 /* logarithmic buckets */

/* Returns the lower edge of a logarithmic bucket. Edges are the powers of the fourth root of two:
 * bucket 0 has 0 and 1, bucket k has [2^(k/4), 2^((k+1)/4)). */
double plot_data_log_lower(size_t bucket);

#define PLOT_DATA_UNKNOWN INT64_MIN

/* How a set of durations or TTFBs is distributed. Its marks are the report's quantiles; one may be
 * PLOT_DATA_UNKNOWN. */
#define PLOT_DATA_N_MARKS 5
extern const double plot_data_mark_pct[PLOT_DATA_N_MARKS]; /* 50, 90, 99, 99.9, 100 */
struct plot_sample {
    uint64_t n;
    int64_t most_ns;
    int64_t mark_ns[PLOT_DATA_N_MARKS];
    uint64_t *count; /* HIST_N_INDEXES, by hist_index */
};

/* A host's or client's part in the run. Of hosts: what they moved. Of clients: how long their
 * requests took, or, if the source has no requests, what they moved. */
struct plot_party {
    const char *name; /* owned by the dataset */
    int64_t *sum;     /* by bin: what it moved, or PLOT_DATA_UNKNOWN; ns that requests took */
    double mean;      /* mean of plot_data_rate over the bins that are known */
    bool has_finding; /* a finding names this host */
};

struct plot_parties {
    struct slice_grid bins;
    struct plot_party *v;
    size_t n, n_in_all;
};

/* When successful requests ended, and how long they took. */
struct plot_heat {
    struct slice_grid bins;
    uint32_t *count; /* [bin * PLOT_DATA_N_LOG + bucket] */
};

/* Sizes of successful requests, and how many inside the active range took how long. */
struct plot_sizes {
    uint64_t count[PLOT_DATA_N_LOG]; /* by bucket of bytes */
    uint64_t n_empty;                /* requests of 0 bytes, not in `count` */
    uint32_t *density; /* [bucket of bytes * PLOT_DATA_N_LOG + bucket of ns]; NULL: one size */
};

struct plot_data {
    const struct analysis *a;            /* borrowed */
    int index;                           /* of the operation; -1: all together */
    const char *op;                      /* "" : all together */
    bool lists_findings;                 /* their sentences, too */
    const struct throughput *shown;      /* throughput_shown; not NULL; may be absent */
    const struct segments *segments;     /* not NULL; may be absent */
    const struct statistics *statistics; /* NULL: none */
    const struct operation *operation;   /* NULL: all together */

    struct plot_timeline course; /* as fine as the requests allow */
    struct series_row *rows;     /* the segments, from first start to latest end */
    size_t n_rows;

    struct plot_heat heat;
    struct plot_sizes sizes;
    double host_unit; /* unit of the hosts' sums: 1 byte, or 1e-6 objects */
    /* Sorted by name. If there are many: first those that findings name, then the slowest by
     * mean. */
    struct plot_parties hosts;
    struct plot_parties clients; /* by name */

    /* Successful requests inside the active range. Durations of an open loop count from when
     * requests were due; service, which only those have, from when they began. */
    struct plot_sample durations, ttfb, service;

    /* Set by the caller of plot_data_init: the replay to show, borrowed; NULL: none. */
    const struct stopping_op *replay;
};

/* Fills in v[i] for operation index[i] of `a`, for n operations (-1: all together, which a mixed
 * analysis has). False: *e says why. Call plot_data_fini for each in any case. */
bool plot_data_init(struct plot_data *v, size_t n, const struct analysis *a, const int *index,
                    struct err *e);
void plot_data_fini(struct plot_data *p);

/* Returns what a party moved per second in a bin: bytes or, if requests have none, objects; NaN:
 * unknown. */
static inline double plot_data_rate(const struct plot_data *p, const struct plot_party *party,
                                    size_t bin)
{
    if (party->sum[bin] == PLOT_DATA_UNKNOWN)
        return NAN;
    return (double)party->sum[bin] * p->host_unit / ((double)p->hosts.bins.length_ns / 1e9);
}

/* Sets keep[i] to whether rows[i] is drawn: all rows, if there are at most max_rows; else, in each
 * of a number of equal stretches, those with the least and the greatest value of each column.
 * `column` returns value i of a row, of n_columns; NaN: none. */
void plot_data_thin(const struct series_row *rows, size_t n, size_t max_rows, size_t n_columns,
                    double (*column)(const struct series_row *row, size_t i), bool *keep);

/* Converts a time to seconds since the first start of the run, the second 0 of the charts. */
static inline double plot_data_t_s(const struct plot_data *p, int64_t ns)
{
    return (double)(ns - p->a->run_start_ns) / 1e9;
}

#endif
