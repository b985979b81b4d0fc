/* How durations grow with the load: fits it to the requests, and takes it away. */
#include "analyze/findings/like_internal.h"
#include "analyze/stats/stats.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

/* A request of the fit. Those of a stratum, a group and a block of time have one key. Slopes come
 * from within these alone, so that a slow group does not bend them. */
struct cell {
    uint64_t key;
    const struct like_row *row;
};

static size_t stratum_of(const struct compared *x, const struct like_row *r)
{
    return r->class * x->n_others + like_other_of(x, r);
}

static int compare_cells(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

bool like_fit_init(struct compared *x, struct err *e)
{
    const struct like *l = x->l;
    uint64_t below = course_sample_below(LIKE_WANTED, (double)l->n);

    if (!mem_new(&x->cells, l->n, e))
        return false;
    for (int k = 0; k < LIKE_N_LOADS; k++) {
        /* Seconds do not show how durations grow with the load. */
        x->is_known[k] = l->c->has_requests && (k != LIKE_OWN || x->groups == LIKE_CLIENTS);
        for (size_t i = 0; i < l->n; i++)
            x->scratch[i] = l->v[i].load[k];
        for (size_t j = 0; j <= LIKE_PIECES; j++)
            x->knots[k][j] = (float)stats_select(x->scratch, l->n, j * (l->n - 1) / LIKE_PIECES);
    }
    for (size_t i = 0; i < l->n; i++) {
        const struct like_row *r = &l->v[i];
        if (course_is_sampled(r->start_ns, below))
            x->cells[x->n_cells++] = (struct cell){
                (stratum_of(x, r) * x->n_groups + like_group_of(x, r)) * LIKE_SCREEN_BLOCKS +
                    like_block_of(x, r, LIKE_SCREEN_BLOCKS),
                r};
    }
    qsort(x->cells, x->n_cells, sizeof *x->cells, compare_cells);
    return true;
}

/* Fills in how far each load goes into each piece. */
static void columns_of(const struct compared *x, const float *load, double *v)
{
    for (int k = 0; k < LIKE_N_LOADS; k++)
        for (int j = 0; j < LIKE_PIECES; j++) {
            const float *knot = &x->knots[k][j];
            float into = load[k] < knot[1] ? load[k] - knot[0] : knot[1] - knot[0];

            v[k * LIKE_PIECES + j] = x->is_known[k] && into > 0 ? into : 0;
        }
}

static void add_product(struct gram *to, const double *v, double y, double n)
{
    for (int i = 0; i < LIKE_COLUMNS; i++) {
        if (v[i] == 0)
            continue;
        to->xy[i] += n * v[i] * y;
        for (int j = 0; j <= i; j++)
            to->xx[i][j] += n * v[i] * v[j];
    }
}

static void add_gram(struct gram *to, const struct gram *x, double times)
{
    for (int i = 0; i < LIKE_COLUMNS; i++) {
        to->xy[i] += times * x->xy[i];
        for (int j = 0; j <= i; j++)
            to->xx[i][j] += times * x->xx[i][j];
    }
}

/* Adds the rows of one key, less their means. */
static void add_cells(struct compared *x, const struct cell *v, size_t n)
{
    double sum[LIKE_COLUMNS] = {0}, sum_y = 0, column[LIKE_COLUMNS], y0 = v->row->y, n_added = 0;
    size_t group = like_group_of(x, v->row);
    struct gram *to = x->of_group != NULL ? &x->of_group[group] : &x->all;

    for (size_t i = 0; i < n && n > 1; i++) {
        const struct like_row *r = v[i].row;
        if (like_is_slow_at(&x->slow[group], r->start_ns))
            continue;
        columns_of(x, r->load, column);
        add_product(to, column, r->y - y0, 1);
        for (int k = 0; k < LIKE_COLUMNS; k++)
            sum[k] += column[k];
        sum_y += r->y - y0;
        n_added++;
    }
    add_product(to, sum, sum_y, -1 / fmax(n_added, 1));
}

static void raise(float *to, const float *load)
{
    for (int k = 0; k < LIKE_N_LOADS; k++)
        to[k] = fmaxf(load[k], to[k]);
}

void like_refer(struct compared *x)
{
    const struct like *l = x->l;

    x->all = (struct gram){0};
    memset(x->met, 0, x->n_groups * sizeof *x->met);
    for (size_t k = 0; x->of_group != NULL && k < x->n_groups; k++)
        x->of_group[k] = x->all;
    for (size_t i = 0; i < l->n; i++) {
        size_t group = like_group_of(x, &l->v[i]);
        if (!like_is_slow_at(&x->slow[group], l->v[i].start_ns))
            raise(x->met[group], l->v[i].load);
    }
    for (size_t i = 0, end; i < x->n_cells; i = end) {
        for (end = i + 1; end < x->n_cells && x->cells[end].key == x->cells[i].key;)
            end++;
        add_cells(x, x->cells + i, end - i);
    }
    for (size_t k = 0; x->of_group != NULL && k < x->n_groups; k++)
        add_gram(&x->all, &x->of_group[k], 1);
}

/* Fits the slopes of the others, each between 0 and 1, by coordinate descent. */
static void fit_others(const struct compared *x, size_t group, double *slope)
{
    struct gram g = x->all;

    if (group < x->n_groups && x->of_group != NULL)
        add_gram(&g, &x->of_group[group], -1);
    for (int pass = 0; pass < 100; pass++)
        for (int i = 0; i < LIKE_COLUMNS; i++) {
            double rest = g.xy[i], own = g.xx[i][i] * (1 + 1e-9);
            for (int j = 0; j < LIKE_COLUMNS; j++)
                rest -= slope[j] * (j <= i ? g.xx[i][j] : g.xx[j][i]);
            if (own > 0)
                slope[i] = fmax(0, fmin(1, slope[i] + rest / own));
        }
}

/* Returns the log of a duration at no load. Beyond what the others met the duration may grow in
 * proportion to the load: a server that never idles is not slower than that. */
static float at_no_load(const struct compared *x, const double *slope, const float *met,
                        const struct like_row *r)
{
    double column[LIKE_COLUMNS], sum = 0;
    float load[LIKE_N_LOADS], most = 0;

    for (int k = 0; k < LIKE_N_LOADS; k++) {
        load[k] = fminf(r->load[k], met[k]);
        most = x->is_known[k] ? fmaxf(most, r->load[k] - load[k]) : most;
    }
    columns_of(x, load, column);
    for (int i = 0; i < LIKE_COLUMNS; i++)
        sum += slope[i] * column[i];
    return r->y - (float)sum - most;
}

void like_compare(struct compared *x, size_t group, double least)
{
    double slope[LIKE_COLUMNS] = {0};
    float met[LIKE_N_LOADS] = {0};
    size_t n = x->n = 0;

    fit_others(x, group, slope);
    for (size_t k = 0; k < x->n_groups; k++)
        if (k != group)
            raise(met, x->met[k]);
    memset(x->strata, 0, x->n_strata * sizeof *x->strata);
    for (size_t i = 0; i < x->l->n; i++) {
        const struct like_row *r = &x->l->v[i];
        size_t of = like_group_of(x, r);
        double *s = x->strata[stratum_of(x, r)];
        struct asked v = {r, 0, r->y, of == group};

        if (of != group && like_is_slow_at(&x->slow[of], r->start_ns))
            continue;
        v.residual = at_no_load(x, slope, met, r);
        s[v.own ? N_OWN : N_OTHERS] += r->n;
        s[SUM_OTHERS] += v.own ? 0 : r->n * v.residual;
        s[TOOK_OTHERS] += v.own ? 0 : r->n * v.took;
        x->v[n++] = v;
    }
    for (size_t i = 0; i < n; i++) {
        struct asked v = x->v[i];
        const double *s = x->strata[stratum_of(x, v.row)];

        if ((s[N_OWN] < least && group < x->n_groups) || s[N_OTHERS] < least)
            continue;
        v.residual -= (float)(s[SUM_OTHERS] / s[N_OTHERS]);
        v.took -= (float)(s[TOOK_OTHERS] / s[N_OTHERS]);
        x->v[x->n++] = v;
    }
}
