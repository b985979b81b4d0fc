/* Shared by the files analysis*.c and by nothing else. */
#ifndef S3_ANALYSIS_INTERNAL_H
#define S3_ANALYSIS_INTERNAL_H

#include "analysis.h"
#include "attribution.h"
#include "group.h"
#include "segment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Section 1: the index of the quantile of `percent` among n > 0 sorted values. */
static inline size_t analysis_quantile_index(size_t n, unsigned percent)
{
    size_t i = (2 * n * percent + 100) / 200;
    return i < n ? i : n - 1;
}

static inline struct attribution_request analysis_request(const struct table *t, size_t i)
{
    return (struct attribution_request){
        .start_ns = t->start[i],
        .end_ns = table_end(t, i),
        .bytes = packed_get(&t->bytes, i),
        .n_objects = packed_get(&t->objects, i),
        .ok = t->error[i] == 0,
    };
}

/* ---- analysis_set.c: sections 2 to 6 for one set of requests ---- */

/* What is known of the requests of one place, or of one key of group_keys. */
struct set_part {
    int64_t n, n_errors;
    int64_t n_bytes; /* of the successful */
    int64_t first_start_ns, last_end_ns;
    struct segment_starts ok_starts; /* of the successful */
};

/* One host's or client's share of a set. */
struct set_group {
    struct group_keys keys;
    struct set_part *parts;     /* by key */
    struct segment_range *ok;   /* by key: active ranges of the successful */
    struct throughput *totals;  /* by key */
    struct segments *segments;  /* by key, on the set's grid */
};

struct set {
    const struct dataset *d;
    const struct table *const *tables; /* borrowed */
    size_t n_tables;
    enum range_kind kind; /* not RANGE_AUTO */
    bool with_groups;     /* also by host and by client */

    struct set_part all;        /* over all requests */
    int64_t n_objects;          /* of the successful */
    int64_t objects_per_op;     /* of the earliest request */
    int64_t n_threads;
    int64_t min_bytes, max_bytes; /* of the successful; min > max: none */
    struct segment_thread *threads; /* by thread index, over all requests */
    struct segment_range range, ok; /* over all; over the successful */
    int64_t segment_ns;
    struct segment_grid grid;       /* n = 0: no segments */
    struct throughput total;
    struct segments segments; /* absent with fewer than two, or without a total */
    struct attribution_outside outside;
    struct set_group hosts, clients; /* filled by groups if with_groups; keys always */
};

/* with_groups: ranges, totals and segments of each host and client too. set_fini may be called in any
 * case. */
void set_init(struct set *s, const struct dataset *d, const struct table *const *tables,
              size_t n_tables, enum range_kind kind, bool with_groups);
/* Counts, keys and active ranges. */
bool set_scan(struct set *s, struct err *e);
/* Cuts segments of segment_ns and adds up everything. 0: the length is chosen, by the duration of the
 * set or (by_total) by that of its total. After set_scan. */
bool set_attribute(struct set *s, int64_t segment_ns, bool by_total, struct err *e);
void set_fini(struct set *s);

/* ---- analysis_requests.c: section 8 ---- */
bool analysis_requests(struct operation *op, const struct set *s, struct err *e);
void analysis_requests_free(struct requests *r);

/* ---- analysis_access.c: first and last request per object ---- */

/* Size buckets as edges: bucket b holds sizes in [edge[b], edge[b + 1]). */
#define ACCESS_MAX_BUCKETS 16
struct access {
    size_t n_buckets;
    uint64_t *pair;                       /* rows: first in the low, last in the high 32 bits */
    size_t first[ACCESS_MAX_BUCKETS + 1]; /* pairs of bucket b: pair[first[b]] .. pair[first[b] + n[b] - 1] */
    size_t n[ACCESS_MAX_BUCKETS];         /* objects */
    bool repeated[ACCESS_MAX_BUCKETS];    /* some object is touched more than once */
};

/* Over all successful requests of t with a key and a size in a bucket. access_fini may be called in any
 * case. Memory: 12 bytes a row while it runs, 8 bytes an object then. */
bool access_init(struct access *a, const struct dataset *d, const struct table *t,
                 const int64_t *edges, size_t n_buckets, struct err *e);
void access_fini(struct access *a);

/* ---- analysis_errors.c ---- */
bool analysis_errors(struct operation *op, const struct dataset *d, const struct table *t,
                     struct err *e);
void analysis_errors_free(struct operation *op);

/* ---- analysis_warnings.c ---- */
bool analysis_warnings(struct analysis *a, struct err *e);
void analysis_warnings_free(struct analysis *a);

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

struct analysis_private {
    struct analysis_source *sources; /* one per operation, then the total's */
};

void analysis_source_fini(struct analysis_source *s);

#endif
