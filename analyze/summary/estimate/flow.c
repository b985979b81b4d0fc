#include "analyze/summary/estimate/flow.h"

#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <stdlib.h>

#define FIXED_ONE 0x1p40 /* FLOW_FRACTION_BITS */

struct flow_parts flow_divide(const struct window *w, int64_t start_ns, int64_t end_ns)
{
    const struct slice_grid *g = &w->grid;
    struct flow_parts p = {.per_ns = 1 / (double)(end_ns - start_ns)};
    int64_t from = int64_max(start_ns, g->start_ns);
    int64_t to = int64_min(end_ns, g->end_ns);

    if (from < to) {
        p.touches = true;
        p.first = slice_grid_index(g, from);
        p.last = to == g->end_ns ? g->n - 1 : slice_grid_index(g, to);
        p.in_middle_ns = (double)g->length_ns;
        p.in_last_ns = (double)(to - (g->start_ns + (int64_t)p.last * g->length_ns));
        if (p.first == p.last)
            p.in_last_ns = (double)(to - from);
        else
            p.in_first_ns = (double)(g->start_ns + (int64_t)(p.first + 1) * g->length_ns - from);
    }
    from = int64_max(start_ns, g->end_ns);
    to = int64_min(end_ns, w->end_ns);
    if (from < to)
        p.in_tail_ns = (double)(to - from);
    return p;
}

bool flow_init(struct flow *f, size_t n, struct err *e)
{
    return mem_cleared(&f->in, n, e) && mem_cleared(&f->over, n, e);
}

void flow_fini(struct flow *f)
{
    free(f->in);
    free(f->over);
}

void flow_add_parts(struct flow *f, const struct flow_parts *p, int64_t amount)
{
    double per_ns = (double)amount * p->per_ns * FIXED_ONE;
    if (p->touches) {
        f->in[p->first] += (__int128)(per_ns * p->in_first_ns);
        f->in[p->last] += (__int128)(per_ns * p->in_last_ns);
        if (p->last > p->first + 1) {
            __int128 part = (__int128)(per_ns * p->in_middle_ns);
            f->over[p->first + 1] += part;
            f->over[p->last] -= part;
        }
    }
    f->tail += (__int128)(per_ns * p->in_tail_ns);
}

double flow_rates(const struct flow *f, size_t n, int64_t segment_ns, double *rate)
{
    __int128 all = f->tail, over = 0;
    for (size_t j = 0; j < n; j++) {
        over += f->over[j];
        rate[j] = (double)(f->in[j] + over) / FIXED_ONE / ((double)segment_ns / 1e9);
        all += f->in[j] + over;
    }
    return (double)all / FIXED_ONE;
}
