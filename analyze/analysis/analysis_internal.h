/* Shared by the files of this room. Sections are those of docs/how-the-numbers-are-made.md.
 *
 *   analysis.c   what is mixed, in what order; the results put together
 *   drop.c       what is skipped and dropped
 *   scan.c       one pass over a table: counts, sums, starts, threads
 *   set.c        a set of requests: groups, active ranges, totals (sections 2 and 4)
 *   segments.c   its segments (sections 3 and 4)
 *   sample.c     values of requests: moments and quantiles (section 5)
 *   requests.c   request statistics (section 5)
 *   access.c     first and last request per object
 *   errors.c     groups of errors
 *   series.c     time series
 *   conclude.c   findings of the course and of the figures (sections 11 and 12) */
#ifndef S3_ANALYZE_ANALYSIS_ANALYSIS_INTERNAL_H
#define S3_ANALYZE_ANALYSIS_ANALYSIS_INTERNAL_H

#include "analyze/analysis/analysis.h"
#include "analyze/analysis/blocks.h"
#include "analyze/data/group.h"
#include "libcommon/attribution.h"
#include "libcommon/int64.h"
#include "libcommon/segment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline struct attribution_request analysis_request(const struct table *t, size_t i)
{
    return (struct attribution_request){
        .start_ns = t->start[i],
        .end_ns = table_end(t, i),
        .bytes = packed_get(&t->bytes, i),
        .n_objects = packed_get(&t->objects, i),
        .ok = !table_failed(t, i),
    };
}

/* ---- analysis_scan.c ---- */

/* What is known of the requests of one place, or of a host, a client, a set. */
struct scan_part {
    int64_t n, n_errors;
    int64_t n_bytes, n_objects; /* of the successful */
    int64_t last_end_ns;
    struct segment_starts ok, failed;
};

#define SCAN_PART_NONE                                                                             \
    ((struct scan_part){                                                                           \
        .last_end_ns = INT64_MIN, .ok = SEGMENT_STARTS_NONE, .failed = SEGMENT_STARTS_NONE})

static inline int64_t scan_part_first_start_ns(const struct scan_part *p)
{
    return int64_min(p->ok.first_ns, p->failed.first_ns);
}

void scan_part_merge(struct scan_part *to, const struct scan_part *from);

/* When a thread ran, and for how long it was busy. */
struct scan_thread {
    int64_t n;
    uint64_t busy_ns; /* may wrap around: years of requests at a time */
    int64_t first_start_ns, last_end_ns;
    int64_t latest_start_ns; /* of the rows so far, while the table is scanned */
};

/* Requests that start in [from_ns, last_ns] and end at end_ns or before. */
struct scan_keep {
    int64_t from_ns, last_ns, end_ns;
};

#define SCAN_KEEP_ALL ((struct scan_keep){INT64_MIN, INT64_MAX, INT64_MAX})

/* What is known of a table. */
struct scan {
    const struct table *t;
    size_t n_places, n_threads;    /* ids of the table */
    struct scan_part *parts;       /* by place */
    struct segment_thread *ranges; /* by thread, over all requests */
    struct scan_thread *threads;   /* by thread, over all requests */
    struct blocks blocks;
    struct scan_part all;
    size_t earliest;              /* row; 0 without rows */
    int64_t min_bytes, max_bytes; /* of the successful; min > max: none */
    /* Before any row is dropped: */
    uint64_t n_identical;         /* rows that say what another one of their thread says */
    struct scan_repeats *repeats; /* by section of the dataset; NULL: there was none to compare */
};

/* Of a section whose time another section shares. */
struct scan_repeats {
    uint64_t n;          /* rows that were looked at */
    uint64_t n_repeated; /* that say, but for the thread, what one of another section says */
    uint64_t n_fine;     /* whose start is no whole millisecond */
};

/* One pass over all rows. False: out of memory, or a sum past 63 bits. scan_fini may be called in
 * any case. */
bool scan_init(struct scan *s, const struct dataset *d, struct table *t, struct err *e);
void scan_fini(struct scan *s);

/* Frees the parts, which only sets need. */
void scan_trim(struct scan *s);

/* Drops the other rows from the scan's table `t`; rows change their places. Costs the rows at the
 * edges. False: out of memory; nothing has changed then. */
bool scan_drop(struct scan *s, const struct dataset *d, struct table *t,
               const struct scan_keep *keep, struct err *e);

/* ---- identical.c ---- */

/* Counts rows that are the same as one before them, of the same thread: s->n_identical. 8 to 16
 * bytes a row while it runs, as the other one. */
bool identical_count(struct scan *s, struct err *e);

/* Counts rows that stand in another section too, whose threads have other numbers: s->repeats. */
bool identical_count_repeated(struct scan *s, const struct dataset *d, struct err *e);

/* ---- analysis_set.c: one operation type, or all types together ---- */

/* The hosts (or clients) of a set, each with its share; arrays by key. */
struct set_group {
    struct group_keys keys;
    struct scan_part *parts;
    struct segment_range *ok;    /* active ranges of the successful */
    int64_t *n_inside;           /* successful requests inside the set's range `ok` */
    struct host_result *results; /* borrowed: where they go, `stride` bytes apart; NULL: none */
    size_t stride;
};

static inline struct host_result *set_group_result(const struct set_group *g, size_t k)
{
    return (struct host_result *)((char *)g->results + k * g->stride);
}

struct set {
    const struct dataset *d;
    const struct scan *const *scans; /* borrowed, by table */
    size_t n_scans;
    enum range_kind kind; /* not RANGE_AUTO */
    bool with_groups;     /* ranges, totals and segments of each host and client too */

    struct scan_part all;
    struct segment_thread *threads; /* of all scans together; ids of the table if there is one */
    size_t n_threads;
    struct segment_range range, ok; /* active: of all requests; of the successful */
    struct set_group hosts, clients;

    int64_t segment_ns;
    struct segment_grid grid; /* n = 0: no segments */
    struct throughput total;
    struct attribution_outside outside;
    int64_t n_inside; /* successful requests inside `ok` */

    struct segments segments; /* absent with fewer than two, or without a total */
};

/* Groups and active ranges. set_fini may be called in any case. */
bool set_init(struct set *s, const struct dataset *d, const struct scan *const *scans,
              size_t n_scans, enum range_kind kind, bool with_groups, struct err *e);
void set_fini(struct set *s);

/* Frees what the results need no longer: parts and ranges of the groups. After set_totals. */
void set_trim(struct set *s);

/* The range in which all clients ran: the intersection of their single ranges, failed requests
 * included. */
bool set_common_client_range(const struct set *s, struct segment_range *r, struct err *e);

/* Chooses the grid of segments of segment_ns (0: chosen by the duration of the set or, by_total, by
 * that of its total), adds up totals and what lies outside. Groups that have room for results get
 * all of these but the segments. */
bool set_totals(struct set *s, int64_t segment_ns, bool by_total, struct err *e);

/* ---- analysis_segments.c ---- */

/* Fills the segments of the set and of its groups. After set_totals. */
bool set_segments(struct set *s, struct err *e);

/* ---- analysis_sample.c ---- */

/* The successful requests of a table inside a range, or the rows named by a list of pairs. */
struct rows {
    const struct table *t;
    const struct scan *scan;    /* of t; unless pair != NULL */
    struct segment_range range; /* unless pair != NULL */
    const uint64_t *pair;
    unsigned shift; /* 0: the row in the low, 32: in the high half of each */
    size_t n;       /* rows or pairs to look at */
};

/* Some of them, to look at one after another. */
struct rows_block {
    size_t from, to;
    bool all; /* each is one of them */
};

static inline size_t rows_n_blocks(const struct rows *r)
{
    return r->pair != NULL ? 1 : r->scan->blocks.n;
}

static inline struct rows_block rows_block(const struct rows *r, size_t block)
{
    if (r->pair != NULL)
        return (struct rows_block){0, r->n, true};
    const struct block *b = &r->scan->blocks.v[block];
    return (struct rows_block){
        .from = block * BLOCKS_ROWS,
        .to = blocks_end(&r->scan->blocks, block),
        .all =
            !b->failed && b->min_start_ns >= r->range.start_ns && b->max_end_ns <= r->range.end_ns,
    };
}

/* Row k of a block; false: not one of them. */
static inline bool rows_get(const struct rows *r, const struct rows_block *block, size_t k,
                            size_t *row)
{
    *row = r->pair != NULL ? (uint32_t)(r->pair[k] >> r->shift) : k;
    return block->all || table_done_within(r->t, k, r->range.start_ns, r->range.end_ns);
}

/* How rows are divided: not at all (both NULL), by a key of group_keys, or by size class. */
struct parts {
    size_t n;
    const uint32_t *of_place;
    const uint8_t *of_class;
    const int64_t *room; /* by part: no more rows than that */
};

static inline size_t part_of(const struct parts *p, const struct table *t, size_t row)
{
    if (p->of_place != NULL)
        return p->of_place[table_place(t, row)];
    return p->of_class != NULL ? p->of_class[analysis_size_class(packed_get(&t->bytes, row))] : 0;
}

/* The functions below fill figures of all rows together and of each part; either pointer may be
 * NULL. Those of the parts stand `stride` bytes apart, within larger structs. Without rows nothing
 * is filled.
 *
 * Times of a column; `plus` (NULL: nothing) is added to them, and rows without either are left out.
 */
bool sample_times(const struct rows *rows, const struct parts *parts, const struct packed *column,
                  const struct packed *plus, struct times *all, struct times *by_part,
                  size_t stride, struct err *e);
/* Throughputs of single requests, with their TTFBs. */
bool sample_sized(const struct rows *rows, const struct parts *parts, struct sized *by_part,
                  size_t stride, struct err *e);

/* ---- analysis_access.c ---- */

/* First and last row per object, by bucket of size: bucket b holds sizes in [edge[b], edge[b + 1]).
 */
struct access {
    size_t n_buckets;
    uint64_t *pair;                     /* first row in the low, last row in the high half */
    size_t first[ANALYSIS_N_SIZES + 1]; /* pairs of bucket b: n[b] from pair[first[b]] on */
    size_t n[ANALYSIS_N_SIZES];         /* objects */
    bool repeated[ANALYSIS_N_SIZES];    /* some object is touched more than once */
};

/* Over all successful requests of the scan's table with a key and a size in a bucket. access_fini
 * may be called in any case. Memory: 12 bytes a row while it runs, 8 bytes an object then. */
bool access_init(struct access *a, const struct dataset *d, const struct scan *scan,
                 const int64_t *edges, size_t n_buckets, struct err *e);
void access_fini(struct access *a);

/* ---- analysis_requests.c ---- */

/* Request statistics of one operation on their way: pieces that may run at the same time. */
struct requests_work {
    struct operation *op;
    const struct set *s;
    struct rows rows;
    struct parts hosts, clients;
    struct host_requests *by_host; /* the operation's, by key of the set; NULL: one host */
    bool without_access;
};

/* Decides what there is to compute. */
bool requests_work_init(struct requests_work *w, struct operation *op, const struct set *s,
                        enum analysis_depth depth, struct err *e);
/* The pieces; each takes a struct requests_work. */
bool requests_durations(void *work, struct err *e);
bool requests_ttfb(void *work, struct err *e);
bool requests_access(void *work, struct err *e);
bool requests_sizes(void *work, struct err *e);
/* Names the hosts, and leaves out those without requests. */
void requests_work_finish(struct requests_work *w);
void requests_free(struct requests *r);
/* Joins neighbouring size classes to buckets. of_class: bucket of each class that has requests;
 * edges[b] .. edges[b + 1]: sizes of bucket b. Returns the number of buckets. */
size_t requests_join_classes(const int64_t *n_by_class, int64_t n, uint8_t *of_class,
                             int64_t *edges);

/* ---- errors.c ---- */

/* Failed requests of one message to one host; both names are borrowed. */
struct error_cell {
    const char *message;
    struct error_host at;
};

/* Groups the n cells, which get sorted, into op->errors. False: out of memory; analysis_errors_free
 * may be called in any case. */
bool analysis_errors_of(struct operation *op, struct error_cell *cells, size_t n, struct err *e);

/* The same of the failed requests of a table. */
bool analysis_errors(struct operation *op, const struct dataset *d, const struct table *t,
                     struct err *e);
void analysis_errors_free(struct operation *op);

/* ---- analysis_series.c ---- */

/* What the series of one operation or of the total is computed from, kept in the analysis. */
struct analysis_source {
    const struct table **tables;
    size_t n_tables;
    struct group_keys hosts;
    struct segment_grid grid; /* n = 0: no segments */
    bool has_range;
    int64_t segment_ns; /* > 0, also without a range */
    int64_t first_start_ns, last_end_ns;
    struct group_rows *rows; /* by table; NULL until a host's series is asked for */
};

struct sums_source;

struct analysis_private {
    struct analysis_source *sources; /* one per operation, then the total's */
    struct sums_source *sums;        /* instead of these, where sums are analysed */
};

/* analysis_series of sums (sums_analysis.c). */
bool sums_series(const struct analysis *a, int op, int host, struct series_row **rows, size_t *n,
                 struct err *e);
void sums_source_free(struct sums_source *s);

/* ---- Used by the analysis of sums too ---- */

/* Fastest, median and slowest of the cells of a grid. order: room for g->n. */
struct segments segments_of_cells(const struct segment_grid *g, const struct slice_amounts *cells,
                                  const struct throughput *total, uint32_t *order);

void analysis_source_fini(struct analysis_source *s);

#endif
