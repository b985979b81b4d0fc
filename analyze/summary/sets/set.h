/* A set of requests, of one operation type or of all types together: groups, active ranges, totals
 * (sections 2 and 4 of docs/how-the-numbers-are-made.md) and segments (sections 3 and 4). */
#ifndef S3_ANALYZE_SUMMARY_SETS_SET_H
#define S3_ANALYZE_SUMMARY_SETS_SET_H

#include "analyze/data/group.h"
#include "analyze/data/slices.h"
#include "analyze/summary/model/model.h"
#include "analyze/summary/sets/scan.h"
#include "libcommon/err.h"
#include "libcommon/segment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The hosts (or clients) of a set and their shares; arrays by key. */
struct set_group {
    struct group_keys keys;
    struct scan_part *parts;
    struct segment_range *ok;    /* active ranges of the successful requests */
    int64_t *n_inside;           /* successful requests inside the set's range `ok` */
    struct host_result *results; /* borrowed: output, one every `stride` bytes; NULL: none wanted */
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
    bool with_groups;     /* each host and client gets ranges, totals and segments */

    struct scan_part all;
    struct segment_thread *threads; /* of all scans; with one scan by the table's ids */
    size_t n_threads;
    struct segment_range range, ok; /* active ranges: of all requests; of the successful */
    struct set_group hosts, clients;

    int64_t segment_ns;
    struct slice_grid grid;   /* n = 0: no segments */
    struct throughput total;  /* of the range `ok` */
    struct throughput judged; /* of `range`, so that time in which all requests fail counts */
    struct slices_outside outside;
    int64_t n_inside; /* successful requests inside `ok` */

    struct segments segments; /* absent with fewer than two, or without a total */
};

/* Fills groups and active ranges. False: out of memory, or a sum exceeds 63 bits; *e says so.
 * set_fini may be called in any case. */
bool set_init(struct set *s, const struct dataset *d, const struct scan *const *scans,
              size_t n_scans, enum range_kind kind, bool with_groups, struct err *e);
void set_fini(struct set *s);

/* Frees what results no longer need: parts and ranges of the groups. Call it after set_totals. */
void set_trim(struct set *s);

/* Finds the range in which all clients ran: the intersection of their single ranges, failed
 * requests included. */
bool set_common_client_range(const struct set *s, struct segment_range *r, struct err *e);

/* Chooses the grid of segments, computes totals, and adds up what lies outside. segment_ns 0: the
 * length is chosen by the duration of the set or, if by_total, by that of its total. Groups with
 * room for results get everything but the segments. False: out of memory, too many segments, or
 * segments shorter than the resolution of the starts; *e says so. */
bool set_totals(struct set *s, int64_t segment_ns, bool by_total, struct err *e);

/* Fills the segments of the set and of its groups. Call it after set_totals. */
bool set_segments(struct set *s, struct err *e);

/* Finds the fastest, median and slowest cells of a grid. `order` is scratch space for g->n numbers.
 */
struct segments segments_of_cells(const struct slice_grid *g, const struct slice_amounts *cells,
                                  const struct throughput *total, uint32_t *order);

#endif
