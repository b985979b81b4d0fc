/* The course of a run: what happened when, by operation, host and client, on a grid of time.
 * Findings are found in it, whatever it was filled from: rows, with bins of milliseconds, or sums
 * and aggregated files, with bins of seconds. What a source does not tell is absent here, and who
 * looks for it finds nothing.
 *
 * Of rows it is gathered before anything is dropped. Durations are sampled: at most a
 * few hundred thousand requests, chosen by a hash of their start, so that the choice depends
 * neither on the order of rows nor on the number of threads. A duration counts as its base-2
 * logarithm in fixed point: differences of means of logarithms are ratios, which outliers cannot
 * bend, and integer sums are exact. Sums have one mean duration a second: its logarithm stands for
 * all of the second's. */
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
#define COURSE_LOG_ONE      1024                     /* a doubling of a duration */
#define COURSE_LOG_UNIT     (M_LN2 / COURSE_LOG_ONE) /* as a natural logarithm */
#define COURSE_MAX_MESSAGES 8 /* told apart; the rarest are one entry, the last */
#define COURSE_MAX_BLOCKS   128
#define COURSE_MAX_CELLS    (1 << 20)
#define COURSE_MAX_PAIRS    512
#define COURSE_HUNG_TIMES   6 /* the 90th percentile */

/* Operation and class of size: requests within one are alike. */
struct course_stratum {
    size_t table;
    size_t first_class;
};

struct course_cell {
    uint32_t n, n_slow; /* n_slow: those that took course.slow_from_ns or more */
    int64_t log_sum;    /* in COURSE_LOG_ONE */
};

/* A request far longer than others of its operation. */
struct course_hung {
    int64_t start_ns, end_ns;
    uint32_t thread; /* index into dataset.threads */
    uint32_t place, table;
    bool failed;
};

/* The tail of an operation's durations: n of its successes are expected beyond from_ns, and of
 * these the share (x / from_ns)^-exponent beyond x. */
struct course_tail {
    double from_ns, n, exponent;
};

/* One kind of error, or the rarest kinds together: counts by bin, host, client and operation. */
struct course_message {
    const char *text; /* of the most frequent kind; borrowed */
    size_t id;        /* orders those of one number */
    size_t n_kinds;   /* 1, but for the last */
    int64_t n;
    __int128 took_ns; /* from start to end, in all */
    uint32_t *by_bin;
    int64_t *by_host, *by_client, *by_op; /* by index; all 0: not known */
    int64_t first_ns, last_ns;            /* ends */
};

struct course_op {
    const char *name; /* borrowed */
    int64_t n;        /* requests */
};

/* The hosts, clients or operations of a course, hosts and clients by name; or its pairs of a host
 * and a client. */
struct course_parties {
    bool clients, operations;
    size_t n;
    const char **name;   /* borrowed; of a pair, its host's */
    const char **client; /* ... its client's; NULL: they are no pairs */
    uint32_t *of_place;  /* the party at a place; UINT32_MAX: none; NULL: operations */
    int64_t *n_requests;
    int64_t *first_ns, *last_ns; /* first start, last end; NULL: not known, or operations */
    int64_t **busy_ns; /* by party, then bin: for how long requests ran, all together; NULL: not
                          known, or there are single requests */
};

struct course {
    bool has_requests; /* false: the source has sums of seconds. What begins or ends within one is
                          known by how much it did there, and single requests are not known */
    const struct dataset *d;     /* where it has requests; only who fills the course */
    const struct table **tables; /* ... and looks for single ones knows them */
    struct course_op *ops;       /* of the benchmark: operations that ran together, or the last */
    size_t n_ops;
    struct course_parties hosts, clients, operations;
    struct course_parties pairs; /* none: of one host or client, of too many places, or single
                                    requests are not known */
    int64_t start_ns, end_ns;    /* first start, last end of their requests */
    int64_t last_start_ns;       /* by seconds: the end of the second in which that was */
    int64_t full_from_ns;        /* when nine in ten threads had begun; INT64_MIN: unknown */
    int64_t full_until_ns; /* when a tenth of them had ended, or of the last start, if that was
                              sooner; by seconds: the second in which that was */
    int64_t n, n_failed;
    int64_t n_threads; /* that have a request; 0: not known */

    int64_t bins_ns; /* when the first bin begins; start_ns of rows */
    int64_t bin_ns;
    size_t n_bins;
    int64_t shortest_ns;   /* a stall that is shorter cannot be seen */
    uint32_t *ok, *failed; /* requests that ended, by bin */
    uint32_t *timed_out;   /* of failed, those that hung until they failed */
    uint32_t *ok_half;     /* of ok, those of every other thread; NULL: threads are not known */
    uint32_t *ended;       /* by wide bin, then place, then operation: requests that ended, without
                              those that hung until they failed; NULL: of too many places, of one,
                              or not known */
    int64_t wide_ns;       /* a whole number of bins */
    size_t n_wide;
    int64_t *busy_ns; /* by bin, as of parties; NULL as there */

    int64_t block_ns; /* a whole number of bins */
    size_t n_blocks;
    size_t n_strata;
    struct course_stratum *strata;
    size_t *stratum_of_table;  /* first stratum of each table */
    size_t n_places;           /* a host and a client together; by seconds, each host and client */
    struct course_cell *cells; /* stratum x block x place, as rows come in order of time: sampled
                                  successes that began in the block; NULL: there are too many
                                  places to compare them, or durations are not known */
    int64_t *log_squares;      /* by stratum: of the same samples, in COURSE_LOG_ONE squared */
    int64_t *slow_from_ns;     /* by stratum; with the two below, NULL as cells, and by seconds */
    double *place_busy_ns, *place_slow_ns; /* by place: time of the samples, of the slow ones */
    int64_t *late_n;                       /* by block: requests that were due at a known time */
    double *late_ns;                       /* ... and how late they began, in all */
    bool open_loop;

    double *median_ns, *p90_ns; /* by operation; 0: no success */
    struct course_tail *tail;   /* by operation, of rows */
    int64_t *hung_ns;           /* by operation: one of so long hung; INT64_MAX: none did */
    struct course_hung *hung;   /* by start; NULL: single requests are not known */
    size_t n_hung;

    struct course_message *messages; /* by number, then id */
    size_t n_messages;
};

/* An empty course of n_ops operations; those who fill one begin with it. False: out of memory. */
bool course_init(struct course *c, size_t n_ops, struct err *e);

/* When the requests of a place or a thread ran, and how many these are. */
struct course_visits {
    int64_t first_ns, last_ns; /* first start, last end */
    int64_t n;
};

/* What is known of a table before its rows are looked at. */
struct course_extent {
    struct course_visits *visits; /* by place, then by thread: the table's ids */
    int64_t last_start_ns;
    int64_t min_bytes, max_bytes; /* of the successes; min > max: none */
};

/* Fills it from rows; `tables` is borrowed. False: out of memory. course_fini may be called in any
 * case, of any source. */
bool course_of_rows(struct course *c, const struct dataset *d, const struct table **tables,
                    const struct course_extent *extents, size_t n_tables, struct err *e);
void course_fini(struct course *c);

/* Puts messages in order, the most frequent first; the rarest beyond COURSE_MAX_MESSAGES become
 * one. Allocates their counts, all 0. For those who fill a course. */
bool course_choose_messages(struct course *c, struct err *e);

/* Makes room for n of them; of_place is left to the caller. */
bool course_parties_alloc(struct course_parties *p, size_t n, struct err *e);

/* The party of a request; UINT32_MAX: its place has none. */
static inline size_t course_party_of(const struct course_parties *p, size_t op, size_t place)
{
    return p->operations ? op : p->of_place[place];
}

/* How many requests hang at a time in the midst of a stall that lasts for_ns; by party, if of_party
 * is not NULL. By seconds, those that run hang where the stall is as long as it takes to. */
size_t course_count_hung(const struct course *c, const struct course_parties *p, int64_t at_ns,
                         int64_t for_ns, size_t *of_party);

/* What is asked of a party: its last end at or before at_ns, and its first after. Requests that
 * hung and then failed do not count: they are not answers, but time-outs. */
struct course_gap {
    size_t party;
    int64_t at_ns;
    int64_t before_ns, after_ns; /* INT64_MIN, INT64_MAX: none */
    size_t n_waiting;            /* requests under way at at_ns */
};

/* Answers all of them in one pass over the rows. Those of a party are in order of time. False: out
 * of memory. */
bool course_find_gaps(const struct course *c, const struct course_parties *p,
                      struct course_gap *gaps, size_t n, struct err *e);

static inline bool course_are_hosts(const struct course_parties *p)
{
    return !p->clients && !p->operations && p->client == NULL;
}

static inline size_t course_bin(const struct course *c, int64_t ns)
{
    size_t i = (size_t)((uint64_t)(ns - c->bins_ns) / (uint64_t)c->bin_ns);
    return ns < c->bins_ns ? 0 : i < c->n_bins ? i : c->n_bins - 1;
}

static inline struct course_cell *course_cell(const struct course *c, size_t stratum, size_t place,
                                              size_t block)
{
    return &c->cells[(stratum * c->n_blocks + block) * c->n_places + place];
}

/* The sizes that a stratum of several of an operation has, by class: powers of four. */
struct size_range {
    int64_t min, max; /* bytes */
};
struct size_range course_sizes(const struct course *c, size_t stratum);

/* The stratum of row i of operation k, of a course that has requests. */
size_t course_stratum(const struct course *c, size_t k, size_t i);

/* The places and operations of a wide bin in course.ended. */
static inline uint32_t *course_ended(const struct course *c, size_t wide)
{
    return &c->ended[wide * (c->n_places + c->n_ops)];
}

/* Fills in the requests of party k that ended, by wide bin, of a course that has them. */
void course_count_ended(const struct course *c, const struct course_parties *p, size_t k,
                        int64_t *done);

/* Where a bin (or a block) begins, as far as it is in the run. */
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

/* How much of a bin the run has: its beginning and its end cut seconds of the clock. */
static inline double course_bin_part(const struct course *c, size_t bin)
{
    return (double)(course_bin_start_ns(c, bin + 1) - course_bin_start_ns(c, bin)) /
           (double)c->bin_ns;
}

static inline int64_t course_block_start_ns(const struct course *c, size_t block)
{
    return course_at_ns(c, block, c->block_ns);
}

/* Index into dataset.places of the place of row i. */
static inline size_t course_place(const struct table *t, size_t i)
{
    uint32_t id = table_place(t, i);

    return t->own_places.index != NULL ? t->own_places.index[id] : id;
}

#endif
