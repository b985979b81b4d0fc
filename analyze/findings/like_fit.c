/* How durations grow with the load: fits it to the requests, and takes it away. */
#include "analyze/base/csort.h"
#include "analyze/findings/like_internal.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

#define FIT_REQUESTS 32768

/* ---- Strata ---- */

bool like_number_strata(struct compared *x, struct err *e)
{
    const struct like *l = x->l;
    size_t *first = NULL;
    uint32_t *by_class = NULL, *of_other = NULL;
    bool ok = mem_cleared(&first, l->n_classes + 2, e) && mem_new(&by_class, l->n, e) &&
              mem_new(&of_other, x->n_others, e);

    for (size_t i = 0; ok && i < l->n; i++)
        csort_count(first, l->v[i].class);
    if (ok)
        csort_sum(first, l->n_classes);
    for (size_t i = 0; ok && i < l->n; i++)
        by_class[csort_place(first, l->v[i].class)] = (uint32_t)i;
    for (size_t k = 0; ok && k < l->n_classes; k++) {
        memset(of_other, 0xFF, x->n_others * sizeof *of_other);
        for (size_t j = first[k]; j < first[k + 1]; j++) {
            uint32_t *s = &of_other[like_other_of(x, &l->v[by_class[j]])];
            if (*s == UINT32_MAX)
                *s = (uint32_t)x->n_strata++;
            x->stratum[by_class[j]] = *s;
        }
    }
    free(first);
    free(by_class);
    free(of_other);
    return ok;
}

/* ---- How durations grow with the load ---- */

void like_choose_knots(struct compared *x)
{
    const struct like *l = x->l;

    for (int k = 0; k < LIKE_N_LOADS; k++) {
        double n = 0, counts[LIKE_LEVELS] = {0}, sum = 0;
        int *knots = x->curves.knots[k], piece = 0;

        for (size_t i = 0; i < l->n; i++) {
            counts[l->v[i].load[k]] += l->v[i].n;
            n += l->v[i].n;
        }
        for (int level = 0; level < LIKE_LEVELS; level++) {
            sum += counts[level];
            while (piece <= LIKE_PIECES && sum > 0 &&
                   (sum >= n * piece / LIKE_PIECES || piece == 0)) {
                knots[piece++] = level;
                if (piece > LIKE_PIECES)
                    break;
            }
        }
        while (piece <= LIKE_PIECES)
            knots[piece++] = LIKE_LEVELS - 1;
        /* Seconds do not show how durations grow with the load. */
        bool is_known = l->c->has_requests && (k != LIKE_OWN || x->groups == LIKE_CLIENTS);
        x->step[k] = is_known ? l->most[k] / (LIKE_LEVELS - 1) : 0;
    }
}

/* Fills in the columns of a row: how far each load goes into each piece. */
static void columns_of(const struct compared *x, const struct like_row *r, double *v)
{
    for (int k = 0; k < LIKE_N_LOADS; k++)
        for (int j = 0; j < LIKE_PIECES; j++) {
            int from = x->curves.knots[k][j], to = x->curves.knots[k][j + 1];
            int level = r->load[k] < to ? r->load[k] : to;

            v[k * LIKE_PIECES + j] = level > from ? (level - from) * x->step[k] : 0;
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

/* A cell of the fit: requests of a stratum and a group. Slopes come from within cells alone, so
 * that a slow group does not bend them. */
struct cell {
    uint64_t key;
    uint32_t row;
};

static int compare_cells(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Adds the rows of a cell, less their means. */
static void add_cell(struct compared *x, const struct cell *v, size_t n)
{
    const struct like *l = x->l;
    double sum[LIKE_COLUMNS] = {0}, sum_y = 0, column[LIKE_COLUMNS], y0 = l->v[v[0].row].y;
    struct gram *to =
        x->of_group != NULL ? &x->of_group[like_group_of(x, &l->v[v[0].row])] : &x->all;

    if (n < 2)
        return;
    for (size_t i = 0; i < n; i++) {
        const struct like_row *r = &l->v[v[i].row];
        columns_of(x, r, column);
        add_product(to, column, r->y - y0, 1);
        for (int k = 0; k < LIKE_COLUMNS; k++)
            sum[k] += column[k];
        sum_y += r->y - y0;
    }
    add_product(to, sum, sum_y, -1 / (double)n);
}

static void raise_levels(uint8_t *to, const uint8_t *levels)
{
    for (int k = 0; k < LIKE_N_LOADS; k++)
        to[k] = levels[k] > to[k] ? levels[k] : to[k];
}

bool like_refer(struct compared *x, struct err *e)
{
    const struct like *l = x->l;
    uint64_t below = course_sample_below(FIT_REQUESTS, l->n);
    struct cell *v;
    size_t n = 0;

    if (!mem_new(&v, l->n, e))
        return false;
    x->all = (struct gram){0};
    for (size_t k = 0; k < x->n_groups; k++) {
        memset(x->met[k], 0, sizeof x->met[k]);
        if (x->of_group != NULL)
            x->of_group[k] = x->all;
    }
    for (size_t i = 0; i < l->n; i++) {
        const struct like_row *r = &l->v[i];
        if (like_is_slow_at(x, like_group_of(x, r), r->start_ns))
            continue;
        raise_levels(x->met[like_group_of(x, r)], r->load);
        if (course_is_sampled(r->start_ns, below))
            v[n++] = (struct cell){((uint64_t)x->stratum[i] << 32 | like_group_of(x, r)) *
                                           LIKE_SCREEN_BLOCKS +
                                       like_block_of(x, r, LIKE_SCREEN_BLOCKS),
                                   (uint32_t)i};
    }
    qsort(v, n, sizeof *v, compare_cells);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && v[end].key == v[i].key;)
            end++;
        add_cell(x, v + i, end - i);
    }
    free(v);
    for (size_t k = 0; x->of_group != NULL && k < x->n_groups; k++)
        add_gram(&x->all, &x->of_group[k], 1);
    return true;
}

/* Fits the slopes, each between 0 and 1, by coordinate descent. */
static void fit(const struct gram *g, struct curves *c)
{
    double w[LIKE_COLUMNS] = {0};

    for (int pass = 0; pass < 100; pass++)
        for (int i = 0; i < LIKE_COLUMNS; i++) {
            double rest = g->xy[i], own = g->xx[i][i] * (1 + 1e-9);
            for (int j = 0; j < LIKE_COLUMNS; j++)
                rest -= w[j] * (j <= i ? g->xx[i][j] : g->xx[j][i]);
            if (own > 0)
                w[i] = fmax(0, fmin(1, w[i] + rest / own));
        }
    memcpy(c->slope, w, sizeof w);
}

/* By load and level: the predicted log of the duration, and how far the level is beyond what the
 * others met. */
struct prediction {
    float of[LIKE_N_LOADS][LIKE_LEVELS], beyond[LIKE_N_LOADS][LIKE_LEVELS];
};

static void predict(const struct compared *x, const uint8_t *met, struct prediction *p)
{
    const struct curves *c = &x->curves;

    for (int k = 0; k < LIKE_N_LOADS; k++) {
        for (int level = 0; level < LIKE_LEVELS; level++) {
            int at = level < met[k] ? level : met[k];
            double sum = 0;

            p->beyond[k][level] = (float)((level - at) * x->step[k]);
            for (int j = 0; j < LIKE_PIECES; j++) {
                int from = c->knots[k][j], to = at < c->knots[k][j + 1] ? at : c->knots[k][j + 1];
                sum += to > from ? c->slope[k][j] * (to - from) * x->step[k] : 0;
            }
            p->of[k][level] = (float)sum;
        }
    }
}

/* Returns the log of a duration at no load. Beyond what the others met the duration may grow in
 * proportion to the load: a server that never idles is not slower than that. */
static float residual_of(const struct prediction *p, const struct like_row *r)
{
    float sum = 0, most = 0;

    for (int k = 0; k < LIKE_N_LOADS; k++) {
        float beyond = p->beyond[k][r->load[k]];
        sum += p->of[k][r->load[k]];
        most = beyond > most ? beyond : most;
    }
    return r->y - sum - most;
}
/* Fits the curves without a group; met: the highest levels of the others. */
static void fit_others(struct compared *x, size_t group, uint8_t *met)
{
    struct gram g = x->all;

    if (group < x->n_groups && x->of_group != NULL)
        add_gram(&g, &x->of_group[group], -1);
    for (size_t k = 0; k < x->n_groups; k++)
        if (k != group)
            raise_levels(met, x->met[k]);
    fit(&g, &x->curves);
}

void like_add_strata(struct compared *x, size_t group)
{
    uint8_t met[LIKE_N_LOADS] = {0};
    struct prediction p;

    fit_others(x, group, met);
    predict(x, met, &p);
    memset(x->strata, 0, x->n_strata * sizeof *x->strata);
    x->n = 0;
    for (size_t i = 0; i < x->l->n; i++) {
        const struct like_row *r = &x->l->v[i];
        uint32_t of = like_group_of(x, r);
        double *s = x->strata[x->stratum[i]];

        if (of != group && like_is_slow_at(x, of, r->start_ns))
            continue;
        struct asked *to = &x->v[x->n++];
        *to = (struct asked){r, residual_of(&p, r), r->y, of == group};
        s[to->own ? N_OWN : N_OTHERS] += r->n;
        s[SUM_OTHERS] += to->own ? 0 : r->n * to->residual;
        s[TOOK_OTHERS] += to->own ? 0 : r->n * r->y;
    }
}
