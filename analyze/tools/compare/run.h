/* One run, reduced to what comparisons need: a few kilobytes, whatever the size of its capture. */
#ifndef S3_ANALYZE_TOOLS_COMPARE_RUN_H
#define S3_ANALYZE_TOOLS_COMPARE_RUN_H

#include "analyze/analysis/run/analysis.h"
#include "analyze/analysis/run/load.h"
#include "analyze/base/intern.h"
#include "analyze/data/recorded.h"
#include "analyze/findings/finding.h"
#include "analyze/stats/stats.h"
#include "analyze/tools/compare/metric.h"
#include "analyze/tools/compare/sha256.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum run_part_kind { RUN_ALL, RUN_HOST, RUN_SIZE };

/* An operation as a whole, at one of its hosts, or for sizes in [min_bytes, max_bytes). */
struct run_part {
    enum run_part_kind kind;
    char *host;                   /* RUN_HOST */
    int64_t min_bytes, max_bytes; /* RUN_SIZE; max -1: no upper bound */
    const char *too_thin;         /* why its values are not reliable; NULL: they are */
    bool is_short; /* that is why, but it has enough requests for one of several runs */
    struct run_value value[RUN_N_COMPARED];
};

/* Number and total duration of the successful requests of the active range, in parts: by host, by
 * client, by size class, and by when they started after the start of the range. */
enum run_tally_kind { RUN_BY_HOST, RUN_BY_CLIENT, RUN_BY_SIZE, RUN_BY_TIME, RUN_N_TALLIES };

struct run_sum {
    double n, ns;
};

#define RUN_TALLY_NS     INT64_C(250000000) /* length of a part of RUN_BY_TIME */
#define RUN_MAX_TIMES    14400              /* the last part has all later requests */
#define RUN_TALLY_BLOCKS 8 /* of time, for each part of the other kinds: how much it varies */

struct run_tallies {
    char **names;        /* n, owned; NULL: the parts have none, for example size classes */
    struct run_sum *sum; /* part k in block b: [k * n_blocks + b] */
    size_t n, n_blocks;
};

/* What a file contains. All files of a comparison are reduced to the least that one of them
 * contains. */
enum run_basis {
    RUN_OF_REQUESTS,
    RUN_OF_SUMS,
    RUN_OF_AGGREGATES, /* an aggregated capture: only its seconds */
};

/* A setting or circumstance of an operation, or of its whole run. */
enum run_setting {
    RUN_OPERATIONS, /* number of requests: no setting, and never a limit */
    RUN_CONCURRENCY,
    RUN_ENDPOINTS,
    RUN_CLIENTS,
    RUN_OBJECTS_PER_OP,
    RUN_DURATION_S,  /* active range, rounded */
    RUN_OBJECT_SIZE, /* bytes; the mean of several sizes */
    RUN_SHARE,       /* of the requests of a mixed run, fraction */
    RUN_AUTOTERM,    /* of the whole run, as the next: 0, 1 */
    RUN_MIXED,       /* 0, 1: operations at the same time */
    RUN_N_SETTINGS,
};

/* Names of settings: for people, as in JSON, the option of s3load that asks for it (NULL: none, or
 * several), and in the names of cells. */
extern const struct run_setting_name {
    const char *title, *json, *option, *brief;
} run_setting_names[RUN_N_SETTINGS];

/* A figure of a run with its 95 % interval; NaN: not known. */
struct run_figure {
    double value, lo, hi;
    double least, most; /* the value, or the bounds to which it is known */
};

/* What is kept of an operation of a run that is one of many. */
struct run_kept_op {
    char *op;          /* owned by struct run_kept */
    bool is_beside;    /* not part of the benchmark: it prepared or cleaned up */
    bool sizes_differ; /* request sizes differ: RUN_OBJECT_SIZE is their mean */
    bool of_response;  /* percentiles are of response times: asked for, and the run has them */
    int64_t start_ns, n_errors;
    double setting[RUN_N_SETTINGS];           /* NaN: none */
    struct run_figure figure[RUN_N_COMPARED]; /* without an interval: as the report shows it */
    double dead_frac;                         /* operation_dead_frac */
};

/* What is kept of such a run: a few hundred bytes. */
struct run_kept {
    enum run_basis source; /* what the file has, or less: what it was reduced to */
    int64_t start_ns;
    json_t *options;      /* settings that s3load recorded; NULL: none */
    char *label;          /* what s3load --label named it; NULL: nothing */
    bool has_problem;     /* the worst finding is a problem */
    char *kind, *finding; /* of the worst finding: its name and its sentence; NULL: there is none */
    struct run_kept_op *ops;
    size_t n_ops;
};

/* Returns the rate that s3load asked for, requests/s; NaN: none, or it did not record one. */
double run_rate(const struct run_kept *r);

struct run_op {
    const char *op;                 /* borrowed from `kept` */
    const struct run_kept_op *kept; /* belongs to the run */
    /* What the report says of the operation, without lists. report.op is the name above. An
     * operation that --op names has the role of the benchmark. */
    struct operation report;
    /* The rates of the segments that no fault of the run touches (run_is_fault). Absent: no fault
     * has a span in the active range, or less than a quarter of the segments is left. */
    struct run_value clear[RUN_OBJECTS + 1];
    struct run_part *parts; /* n_parts; the whole operation, then by host, then by size, in order */
    size_t n_parts;
    struct run_tallies tally[RUN_N_TALLIES]; /* all empty if the file has no requests */
};

struct run {
    char *path;
    uint64_t n_file_bytes;
    struct sha256_text sha256; /* "": not asked for, or the file cannot be read twice */
    int64_t n_rows;
    int64_t start_ns, end_ns; /* earliest start, latest end */
    enum run_basis source;    /* what its file contains */
    enum run_basis basis;     /* what it was reduced to */
    bool mixed, autoterm;     /* autoterm: the command line in the capture asked for it */
    struct recorded recorded;
    struct findings findings; /* worst first */
    struct intern names;      /* operations, hosts and clients in the findings */
    struct run_kept kept;
    struct run_op *ops; /* of each operation of `kept` */
    size_t n_ops;
};

struct run_options {
    const struct load_filter *filter;
    const struct load_input *input;
    const struct load_analysis *analysis;
    bool with_parts; /* by host and by size too */
    bool with_sum;   /* SHA-256 of the file too */
    /* The quantiles of the durations of operations are those of response times in runs that have
     * these. */
    bool of_response;
    enum run_basis basis;
    /* Called with the whole analysis before run_load frees it; may be NULL. */
    bool (*seen)(void *ctx, const struct analysis *a, struct err *e);
    void *seen_ctx;
};

/* Returns why the throughput of an operation is not compared; NULL: it is, or no reason is
 * known. */
static inline const char *run_why_no_rates(const struct run_op *op)
{
    return op->report.statistics != NULL ? op->report.statistics->objects.why : NULL;
}

/* Returns the histogram of the operation's durations; NULL: there is none. */
static inline const struct statistics_latency *run_durations(const struct run_op *op)
{
    const struct statistics *s = op != NULL ? op->report.statistics : NULL;
    return s != NULL && s->duration.count != NULL ? &s->duration : NULL;
}

/* Names by enum run_basis: "capture", "sums", "aggregated", NULL. */
extern const char *const run_sources[];

/* Finds out what a file contains from its first bytes. */
enum run_basis run_source(const char *path);

/* Reads and analyses one capture. The caller calls run_free in any case. */
bool run_load(struct run *r, const char *path, const struct run_options *options, struct err *e);
void run_free(struct run *r);
void run_free_kept(struct run_kept *k);

/* Finds out whether the files of two runs have the same bytes; reads them again if their checksums
 * are not known. False: a file cannot be read. */
bool run_is_same(const struct run *a, const struct run *b, bool *same, struct err *e);

/* Whether a finding is a fault, which a comparison must name before all else. */
bool run_is_fault(const struct finding *f);

/* Return the operation of that name; its part that is the same as `like`. NULL: there is none. */
const struct run_op *run_op_named(const struct run *r, const char *op);
const struct run_part *run_part_like(const struct run_op *op, const struct run_part *like);

#endif
