/* The amounts that requests move in each statistical segment (docs/how-the-numbers-are-made.md,
 * section 7). A request's amount is spread evenly over its duration. Sums are in fixed point, 2^-40
 * of a byte or object: the order of rows does not change them. A request may cover many short
 * segments here: this code adds to the first and the last one, and keeps a difference array for
 * those between (slices_spread would divide once for each segment). */
#ifndef S3_ANALYZE_SUMMARY_ESTIMATE_FLOW_H
#define S3_ANALYZE_SUMMARY_ESTIMATE_FLOW_H

#include "analyze/data/slices.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The window in which rates are measured. grid.start_ns is start_ns; the time from grid.end_ns to
 * end_ns is the tail. */
struct window {
    int64_t start_ns, end_ns;
    struct slice_grid grid;
};

/* How a request's time is divided among the segments of a window. */
struct flow_parts {
    size_t first, last;
    double per_ns;                                /* 1 / duration */
    double in_first_ns, in_middle_ns, in_last_ns; /* in_middle: in each segment between */
    double in_tail_ns;
    bool touches; /* false: it touches no segment */
};

/* Divides a request's time; start_ns < end_ns. */
struct flow_parts flow_divide(const struct window *w, int64_t start_ns, int64_t end_ns);

struct flow {
    __int128 *in;   /* by segment: the amount, in fixed point */
    __int128 *over; /* difference array: what requests add to segments they cover wholly */
    __int128 tail;
};

/* Makes room for n segments in *f, which must be all zero. Returns false if out of memory;
 * flow_fini may be called in any case. */
bool flow_init(struct flow *f, size_t n, struct err *e);
void flow_fini(struct flow *f);

#define FLOW_FRACTION_BITS 40

/* Adds the whole amount to segment j. */
static inline void flow_add(struct flow *f, size_t j, int64_t amount)
{
    f->in[j] += (__int128)amount << FLOW_FRACTION_BITS;
}

static inline void flow_add_tail(struct flow *f, int64_t amount)
{
    f->tail += (__int128)amount << FLOW_FRACTION_BITS;
}

void flow_add_parts(struct flow *f, const struct flow_parts *p, int64_t amount);

/* Fills `rate` with amounts per second of the n segments. Returns the amount in the whole window.
 */
double flow_rates(const struct flow *f, size_t n, int64_t segment_ns, double *rate);

#endif
