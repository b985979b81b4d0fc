/* Tails: more of a group's requests are late than of the others'. */
#include "analyze/findings/like_internal.h"
#include "analyze/stats/stats.h"

#include <math.h>

#define TAIL_LEAST 30     /* late requests, or requests that met a load */
#define N_LOADS    64     /* steps of LIKE_LEAST each */
#define EULER      0.5772 /* the mean of the log of an exponential one is that less */

double like_late_from(const struct compared *x, size_t one_in)
{
    size_t n = 0;

    for (size_t i = 0; i < x->n; i++)
        if (!x->v[i].own)
            x->scratch[n++] = x->v[i].residual;
    return n > 0 ? fmax(stats_select(x->scratch, n, n - 1 - n / one_in), M_LN2) : 0;
}

/* Requests of the group [1] and of the others [0], late ones, and how many are expected to be late
 * at their load. */
struct late {
    double n[2], late[2], expected[2];
};

static size_t load_of(const struct asked *r)
{
    return (size_t)fmin(r->row->load[LIKE_MEAN] / LIKE_LEAST, N_LOADS - 1);
}

/* Adds up the requests by load; late are those above late_from (log). Returns whether the others
 * met the loads of most requests of the group. */
static bool add_by_load(const struct compared *x, double late_from, struct late *v)
{
    double n = 0, n_met = 0;

    for (size_t i = 0; i < x->n; i++) {
        const struct asked *r = &x->v[i];
        v[load_of(r)].n[r->own] += r->row->n;
        v[load_of(r)].late[r->own] += r->residual > late_from ? r->row->n : 0;
    }
    for (size_t k = 0; k < N_LOADS; k++) {
        n += v[k].n[1];
        n_met += v[k].n[0] >= TAIL_LEAST ? v[k].n[1] : 0;
    }
    return 2 * n_met >= n;
}

/* Fills in which share of requests is late at each load, as of the others. At loads that they did
 * not meet, requests do not count (NAN); if most of the group's do so, as many may be late as if
 * durations were exponential: those of busy servers of one queue are at most that. */
static void late_by_load(const struct compared *x, double share, double late_from, double *by_load)
{
    struct late v[N_LOADS] = {0};
    double unmet = add_by_load(x, late_from, v) ? NAN : fmax(share, exp(-exp(late_from - EULER)));

    for (size_t k = 0; k < N_LOADS; k++)
        by_load[k] =
            v[k].n[0] < TAIL_LEAST ? unmet : (v[k].late[0] + 10 * share) / (v[k].n[0] + 10);
}

/* Returns how sure it is that more of a group's requests are late than of the others' at the same
 * time and load, by so much and as steadily that neither chance nor an event explains it; 0: not.
 */
static double t_of_late(const struct compared *x, size_t n_blocks, double share, double late_from)
{
    struct late v[LIKE_MAX_BLOCKS] = {0};
    double off[LIKE_MAX_BLOCKS], by_load[N_LOADS], n = 0, more = 0;

    for (size_t i = 0; i < x->n; i++)
        n += x->v[i].own && x->v[i].residual > late_from ? x->v[i].row->n : 0;
    if (n < TAIL_LEAST)
        return 0;
    n = 0;
    late_by_load(x, share, late_from, by_load);
    for (size_t i = 0; i < x->n; i++) {
        const struct asked *r = &x->v[i];
        struct late *to = &v[like_block_of(x, r->row, n_blocks)];

        if (isnan(by_load[load_of(r)]))
            continue;
        to->late[r->own] += r->residual > late_from ? r->row->n : 0;
        to->expected[r->own] += r->row->n * by_load[load_of(r)];
    }
    for (size_t b = 0; b < n_blocks; b++) {
        off[b] =
            v[b].late[1] - v[b].expected[1] * (v[b].late[0] + share) / (v[b].expected[0] + share);
        n += v[b].late[1];
        more += off[b];
    }
    return n < TAIL_LEAST || more < n / 2
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
