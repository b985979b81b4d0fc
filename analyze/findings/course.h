/* The course of a run: what happened when, by operation, host and client, in bins of time. The
 * detectors of findings read nothing else. A course is filled from rows (single requests), with
 * bins of milliseconds, or from sums or aggregated files, with bins of seconds ("by seconds"). What
 * a source does not contain is absent here, and a detector that needs it finds nothing.
 *
 * A course of rows is filled before any row is dropped. Requests are sampled: some 65,000, chosen
 * by a hash of their start, so that the choice depends neither on the order of rows nor on the
 * number of threads. A duration counts as its natural logarithm in thousandths: differences of
 * means of logarithms are ratios, which outliers cannot bend, and integer sums are exact. Sums have
 * one mean duration per second: its logarithm is used for all requests of that second. */
#ifndef S3_ANALYZE_FINDINGS_COURSE_H
#define S3_ANALYZE_FINDINGS_COURSE_H

#include "analyze/data/dataset.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef COURSE_MAX_BINS
#define COURSE_MAX_BINS 32768
#endif
#define COURSE_MAX_MESSAGES 10 /* kept apart; the last entry merges the rarest */
#define COURSE_MAX_BLOCKS   128
#define COURSE_MAX_CELLS    1000000
#define COURSE_MAX_KINDS    256
#define COURSE_EQUAL_SIZES  1.1 /* ratio of sizes that are equal (the specification of findings) */
#define COURSE_NEARLY_ALL   .9 /* least share of what counts as all: of threads, errors, requests */
#define COURSE_HUNG_TIMES   10 /* a request this many times as long as the 90th percentile hung */
#define COURSE_LONG_CHANCE  .1 /* expected number of requests as long as one of several in a row */

/* A request of a sample. */
struct course_request {
    int64_t start_ns, end_ns, bytes, objects;
    int64_t due_ns;  /* start_ns, if that is not known */
    uint64_t object; /* hash of its name */
    uint32_t op, place, kind;
    bool failed;
};

/* Kinds of requests that are alike: of one operation, with sizes and numbers of objects that are
 * equal within a ratio, and of one outcome. */
struct course_kinds {
    double width; /* log of that ratio */
    size_t n;
    uint64_t keys[COURSE_MAX_KINDS];      /* sorted */
    uint16_t slots[2 * COURSE_MAX_KINDS]; /* a hash table of indexes from 1 */
};

/* Successes of one operation with sizes from a power of four to the next, by seconds with any size:
 * the number of samples, and the standard deviation of the natural logarithms of their durations.
 */
struct course_stratum {
    size_t op;
    int64_t min_bytes, max_bytes;
    double n, sd;
};

/* By seconds: successes of an operation in a block, at a host or of a client. */
struct course_cell {
    double n, log; /* log: sum of the natural logarithms of their durations */
};

/* Successes that are alike and were due (else began) in a block; by seconds, of one operation.
 * Samples. */
struct course_work {
    double n, ns;
    double log; /* sum of the natural logarithms of their durations; in an open loop of response
                   times, as they are if as many requests as usual are under way */
    double bytes, objects;
    double n_ended;                   /* that ended in the block, whenever they began */
    double met, met_squares, met_log; /* sums of log(1 + requests under way at the start), of its
                                         square, and of its product with the log duration */
};

/* What was asked of the system. */
struct course_load {
    size_t n_alike;           /* kinds of requests; 0: not known */
    size_t *stratum;          /* of each kind */
    struct course_work *work; /* by kind, then block */
    bool sizes_are_alike;     /* false: of those of a kind nobody knows whether they are */
    double *under_way;        /* by block: mean number of requests */
    double *threads;          /* by block: that have begun and not ended; NULL: not known */
    double *due; /* by block: requests that were due; NULL: a closed loop, or not known */
};

/* A request far longer than others of its operation. */
struct course_hung {
    int64_t start_ns, end_ns;
    uint32_t thread; /* index into dataset.threads */
    uint32_t place, table;
    uint32_t next; /* index of the thread's next one, which is as unlikely; 0: none */
    bool follows;  /* another one's next */
    bool failed;   /* and took hung_ns until it did */
};

/* The tail of an operation's durations: n of its successes are expected beyond from_ns, and of
 * these the share (x / from_ns)^-exponent beyond x. */
struct course_tail {
    double from_ns, n, exponent;
};

/* One kind of error, or the rarest kinds together: counts by bin, host, client and operation. */
struct course_message {
    const char *text; /* of the most frequent kind; borrowed */
    size_t id;        /* of the error in the source */
    size_t n_kinds;   /* 1, except perhaps in the last entry */
    int64_t n;
    __int128 took_ns; /* from start to end, in all */
    uint32_t *by_bin;
    int64_t *by_host, *by_client, *by_op; /* by index; all 0: not known */
    int64_t first_ns, last_ns;            /* when the first and the last of them ended */
};

struct course_op {
    const char *name; /* borrowed */
    int64_t n;        /* requests */
};

/* The hosts, clients or operations of a course. Hosts and clients are sorted by name. */
struct course_parties {
    bool clients, operations;
    size_t n;
    const char **name;  /* borrowed */
    uint32_t *of_place; /* the party at a place; UINT32_MAX: none; NULL: operations */
    int64_t *n_requests;
    int64_t *first_ns, *last_ns; /* first start, last end; NULL: not known, or operations */
    int64_t **busy_ns; /* by party, then bin: sum of the time for which requests ran; NULL: not
                          known, or the source has single requests */
};

struct like_requests;

struct course {
    bool has_requests; /* false: the source has no single requests but sums by second; how much was
                          done in a second shows when within it something began or ended */
    unsigned use_threads;        /* of ours, for what may run in parallel (tasks_run) */
    const struct dataset *d;     /* NULL by seconds; only for code that fills the course */
    const struct table **tables; /* ... or reads single requests */
    struct course_op *ops;       /* of one part of the run: the benchmark, a phase, the preparation
                                    or the clean-up */
    size_t n_ops;
    struct course_parties hosts, clients, operations;
    int64_t start_ns, end_ns; /* first start, last end of a request */
    int64_t last_start_ns;    /* by seconds: the end of the second of the last start */
    int64_t full_from_ns;  /* when nine in ten threads had begun; INT64_MIN: unknown, open loop */
    int64_t full_until_ns; /* when a tenth of them had ended, or the last start, if that was sooner,
                              or in an open loop; by seconds: the start of that second */
    int64_t n, n_failed;
    int64_t n_threads; /* that have a request; 0: not known */

    int64_t bins_ns; /* when the first bin begins; start_ns if has_requests */
    int64_t bin_ns;
    size_t n_bins;
    int64_t shortest_ns;   /* a stall that is shorter cannot be seen */
    uint32_t *ok, *failed; /* requests that ended, by bin */
    uint32_t *timed_out;   /* of failed, those that hung until they failed */
    uint32_t *ended;       /* requests that ended, except those that hung until they failed: for
                              each wide bin n_places counters, then n_ops; NULL: too many places,
                              only one, or not known */
    int64_t wide_ns;       /* a whole number of bins */
    size_t n_wide;
    int64_t *busy_ns; /* by bin: of all requests, as course_parties.busy_ns */

    int64_t block_ns; /* a whole number of bins */
    size_t n_blocks;
    size_t n_strata;
    struct course_stratum *strata;
    size_t *stratum_of_op;     /* first stratum of each operation, and the end; NULL: durations are
                                  not known */
    size_t n_places;           /* a place is a pair of a host and a client; by seconds, a host or a
                                  client */
    struct course_cell *cells; /* by operation, block, place; NULL: too many places to compare,
                                  durations are not known, or single requests are */
    int64_t *late_n;           /* by block: requests that were due at a known time */
    double *late_ns;           /* ... and the sum of how late they began */
    bool open_loop;
    struct course_load load;

    double *median_ns, *p90_ns; /* by operation; 0: no success */
    struct course_tail *tail;   /* by operation; NULL by seconds */
    int64_t *hung_ns;           /* by operation: a request of this duration hung; INT64_MAX: none
                                   did */
    struct course_hung *hung;   /* by start; NULL: single requests are not known */
    size_t n_hung;

    struct like_requests *requests; /* those that are compared (like.h); NULL by seconds */

    struct course_message *messages; /* sorted by n, the largest first, then by text */
    size_t n_messages;
};

/* Makes *c an empty course of n_ops operations, to be filled. False: out of memory. */
bool course_init(struct course *c, size_t n_ops, struct err *e);

/* When the requests of a place or a thread ran, and how many there were. */
struct course_visits {
    int64_t first_ns, last_ns; /* first start, last end */
    int64_t n;
};

/* When requests of some rows ran: first start, last end. */
struct course_span {
    int64_t start_ns, end_ns;
};

/* What is known of a table before its rows are looked at. */
struct course_extent {
    struct course_visits *visits; /* by the table's place ids, then by its thread ids */
    struct course_span *spans;    /* of each rows_per_span rows */
    size_t rows_per_span;
    int64_t last_start_ns;
};

/* Fills a course from rows, on up to n_threads threads (0: one per CPU); `d` and `tables` are
 * borrowed. False: out of memory. Call course_fini in any case, whatever the source. */
bool course_of_rows(struct course *c, const struct dataset *d, const struct table **tables,
                    const struct course_extent *extents, size_t n_tables, unsigned n_threads,
                    struct err *e);
void course_fini(struct course *c);

/* Sorts messages by number, the most frequent first, merges the rarest beyond COURSE_MAX_MESSAGES
 * into one, and allocates their counters, all 0. For code that fills a course. False: out of
 * memory. */
bool course_choose_messages(struct course *c, struct err *e);

/* Allocates the arrays for n parties, except of_place. False: out of memory. */
bool course_parties_alloc(struct course_parties *p, size_t n, struct err *e);

/* Returns the party of a request of this operation and place; UINT32_MAX: none. */
static inline size_t course_party_of(const struct course_parties *p, size_t op, size_t place)
{
    return p->operations ? op : p->of_place[place];
}

/* A gap in the requests of a party: its last end at or before at_ns, and its first end after it.
 * The caller sets party, at_ns and least_ns. Requests that hung and then failed do not count: they
 * are time-outs, not answers. */
struct course_gap {
    size_t party;
    int64_t at_ns;
    int64_t before_ns, after_ns; /* the two ends; INT64_MIN, INT64_MAX: none */
    int64_t least_ns;            /* a request that takes less, and does not hang, does not
                                    wait; not known by seconds */
    size_t n_waiting;            /* requests in flight at at_ns that wait */
};

/* Fills in all gaps in one pass over the rows. The gaps of a party must be sorted by at_ns. False:
 * out of memory. */
bool course_find_gaps(const struct course *c, const struct course_parties *p,
                      struct course_gap *gaps, size_t n, struct err *e);

static inline size_t course_bin(const struct course *c, int64_t ns)
{
    size_t i = (size_t)((uint64_t)(ns - c->bins_ns) / (uint64_t)c->bin_ns);
    return ns < c->bins_ns ? 0 : i < c->n_bins ? i : c->n_bins - 1;
}

static inline size_t course_block(const struct course *c, int64_t ns)
{
    size_t b = (size_t)((uint64_t)(ns - c->bins_ns) / (uint64_t)c->block_ns);
    return ns < c->bins_ns ? 0 : b < c->n_blocks ? b : c->n_blocks - 1;
}

static inline struct course_work *course_work(const struct course *c, size_t kind, size_t block)
{
    return &c->load.work[kind * c->n_blocks + block];
}

static inline struct course_cell *course_cell(const struct course *c, size_t op, size_t place,
                                              size_t block)
{
    return &c->cells[(op * c->n_blocks + block) * c->n_places + place];
}

/* Returns row i of operation k; only if has_requests. */
struct course_request course_request(const struct course *c, size_t k, size_t i);

/* Numbers the kinds of n requests by their keys, so that the order of requests does not count. The
 * caller sets kinds->width. False: there are more than `most`, or than COURSE_MAX_KINDS. */
bool course_number_kinds(struct course_kinds *kinds, struct course_request *v, size_t n,
                         size_t most);

/* Allocates the load for n kinds of requests that are alike. False: out of memory. */
bool course_load_init(struct course *c, size_t n, struct err *e);

/* Fills the strata and the load from n of `of` successful requests, whose kinds it numbers. Failed
 * requests are in under_way already. False: out of memory. */
bool course_load_rows(struct course *c, struct course_request *v, size_t n, double of,
                      const struct course_visits *threads, struct err *e);

/* Adds the time of `weight` requests that ran from start_ns to end_ns to load.under_way, which
 * course_load_rows turns into means. */
void course_load_add(struct course *c, int64_t start_ns, int64_t end_ns, double weight);

/* Returns the counters of a wide bin in course.ended: by place, then by operation. */
static inline uint32_t *course_ended(const struct course *c, size_t wide)
{
    return &c->ended[wide * (c->n_places + c->n_ops)];
}

/* Returns the bound for course_is_sampled with which about `wanted` of n requests are sampled. */
static inline uint64_t course_sample_below(double wanted, double n)
{
    return (uint64_t)(n <= wanted ? 0x1p32 : 0x1p32 * wanted / n);
}

/* Fibonacci hashing (Knuth, The Art of Computer Programming, 6.4). Returns 32 bits. */
static inline uint64_t course_hash(uint64_t x)
{
    return x * UINT64_C(0x9E3779B97F4A7C15) >> 32;
}

/* Whether a request is sampled: its start has a hash below the bound. */
static inline bool course_is_sampled(int64_t start_ns, uint64_t sample_below)
{
    return course_hash((uint64_t)start_ns) < sample_below;
}

/* Fills done[] with how many requests of party k ended, by wide bin; course.ended is not NULL. */
void course_count_ended(const struct course *c, const struct course_parties *p, size_t k,
                        int64_t *done);

/* Returns when bin (or block) n begins, each_ns being the length of one; at most end_ns, at least
 * start_ns. */
static inline int64_t course_at_ns(const struct course *c, size_t n, int64_t each_ns)
{
    uint64_t into_ns = (uint64_t)n * (uint64_t)each_ns,
             length_ns = (uint64_t)(c->end_ns - c->bins_ns);
    int64_t at_ns = into_ns < length_ns ? c->bins_ns + (int64_t)into_ns : c->end_ns;

    return at_ns > c->start_ns ? at_ns : c->start_ns;
}

static inline int64_t course_bin_start_ns(const struct course *c, size_t bin)
{
    return course_at_ns(c, bin, c->bin_ns);
}

/* Returns the share of bin n, each_ns long, that lies in the run: by seconds, a run begins and ends
 * within one. */
static inline double course_part(const struct course *c, size_t n, int64_t each_ns)
{
    return (double)(course_at_ns(c, n + 1, each_ns) - course_at_ns(c, n, each_ns)) /
           (double)each_ns;
}

static inline int64_t course_block_start_ns(const struct course *c, size_t block)
{
    return course_at_ns(c, block, c->block_ns);
}

/* Returns the index into dataset.places of the place of row i. */
static inline size_t course_place(const struct table *t, size_t i)
{
    uint32_t id = table_place(t, i);

    return t->own_places.index != NULL ? t->own_places.index[id] : id;
}

/* Returns when row i was due; when it began, if that is not known. */
static inline int64_t course_due_ns(const struct table *t, size_t i)
{
    return t->start[i] - (packed_has(&t->late, i) ? packed_get(&t->late, i) : 0);
}

/* ---- By seconds of the clock, from sources that have sums but no single requests ---- */

/* Sets up bins for n whole seconds from first_s on, in long runs several seconds per bin, and
 * allocates their counters. False: out of memory. */
bool course_seconds_grid(struct course *c, int64_t first_s, size_t n, struct err *e);

/* Allocates n hosts, clients or operations, and their busy_ns, if seconds are known and not too
 * many. The caller fills in the parties. False: out of memory. */
bool course_seconds_parties(const struct course *c, struct course_parties *p, size_t n,
                            bool are_seconds_known, struct err *e);

/* How many requests failed with one kind of error, and when it first and last came. */
struct course_share {
    int64_t n, first_ns, last_ns;
    double rate;
};

/* Distributes errors over bins. shares has the number and the time range of each message of c (n =
 * 0: none), `failed` the number of errors in each bin. Adds to by_bin of the messages so that both
 * sums are kept: exact where messages do not overlap in time, else an estimate. False: out of
 * memory. */
bool course_seconds_errors(struct course *c, const uint32_t *failed, struct course_share *shares,
                           struct err *e);

#endif
