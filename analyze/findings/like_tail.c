/* Tails: more of a group's requests are late than of the others'. */
#include "analyze/findings/like_internal.h"
#include "analyze/stats/stats.h"

#include <math.h>

#define LEAST_LATE 30 /* requests */

double like_late_from(const struct compared *x, size_t one_in)
{
    size_t n = 0;

    for (size_t i = 0; i < x->n; i++)
        if (!x->v[i].own)
            x->scratch[n++] = x->v[i].residual;
    return n > 0 ? fmax(stats_select(x->scratch, n, n - 1 - n / one_in), M_LN2) : 0;
}

/* Returns how sure it is that more of a group's requests are late than of the others' at the same
 * time, by so much and as steadily that neither chance nor an event explains it; 0: not. share: of
 * the others' requests that are late. */
static double t_of_late(const struct compared *x, size_t n_blocks, double share, double late_from)
{
    struct {
        double n[2], late[2];
    } v[LIKE_MAX_BLOCKS] = {0};
    double off[LIKE_MAX_BLOCKS], late = 0, more = 0;

    for (size_t i = 0; i < x->n; i++) {
        const struct asked *r = &x->v[i];
        size_t b = like_block_of(x, r->row, n_blocks);

        v[b].n[r->own] += r->row->n;
        v[b].late[r->own] += r->residual > late_from ? r->row->n : 0;
    }
    for (size_t b = 0; b < n_blocks; b++) {
        off[b] = v[b].late[1] - v[b].n[1] * (v[b].late[0] + share) / (v[b].n[0] + 1);
        late += v[b].late[1];
        more += off[b];
    }
    return late < LEAST_LATE || more < late / 2
               ? 0
               : more / sqrt((double)n_blocks * search_long_run_variance(off, n_blocks));
}

double like_find_tail(const struct compared *x, size_t n_blocks, double *late_from)
{
    double later = like_late_from(x, 1000), t = t_of_late(x, n_blocks, 1e-2, *late_from),
           t_later = t_of_late(x, n_blocks, 1e-3, later);

    *late_from = t_later > t ? later : *late_from;
    return fmax(t, t_later);
}
