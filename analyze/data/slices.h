/* Adds requests to time slices (docs/how-the-numbers-are-made.md, section 3): counts, and bytes and
 * objects in proportion to the time that a request spends in a slice. All sums are exact integers,
 * so neither the order of requests nor the number of threads changes anything. */
#ifndef S3_ANALYZE_DATA_SLICES_H
#define S3_ANALYZE_DATA_SLICES_H

#include "libcommon/attribution.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the segment length for a set of this full duration: the smallest of 1s ... 3h that gives
 * at most 400 segments, else 3h. */
int64_t slice_choose_ns(int64_t full_ns);

/* n segments of length_ns from start_ns on; they end at start_ns + n * length_ns, or at INT64_MAX.
 */
struct slice_grid {
    int64_t start_ns, end_ns;
    int64_t length_ns;
    size_t n;
    double per_ns; /* 1 / length_ns */
};

void slice_grid_init(struct slice_grid *g, int64_t start_ns, int64_t length_ns, size_t n);

/* Returns the segment that holds t, for start_ns <= t < end_ns. Multiplying by the reciprocal
 * instead of dividing is off by at most one, as a grid has fewer than 2^32 segments. */
static inline size_t slice_grid_index(const struct slice_grid *g, int64_t t_ns)
{
    int64_t offset_ns = t_ns - g->start_ns;
    int64_t k = (int64_t)((double)offset_ns * g->per_ns);
    int64_t rest_ns = offset_ns - k * g->length_ns;

    k += (rest_ns >= g->length_ns) - (rest_ns < 0);
    return (size_t)k;
}

/* Finds the segment in which all of the time from start_ns to end_ns lies. False: there is none. */
static inline bool slice_grid_within(const struct slice_grid *g, int64_t start_ns, int64_t end_ns,
                                     size_t *segment)
{
    if (start_ns < g->start_ns || end_ns >= g->end_ns)
        return false;
    *segment = slice_grid_index(g, end_ns);
    return start_ns >= g->start_ns + (int64_t)*segment * g->length_ns;
}

/* Returns the segment that holds t, for start_ns <= t; the last one for a later time. 0: there is
 * none. */
static inline size_t slice_grid_nearest(const struct slice_grid *g, int64_t t_ns)
{
    return t_ns < g->end_ns ? slice_grid_index(g, t_ns) : g->n - (g->n > 0);
}

/* The amounts that successful requests moved in a slice. */
struct slice_amounts {
    int64_t bytes;
    int64_t n_objects;             /* whole objects; see object_frac */
    unsigned __int128 object_frac; /* and parts of objects, in 2^-96 */
};

/* All that was added to a slice. A request within one slice touches only the first 64 bytes. */
struct slice_totals {
    struct slice_amounts sum;
    int64_t full_ops; /* successful, started and ended here */
    int64_t errors;   /* failed, ended here */
    __int128 full_ns; /* durations of the full_ops */

    int64_t partial_ops, partial_started, partial_ended;
    int64_t ok_partial_ended;  /* the successful ones of partial_ended */
    __int128 partial_ended_ns; /* whole durations of those */
    __int128 other_ns;         /* time spent here by all requests but the full_ops */
};

static inline int64_t slice_ops_started(const struct slice_totals *s)
{
    return s->full_ops + s->partial_started;
}

static inline int64_t slice_ops_ended(const struct slice_totals *s)
{
    return s->full_ops + s->partial_ended;
}

/* Returns the number of objects, parts included. */
double slice_n_objects(const struct slice_amounts *s);

/* Returns the mean duration in ns of the successful requests that ended here; NaN if none ended. */
double slice_ended_mean_ns(const struct slice_totals *s);

/* Returns the mean number of requests running during a slice of this length. */
double slice_in_flight(const struct slice_totals *s, int64_t length_ns);

/* Returns the number of objects in units of 2^-64, rounded. Use it to compare sums: those that are
 * equal as real numbers give the same key. */
__int128 slice_objects_key(const struct slice_amounts *s);

/* Adds `from` to `to`. */
void slice_merge(struct slice_amounts *to, const struct slice_amounts *from);

/* Finds the slices *first .. *last that a request touches. False: it touches none. */
bool slices_touched(const struct slice_grid *g, const struct attribution_request *r, size_t *first,
                    size_t *last);

/* Spreads `amount` over the slices first .. last that a request touches, in proportion to time, and
 * adds the parts to their cells. `cell` is that of slice first; the others follow at distances of
 * `stride` bytes. Ignores the request's own bytes and objects. */
void slices_spread(const struct slice_grid *g, size_t first, size_t last,
                   const struct attribution_request *r, int64_t amount, int64_t *cell,
                   size_t stride);

/* Does what slices_add does, for a request that does not lie within one slice. */
void slices_add_partial(const struct slice_grid *g, struct slice_totals *slices,
                        const struct attribution_request *r);

/* Adds a request to the slices it touches; slices[0..g->n-1] are those of the grid. Over all
 * requests added, the sums of bytes and of n_objects must stay below 2^63; the caller checks that.
 */
static inline void slices_add(const struct slice_grid *g, struct slice_totals *slices,
                              const struct attribution_request *r)
{
    size_t k;

    if (slice_grid_within(g, r->start_ns, r->end_ns, &k)) {
        struct slice_totals *s = &slices[k];
        if (r->ok) {
            s->sum.bytes += r->bytes;
            s->sum.n_objects += r->n_objects;
            s->full_ops++;
            s->full_ns += r->end_ns - r->start_ns;
        } else {
            s->errors++;
            s->other_ns += r->end_ns - r->start_ns;
        }
        return;
    }
    /* Passes a copy, so that r itself can stay in registers above. */
    const struct attribution_request copy = *r;
    slices_add_partial(g, slices, &copy);
}

/* Like slices_add, but adds only bytes and objects; cells[0..g->n-1] are those of the grid. */
void slices_add_amounts(const struct slice_grid *g, struct slice_amounts *cells,
                        const struct attribution_request *r);

/* The requests and bytes outside a grid. */
struct slices_outside {
    int64_t n_before, n_after;         /* requests that end before its start; at or after its end */
    int64_t before_bytes, after_bytes; /* bytes of successful requests there, in proportion */
};

/* Adds the part of a request that lies outside the grid. */
void slices_add_outside(const struct slice_grid *g, struct slices_outside *o,
                        const struct attribution_request *r);

#endif
