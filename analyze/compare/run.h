/* One run, reduced to what comparisons need: a few kilobytes, whatever the size of its capture. */
#ifndef S3_ANALYZE_COMPARE_RUN_H
#define S3_ANALYZE_COMPARE_RUN_H

#include "analyze/analysis/analysis.h"
#include "analyze/analysis/load.h"
#include "analyze/base/intern.h"
#include "analyze/compare/metric.h"
#include "analyze/compare/sha256.h"
#include "analyze/data/recorded.h"
#include "analyze/findings/finding.h"
#include "analyze/stats/stats.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum run_part_kind { RUN_ALL, RUN_HOST, RUN_SIZE };

/* An operation as a whole, at one of its hosts, or for sizes in [min_bytes, max_bytes). */
struct run_part {
    enum run_part_kind kind;
    char *host;                   /* RUN_HOST */
    int64_t min_bytes, max_bytes; /* RUN_SIZE; max -1: no upper edge */
    const char *too_thin;         /* why its values should not be relied on; NULL: they may */
    struct run_value value[RUN_MAX_METRICS];
};

/* Successful requests of the active range, and the time that they took together: by host, by
 * client, by size class, and by when they started after the range did. */
enum run_tally_kind { RUN_BY_HOST, RUN_BY_CLIENT, RUN_BY_SIZE, RUN_BY_TIME, RUN_N_TALLIES };

struct run_sum {
    double n, ns;
};

#define RUN_TALLY_NS     INT64_C(250000000) /* RUN_BY_TIME: of one part */
#define RUN_MAX_TIMES    14400              /* the last one has all that comes later */
#define RUN_TALLY_BLOCKS 8 /* of time, for each other part: how much it varies within the run */

struct run_tallies {
    char **names;        /* n, owned; NULL: the parts have none, as size classes */
    struct run_sum *sum; /* of part k in block b: [k * n_blocks + b] */
    size_t n, n_blocks;
};

enum { RUN_AVERAGE, RUN_FASTEST, RUN_MEDIAN, RUN_SLOWEST, RUN_N_RATES };
enum { RUN_MEAN, RUN_Q50, RUN_Q90, RUN_Q99, RUN_BEST, RUN_WORST, RUN_N_TIMES };

/* Figures of the report that are compared (docs/how-the-numbers-are-made.md, sections 4 and 5);
 * NaN: none. */
struct run_figures {
    double bytes_per_s[RUN_N_RATES], objects_per_s[RUN_N_RATES];
    double n_segments; /* that the fastest, median and slowest are chosen from */
    double duration_ns[RUN_N_TIMES], ttfb_ns[RUN_N_TIMES];
};

struct run_op {
    char *op;
    /* What the report says of it, without lists; op is the name above. What was asked for is of the
     * benchmark. */
    struct operation report;
    double share; /* of all requests */
    /* The rates of the active range without the spans of the run's faults (run_is_fault); absent:
     * no fault with a span in the range, or hardly anything is left. */
    struct run_value clear[RUN_OBJECTS + 1];
    struct run_part *parts; /* the whole operation first */
    size_t n_parts;
    struct run_tallies tally[RUN_N_TALLIES]; /* without requests there are none */
};

/* What a file holds; and the least that files of a comparison hold, to which all are reduced. */
enum run_basis {
    RUN_OF_REQUESTS,
    RUN_OF_SUMS,
    RUN_OF_AGGREGATES, /* an aggregated capture: its seconds alone */
};

struct run {
    char *path;
    uint64_t n_file_bytes;
    struct sha256_text sha256; /* "": not asked for, or the file cannot be read twice */
    int64_t n_rows;
    int64_t start_ns, end_ns; /* earliest start, latest end */
    enum run_basis source;    /* what its file holds */
    enum run_basis basis;     /* what it was reduced to */
    bool mixed, autoterm;     /* autoterm: the command line in the capture asked for it */
    struct recorded recorded;
    struct findings findings; /* worst first */
    struct intern names;      /* of their operations, hosts and clients */
    struct run_op *ops;
    size_t n_ops;
};

struct run_options {
    const struct load_filter *filter;
    const struct load_input *input;
    const struct load_analysis *analysis;
    bool with_parts; /* by host and by size too */
    bool with_sum;   /* SHA-256 of the file too */
    enum run_basis basis;
    /* Gets the whole analysis, which run_load then frees; NULL: nobody. */
    bool (*seen)(void *ctx, const struct analysis *a, struct err *e);
    void *seen_ctx;
};

/* An operation of which nothing but the name is known; run_free frees it. False: out of memory. */
bool run_op_init(struct run_op *op, const char *name, struct err *e);

/* Why the throughput of an operation is not compared; NULL: it is, or there is no more to say. */
static inline const char *run_why_no_rates(const struct run_op *op)
{
    return op->report.statistics != NULL ? op->report.statistics->objects.why : NULL;
}

/* Its figures, as they are compared. */
struct run_figures run_figures_of(const struct run_op *op);

/* The counts of its durations, or NULL. */
static inline const struct statistics_latency *run_durations(const struct run_op *op)
{
    const struct statistics *s = op != NULL ? op->report.statistics : NULL;
    return s != NULL && s->duration.count != NULL ? &s->duration : NULL;
}

/* Names by enum run_basis: "capture", "sums", "aggregated", NULL. */
extern const char *const run_sources[];

/* What a file holds, by its first bytes. */
enum run_basis run_source(const char *path);

/* Reads and analyses one capture. The caller calls run_free in any case. */
bool run_load(struct run *r, const char *path, const struct run_options *options, struct err *e);
void run_free(struct run *r);

/* Whether two runs are of files with the same bytes, which are read again if need be. False: one
 * cannot be read. */
bool run_is_same(const struct run *a, const struct run *b, bool *same, struct err *e);

/* Takes a copy of the findings, with names of the run's own. */
bool run_take_findings(struct run *r, const struct findings *from, struct err *e);

/* Takes what the recorder said in the comments of a capture. */
void run_take_recorded(struct run *r, const struct dataset *d);

/* Each operation's share of the requests of all that were taken. */
void run_fill_shares(struct run *r);

/* Whether a comment or command line, in JSON or not, asks for autoterm. */
bool run_asks_for_autoterm(const char *text);

/* Whether a finding is a fault that a comparison must name before all else. */
bool run_is_fault(const struct finding *f);

/* The operation of that name, and its part that is the same as `like`; NULL: none. */
const struct run_op *run_op_named(const struct run *r, const char *op);
const struct run_part *run_part_like(const struct run_op *op, const struct run_part *like);

#endif
