/* Finds counts, sums, starts and threads in one pass over a table. scan_drop updates them. */
#ifndef S3_ANALYZE_SUMMARY_SETS_SCAN_H
#define S3_ANALYZE_SUMMARY_SETS_SCAN_H

#include "analyze/data/dataset.h"
#include "analyze/summary/sets/blocks.h"
#include "analyze/summary/sets/starts.h"
#include "libcommon/attribution.h"
#include "libcommon/err.h"
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

/* Counts, sums and times of some requests: those of a place, a host, a client or a set. */
struct scan_part {
    int64_t n, n_errors;
    int64_t n_bytes, n_objects; /* of the successful requests */
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
    uint64_t busy_ns; /* may wrap around after centuries of busy time */
    int64_t first_start_ns, last_end_ns;
    int64_t latest_start_ns; /* scanning: the latest start so far */
};

/* Keeps requests that start in [from_ns, last_ns] and end at end_ns or before. */
struct scan_keep {
    int64_t from_ns, last_ns, end_ns;
};

#define SCAN_KEEP_ALL ((struct scan_keep){INT64_MIN, INT64_MAX, INT64_MAX})

/* The results of scanning a table. */
struct scan {
    const struct table *t;
    size_t n_places, n_threads;    /* ids of the table */
    struct scan_part *parts;       /* by place */
    struct segment_thread *ranges; /* by thread, over all requests */
    struct scan_thread *threads;   /* by thread, over all requests */
    struct blocks blocks;
    struct scan_part all;
    size_t earliest;              /* row; 0 without rows */
    int64_t min_bytes, max_bytes; /* of the successful requests; min > max: none */
    /* Before any row is dropped: */
    uint64_t n_identical;         /* rows equal to another one of their thread */
    struct scan_repeats *repeats; /* by section of the dataset; NULL: no sections to compare */
};

/* Counts for a section that overlaps another one in time. */
struct scan_repeats {
    uint64_t n;          /* rows compared */
    uint64_t n_repeated; /* equal to a row of another section except for the thread */
    uint64_t n_fine;     /* rows whose start is not a whole millisecond */
};

/* Passes once over all rows. False: out of memory, or a sum exceeds 63 bits; *e says so. scan_fini
 * may be called in any case. */
bool scan_init(struct scan *s, const struct dataset *d, struct table *t, struct err *e);
void scan_fini(struct scan *s);

/* Frees the parts, which only sets need. */
void scan_trim(struct scan *s);

/* Drops the rows of `t`, the scan's table, that `keep` does not name. Rows change their places.
 * Costs a pass over the rows at the edges. Returns false if out of memory. */
bool scan_drop(struct scan *s, const struct dataset *d, struct table *t,
               const struct scan_keep *keep, struct err *e);

/* identical.c: count rows that occur twice. */

/* Counts the rows that equal an earlier row of the same thread in s->n_identical. Takes 8 to 16
 * bytes a row while it runs, as does the function below. Both return false if out of memory. */
bool identical_count(struct scan *s, struct err *e);

/* Counts the rows that another section has too, under other thread numbers, in s->repeats. */
bool identical_count_repeated(struct scan *s, const struct dataset *d, struct err *e);

#endif
