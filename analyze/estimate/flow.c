#include "analyze/estimate/flow.h"

#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <stdlib.h>

#define FIXED_ONE 0x1p40 /* FLOW_FRACTION_BITS */

/* Limit of hosts x segments for the comparison of hosts; with more hosts, segments are joined. */
#define MAX_HOST_CELLS 1000000

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
    return mem_cleared(&f->cells, n, e) && mem_cleared(&f->over, n, e);
}

void flow_fini(struct flow *f)
{
    free(f->cells);
    free(f->over);
}

void flow_add_parts(struct flow *f, const struct flow_parts *p, int64_t amount)
{
    double per_ns = (double)amount * p->per_ns * FIXED_ONE;
    if (p->touches) {
        f->cells[p->first].in += (__int128)(per_ns * p->in_first_ns);
        f->cells[p->last].in += (__int128)(per_ns * p->in_last_ns);
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
        rate[j] = (double)(f->cells[j].in + over) / FIXED_ONE / ((double)segment_ns / 1e9);
        all += f->cells[j].in + over;
    }
    return (double)all / FIXED_ONE;
}

bool flow_hosts_init(struct flow_hosts *h, const struct group_keys *hosts, const struct window *w,
                     struct err *e)
{
    *h = (struct flow_hosts){.window = *w, .n_joined = 1};
    if (hosts == NULL || hosts->n < 2)
        return true;
    while (w->grid.n / h->n_joined > MAX_HOST_CELLS / hosts->n)
        h->n_joined++;
    h->n = w->grid.n / h->n_joined;
    h->n_hosts = hosts->n;
    h->of_place = hosts->of_place;
    slice_grid_init(&h->window.grid, w->grid.start_ns, (int64_t)h->n_joined * w->grid.length_ns,
                    h->n);
    if (!mem_new(&h->flow, h->n_hosts, e) || !mem_cleared(&h->cells, h->n_hosts * h->n, e) ||
        !mem_cleared(&h->over, h->n_hosts * h->n, e))
        return false;
    for (size_t k = 0; k < h->n_hosts; k++)
        h->flow[k] = (struct flow){h->cells + k * h->n, h->over + k * h->n, 0};
    return true;
}

void flow_hosts_fini(struct flow_hosts *h)
{
    free(h->flow);
    free(h->cells);
    free(h->over);
}

void flow_hosts_add(struct flow_hosts *h, uint32_t place, int64_t start_ns, int64_t end_ns,
                    int64_t amount)
{
    const struct slice_grid *g = &h->window.grid;
    size_t k = h->of_place[place];

    if (end_ns >= g->start_ns && end_ns < g->end_ns) {
        size_t j = slice_grid_index(g, end_ns);
        if (start_ns >= g->start_ns + (int64_t)j * g->length_ns) {
            flow_hosts_add_within(h, place, j, 1, end_ns - start_ns, amount);
            return;
        }
        struct flow_cell *cell = &h->cells[k * h->n + j];
        cell->n++;
        cell->ns += end_ns - start_ns;
    }
    struct flow_parts p = flow_divide(&h->window, start_ns, end_ns);
    if (start_ns < end_ns)
        flow_add_parts(&h->flow[k], &p, amount);
}
