/* The course of a run: what happened when, by operation, host and client, on a grid of time. It is
 * gathered in one pass over all rows before anything is dropped, and is what findings are found in.
 *
 * Completions are counted for each fine bin. Durations are sampled: at most a few hundred thousand
 * requests, chosen by a hash of their start, so that the choice depends neither on the order of
 * rows nor on the number of threads. A duration counts as its base-2 logarithm in fixed point:
 * differences of means of logarithms are ratios, which outliers cannot bend, and integer sums are
 * exact. */
#ifndef S3_ANALYZE_FINDINGS_COURSE_H
#define S3_ANALYZE_FINDINGS_COURSE_H

#include "analyze/data/dataset.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COURSE_MAX_BINS     32768
#define COURSE_LOG_ONE      1024 /* a doubling of a duration */
#define COURSE_MAX_MESSAGES 8    /* told apart; the rarest are one entry, the last */

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
    uint16_t id;    /* index into dataset.errors: of the most frequent kind */
    size_t n_kinds; /* 1, but for the last */
    int64_t n;
    __int128 took_ns; /* from start to end, in all */
    uint32_t *by_bin;
    int64_t *by_place, *by_table;
    int64_t first_ns, last_ns; /* ends */
};

struct course {
    const struct dataset *d;
    const struct table *
        *tables; /* those of the benchmark: operations that ran together, or the last */
    size_t n_tables;
    int64_t start_ns, end_ns; /* first start, last end of their requests */
    int64_t last_start_ns;
    int64_t n, n_failed;
    int64_t n_threads; /* that have a request */

    int64_t bin_ns;
    size_t n_bins;
    uint32_t *ok, *failed; /* requests that ended, by bin */
    uint32_t *ok_half;     /* of ok, those of every other thread; NULL: threads are not known */

    int64_t block_ns; /* a whole number of bins */
    size_t n_blocks;
    size_t n_strata;
    struct course_stratum *strata;
    size_t *stratum_of_table;  /* first stratum of each table */
    struct course_cell *cells; /* stratum x block x place, as rows come in order of time: sampled
                                  successes that began in the block; NULL: there are too many
                                  places to compare them */
    int64_t *log_squares;      /* by stratum: of the same samples, in COURSE_LOG_ONE squared */
    int64_t *slow_from_ns;     /* by stratum; with the two below, NULL as cells */
    double *place_busy_ns, *place_slow_ns; /* by place: time of the samples, of the slow ones */
    int64_t *late_n;                       /* by block: requests that were due at a known time */
    double *late_ns;                       /* ... and how late they began, in all */
    bool open_loop;

    double *median_ns, *p90_ns; /* by table; 0: no success */
    struct course_tail *tail;   /* by table */
    int64_t *hung_ns;           /* by table: a request of so long hung; INT64_MAX: none did */
    struct course_hung *hung;   /* by start */
    size_t n_hung;

    struct course_message *messages; /* by number, then id */
    size_t n_messages;

    int64_t *place_first_ns, *place_last_ns; /* first start, last end by place */
    int64_t *place_n;                        /* requests */
};

/* `tables` is borrowed. False: out of memory. course_fini may be called in any case. */
bool course_init(struct course *c, const struct dataset *d, const struct table **tables,
                 size_t n_tables, struct err *e);
void course_fini(struct course *c);

/* Names and number of the hosts (or clients) of the places, as an index of parties; or the
 * operations, of which each table is one. */
struct course_parties {
    bool clients, operations;
    size_t n;
    uint32_t *id;       /* into dataset.hosts, clients or ops; hosts and clients sorted by name */
    uint32_t *of_place; /* index into id; UINT32_MAX: the place has no request; NULL: operations */
    int64_t *n_requests;
};
bool course_parties_init(struct course_parties *p, const struct course *c, bool clients,
                         struct err *e);
bool course_operations_init(struct course_parties *p, const struct course *c, struct err *e);
void course_parties_fini(struct course_parties *p);
const char *course_party_name(const struct course *c, const struct course_parties *p, size_t k);

/* The party of a request; UINT32_MAX: its place has none. */
static inline size_t course_party_of(const struct course_parties *p, size_t table, size_t place)
{
    return p->operations ? table : p->of_place[place];
}

/* What is asked of a party: its last end at or before at_ns, and its first after. Requests that
 * hung and then failed do not count: they are not answers, but time-outs. */
struct course_gap {
    size_t party;
    int64_t at_ns;
    int64_t before_ns, after_ns; /* INT64_MIN, INT64_MAX: none */
};

/* Answers all of them in one pass over the rows. False: out of memory. */
bool course_find_gaps(const struct course *c, const struct course_parties *p,
                      struct course_gap *gaps, size_t n, struct err *e);

static inline size_t course_bin(const struct course *c, int64_t ns)
{
    size_t i = (size_t)((uint64_t)(ns - c->start_ns) / (uint64_t)c->bin_ns);
    return i < c->n_bins ? i : c->n_bins - 1;
}

static inline struct course_cell *course_cell(const struct course *c, size_t stratum, size_t place,
                                              size_t block)
{
    return &c->cells[(stratum * c->n_blocks + block) * c->d->n_places + place];
}

/* Where a bin (or a block) begins; the end of the run for those behind it. */
static inline int64_t course_at_ns(const struct course *c, size_t n, int64_t each_ns)
{
    uint64_t into_ns = (uint64_t)n * (uint64_t)each_ns,
             length_ns = (uint64_t)(c->end_ns - c->start_ns);

    return into_ns < length_ns ? c->start_ns + (int64_t)into_ns : c->end_ns;
}

static inline int64_t course_bin_start_ns(const struct course *c, size_t bin)
{
    return course_at_ns(c, bin, c->bin_ns);
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
