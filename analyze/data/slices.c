#include "analyze/data/slices.h"

#include "libcommon/int64.h"
#include "libcommon/units.h"

#include <math.h>

#define FRAC_ONE ((unsigned __int128)1 << ATTRIBUTION_FRAC_BITS)

int64_t slice_choose_ns(int64_t full_ns)
{
    static const int16_t lengths_s[] = {1, 5, 15, 60, 5 * 60, 15 * 60, 60 * 60, 3 * 60 * 60};
    const size_t n = sizeof lengths_s / sizeof lengths_s[0];
    size_t i = 0;

    while (i + 1 < n && full_ns / (lengths_s[i] * NS_PER_S) > 400)
        i++;
    return lengths_s[i] * NS_PER_S;
}

void slice_grid_init(struct slice_grid *g, int64_t start_ns, int64_t length_ns, size_t n)
{
    int64_t end_ns;

    if (__builtin_mul_overflow((int64_t)n, length_ns, &end_ns) ||
        __builtin_add_overflow(start_ns, end_ns, &end_ns))
        end_ns = INT64_MAX;
    *g = (struct slice_grid){
        .start_ns = start_ns,
        .end_ns = end_ns,
        .length_ns = length_ns,
        .n = n,
        .per_ns = 1.0 / (double)length_ns,
    };
}

/* Returns where the slice ends that begins at t_ns. The last one may end past 2262; no time does.
 */
static int64_t end_of_slice(const struct slice_grid *g, int64_t t_ns)
{
    return t_ns < INT64_MAX - g->length_ns ? t_ns + g->length_ns : INT64_MAX;
}

static struct attribution_objects slice_fixed(const struct slice_amounts *s)
{
    return (struct attribution_objects){
        .whole = s->n_objects + (int64_t)(s->object_frac >> ATTRIBUTION_FRAC_BITS),
        .frac = s->object_frac & (FRAC_ONE - 1),
    };
}

double slice_n_objects(const struct slice_amounts *s)
{
    struct attribution_objects f = slice_fixed(s);
    return (double)f.whole + ldexp((double)f.frac, -ATTRIBUTION_FRAC_BITS);
}

double slice_ended_mean_ns(const struct slice_totals *s)
{
    int64_t n = s->full_ops + s->ok_partial_ended;
    return n > 0 ? (double)(s->full_ns + s->partial_ended_ns) / (double)n : NAN;
}

double slice_in_flight(const struct slice_totals *s, int64_t length_ns)
{
    return (double)(s->full_ns + s->other_ns) / (double)length_ns;
}

/* Each part is off by less than 2^-96, so sums that should be equal may differ in their last bits;
 * rounding removes that. Sums that should differ get the same key only if they are closer than
 * 2^-64. */
__int128 slice_objects_key(const struct slice_amounts *s)
{
    struct attribution_objects f = slice_fixed(s);
    const unsigned dropped_bits = ATTRIBUTION_FRAC_BITS - 64;
    unsigned __int128 half = (unsigned __int128)1 << (dropped_bits - 1);

    return ((__int128)f.whole << 64) + (__int128)((f.frac + half) >> dropped_bits);
}

void slice_merge(struct slice_amounts *to, const struct slice_amounts *from)
{
    to->bytes += from->bytes;
    to->n_objects += from->n_objects;
    to->object_frac += from->object_frac;
}

static void add_objects(struct slice_amounts *s, struct attribution_objects from,
                        struct attribution_objects to)
{
    s->n_objects += to.whole - from.whole;
    if (to.frac < from.frac) {
        s->n_objects--;
        to.frac += FRAC_ONE;
    }
    s->object_frac += to.frac - from.frac;
}

bool slices_touched(const struct slice_grid *g, const struct attribution_request *r, size_t *first,
                    size_t *last)
{
    if (g->n == 0 || r->start_ns >= g->end_ns || r->end_ns < g->start_ns)
        return false;
    *first = r->start_ns < g->start_ns ? 0 : slice_grid_index(g, r->start_ns);
    *last = r->end_ns >= g->end_ns ? g->n - 1 : slice_grid_index(g, r->end_ns);
    return true;
}

void slices_spread(const struct slice_grid *g, size_t first, size_t last,
                   const struct attribution_request *r, int64_t amount, int64_t *cell,
                   size_t stride)
{
    const struct attribution_request spread = {
        .start_ns = r->start_ns, .end_ns = r->end_ns, .bytes = amount};
    int64_t t_ns = g->start_ns + (int64_t)first * g->length_ns;
    int64_t from = attribution_bytes_before(&spread, t_ns);

    for (size_t k = first; k <= last; k++) {
        t_ns = end_of_slice(g, t_ns);
        int64_t to = attribution_bytes_before(&spread, t_ns);
        *(int64_t *)((char *)cell + (k - first) * stride) += to - from;
        from = to;
    }
}

/* Adds what a successful request moves in slices first .. last. `amounts` is that of slice first;
 * the others follow at distances of `stride` bytes. */
static void add_parts(const struct slice_grid *g, size_t first, size_t last,
                      struct slice_amounts *amounts, size_t stride,
                      const struct attribution_request *r)
{
    int64_t t_ns = g->start_ns + (int64_t)first * g->length_ns;
    struct attribution_objects from = attribution_objects_before(r, t_ns);

    slices_spread(g, first, last, r, r->bytes, &amounts->bytes, stride);
    for (size_t k = first; k <= last; k++) {
        t_ns = end_of_slice(g, t_ns);
        struct attribution_objects to = attribution_objects_before(r, t_ns);
        add_objects((void *)((char *)amounts + (k - first) * stride), from, to);
        from = to;
    }
}

void slices_add_amounts(const struct slice_grid *g, struct slice_amounts *cells,
                        const struct attribution_request *r)
{
    size_t first, last;
    if (!r->ok)
        return;
    if (slice_grid_within(g, r->start_ns, r->end_ns, &first)) {
        cells[first].bytes += r->bytes;
        cells[first].n_objects += r->n_objects;
    } else if (slices_touched(g, r, &first, &last)) {
        add_parts(g, first, last, &cells[first], sizeof *cells, r);
    }
}

void slices_add_partial(const struct slice_grid *g, struct slice_totals *slices,
                        const struct attribution_request *r)
{
    size_t first, last;
    if (!slices_touched(g, r, &first, &last))
        return;
    if (r->ok)
        add_parts(g, first, last, &slices[first].sum, sizeof *slices, r);
    for (size_t k = first; k <= last; k++) {
        struct slice_totals *s = &slices[k];
        int64_t a_ns = g->start_ns + (int64_t)k * g->length_ns, b_ns = end_of_slice(g, a_ns);
        bool started = r->start_ns >= a_ns;
        bool ended = r->end_ns < b_ns;

        s->partial_ops++;
        s->partial_started += started;
        s->partial_ended += ended;
        s->other_ns += int64_min(r->end_ns, b_ns) - int64_max(r->start_ns, a_ns);
        if (!ended)
            continue;
        if (r->ok) {
            s->ok_partial_ended++;
            s->partial_ended_ns += r->end_ns - r->start_ns;
        } else {
            s->errors++;
        }
    }
}

void slices_add_outside(const struct slice_grid *g, struct slices_outside *o,
                        const struct attribution_request *r)
{
    if (r->end_ns < g->start_ns)
        o->n_before++;
    else if (r->end_ns >= g->end_ns)
        o->n_after++;
    if (!r->ok)
        return;
    if (r->start_ns == r->end_ns) { /* a point, all its bytes in one place */
        if (r->end_ns < g->start_ns)
            o->before_bytes += r->bytes;
        else if (r->end_ns >= g->end_ns)
            o->after_bytes += r->bytes;
        return;
    }
    o->before_bytes += attribution_bytes_before(r, g->start_ns);
    o->after_bytes += r->bytes - attribution_bytes_before(r, g->end_ns);
}
