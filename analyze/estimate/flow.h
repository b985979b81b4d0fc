/* What requests move in each statistical segment, of all and by host
 * (docs/how-the-numbers-are-made.md, section 7). A request's amount is spread evenly over its
 * duration. Sums are in fixed point, 2^-40 of a byte or object, so that none depends on the order
 * of rows. This is not attribution_spread, which divides once for each segment that a
 * request touches. Segments may be short beside a request here: it adds to its first and its last
 * one, and marks where those between begin and end. */
#ifndef S3_ANALYZE_ESTIMATE_FLOW_H
#define S3_ANALYZE_ESTIMATE_FLOW_H

#include "analyze/data/group.h"
#include "libcommon/err.h"
#include "libcommon/segment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where rates are measured: grid.start_ns is start_ns, and what is behind grid.end_ns the tail. */
struct window {
    int64_t start_ns, end_ns;
    struct segment_grid grid;
};

/* A request's way over the segments of a window. */
struct way {
    size_t first, last;
    double per_ns;                                /* 1 / duration */
    double in_first_ns, in_middle_ns, in_last_ns; /* in_middle: in each segment between */
    double in_tail_ns;
    bool touches; /* some segment */
};

/* Of a request with start_ns < end_ns. */
struct way way_over(const struct window *w, int64_t start_ns, int64_t end_ns);

/* What one segment gets. */
struct flow_cell {
    __int128 in;   /* the amount */
    int64_t n, ns; /* of a host: successful requests that ended, and their durations */
};

struct flow {
    struct flow_cell *cells; /* by segment */
    __int128 *over; /* differences of what requests that run over a whole segment add to it */
    __int128 tail;
};

/* Makes room for n segments in *f, which is all zero. False: out of memory; flow_fini may be called
 * in any case. */
bool flow_init(struct flow *f, size_t n, struct err *e);
void flow_fini(struct flow *f);

#define FLOW_FRACTION_BITS 40

/* All of the amount in segment j. */
static inline void flow_add(struct flow *f, size_t j, int64_t amount)
{
    f->cells[j].in += (__int128)amount << FLOW_FRACTION_BITS;
}

static inline void flow_add_tail(struct flow *f, int64_t amount)
{
    f->tail += (__int128)amount << FLOW_FRACTION_BITS;
}

void flow_add_parts(struct flow *f, const struct way *p, int64_t amount);

/* Amounts per second of the n segments; returns the amount in the whole window. */
double flow_rates(const struct flow *f, size_t n, int64_t segment_ns, double *rate);

/* What goes on at each host, on segments of the window's or some of them joined. */
struct flow_hosts {
    const uint32_t *of_place; /* borrowed; NULL: fewer than two hosts, nothing is added */
    size_t n_hosts, n;        /* segments */
    size_t n_joined;          /* segments of the window that make one of these */
    struct window window;
    struct flow *flow;       /* by host; parts of what follows */
    struct flow_cell *cells; /* host x segment */
    __int128 *over;
};

/* hosts may be NULL. False: out of memory; flow_hosts_fini may be called in any case. */
bool flow_hosts_init(struct flow_hosts *h, const struct group_keys *hosts, const struct window *w,
                     struct err *e);
void flow_hosts_fini(struct flow_hosts *h);

/* A successful request. */
void flow_hosts_add(struct flow_hosts *h, uint32_t place, int64_t start_ns, int64_t end_ns,
                    int64_t amount);

/* n successful requests that lie within segment j of these: their durations and amounts together.
 */
static inline void flow_hosts_add_within(struct flow_hosts *h, uint32_t place, size_t j, int64_t n,
                                         int64_t ns, int64_t amount)
{
    struct flow_cell *cell = &h->cells[h->of_place[place] * h->n + j];

    cell->n += n;
    cell->ns += ns;
    cell->in += (__int128)amount << FLOW_FRACTION_BITS;
}

#endif
