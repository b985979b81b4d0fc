/* Describes an interval in which a group is slow: what of it is slow then, and by how much. */
#include "analyze/findings/like_internal.h"
#include "analyze/stats/stats.h"

#include <math.h>
#include <string.h>

#define LEAST_LONGER 1.1 /* a slow group's requests take so many times as long, at their load */

static const struct like_part all_parts = {{SIZE_MAX, SIZE_MAX, SIZE_MAX}};

/* Requests of a group [1] or of the others [0] in a span. */
struct side {
    double n, residual, mean, times, load, late, late_residual, late_ns, busy_ns;
};

static size_t value_of(const struct compared *x, const struct like_row *r, int part)
{
    return part == LIKE_OP      ? x->l->classes[r->class].op
           : part == LIKE_CLASS ? r->class
                                : like_other_of(x, r);
}

static bool is_in_span(const struct compared *x, const struct like_span *g,
                       const struct like_part *part, const struct like_row *r)
{
    bool is = r->start_ns >= g->start_ns && r->start_ns < g->end_ns;

    for (int k = 0; k < LIKE_N_PARTS; k++)
        is = is && (part->of[k] == SIZE_MAX || part->of[k] == value_of(x, r, k));
    return is;
}

/* Adds up the requests of a part in a span. Late are those above late_from (log). */
static void add_sides(const struct compared *x, const struct like_span *g, double late_from,
                      const struct like_part *part, struct side *of)
{
    memset(of, 0, 2 * sizeof *of);
    for (size_t i = 0; i < x->n; i++) {
        const struct asked *v = &x->v[i];
        double n = v->row->n, late = v->residual > late_from ? n : 0, ns = exp(v->row->y);
        struct side *to = &of[v->own];

        if (!is_in_span(x, g, part, v->row))
            continue;
        to->n += n;
        to->residual += n * v->residual;
        to->mean += n * exp(fmin(v->residual, LIKE_MOST_EXCESS));
        to->times += n * exp(v->took);
        to->busy_ns += n * ns;
        to->load += n * v->row->load[LIKE_MEAN];
        to->late += late;
        to->late_residual += late * v->residual;
        to->late_ns += late * ns;
    }
}

/* Returns the median of log durations in a span, of the group less that of the others. */
static double median_excess(const struct compared *x, const struct like_span *g)
{
    double median[2] = {0};

    for (int own = 0; own < 2; own++) {
        size_t n = 0;
        for (size_t i = 0; i < x->n; i++)
            if (x->v[i].own == own && is_in_span(x, g, &g->part, x->v[i].row))
                x->scratch[n++] = x->v[i].took;
        median[own] = n > 0 ? stats_select(x->scratch, n, n / 2) : 0;
    }
    return median[1] - median[0];
}

/* Whether late requests make the excess of a group: there are twice as many as of the others, and
 * the rest takes as long. A tail raises the mean of logs, too. */
static bool is_tail(const struct side *of)
{
    double rest[2];

    for (int own = 0; own < 2; own++)
        rest[own] = (of[own].residual - of[own].late_residual) / fmax(of[own].n - of[own].late, 1);
    return of[1].late / of[1].n > 2 * of[0].late / of[0].n && rest[1] - rest[0] < LIKE_LEAST / 2;
}

static double excess_of(const struct side *of)
{
    return of[1].n > 0 && of[0].n > 0 ? of[1].residual / of[1].n - of[0].residual / of[0].n : 0;
}

/* Returns how many times as long a group's requests take on average. */
static double times_of(const struct side *of)
{
    return of[1].times / of[1].n / (of[0].times / of[0].n);
}

static void take_away(struct side *of, const struct side *x)
{
    for (int own = 0; own < 2; own++) {
        of[own].n -= x[own].n;
        of[own].residual -= x[own].residual;
    }
}

/* Narrows the part to that of the first operation, class and other party that alone is slow: its
 * requests have the excess of the span, and all others next to none. Of many classes, or of many
 * parties, none is a part. Fills in the sides of the part. */
static struct like_part narrow(const struct compared *x, const struct like_span *g, double late,
                               struct side *of)
{
    const size_t n[LIKE_N_PARTS] = {x->l->c->n_ops, x->l->n_classes, x->n_others};
    struct like_part part = all_parts;
    struct side all[2];

    add_sides(x, g, late, &all_parts, all);
    memcpy(of, all, sizeof all);
    for (int k = 0; k < LIKE_N_PARTS; k++)
        for (size_t i = 0; i < n[k] && n[k] > 1 && n[k] <= LIKE_FEW_GROUPS; i++) {
            struct like_part p = part;
            struct side in[2], out[2];

            p.of[k] = i;
            add_sides(x, g, late, &p, in);
            memcpy(out, all, sizeof all);
            take_away(out, in);
            if (in[1].n < LIKE_OF_ALL || out[1].n < LIKE_OF_ALL || in[1].n == of[1].n ||
                excess_of(in) < LIKE_LEAST || excess_of(out) > excess_of(in) / LIKE_NEXT_TO_NONE ||
                excess_of(out) > LIKE_LEAST / 2)
                continue;
            part = p;
            memcpy(of, in, sizeof in);
            break;
        }
    return part;
}

static int64_t block_start_ns(const struct compared *x, const struct answer *a, size_t block)
{
    const struct course *c = x->l->c;
    double into = (double)block / (double)a->n_blocks;

    return block >= a->n_blocks ? c->end_ns
                                : c->start_ns + (int64_t)(into * (double)(c->end_ns - c->start_ns));
}

/* Returns the number of groups that a slow one is compared with at a time. */
static double n_reference(const struct compared *x, int64_t ns)
{
    double n = 0;
    for (size_t k = 0; k < x->n_groups; k++)
        n += like_is_slow_at(&x->slow[k], ns) ? 0 : 1;
    return fmax(n - 1, 1);
}

bool like_fill_span(const struct compared *x, const struct answer *a, const struct interval *v,
                    double late, struct like_span *g)
{
    const struct course *c = x->l->c;
    bool is_all = v->to == 0;
    const double *of_block = a->of.v[a->measure];
    struct side of[2];

    *g = (struct like_span){
        .start_ns = is_all ? c->start_ns : block_start_ns(x, a, a->of.block[v->from]),
        .end_ns = is_all ? c->end_ns : block_start_ns(x, a, a->of.block[v->to - 1] + 1),
        .t = v->t};
    /* No onset is claimed unless the time before was normal, or nothing could be compared then, and
     * likewise at the end. */
    double edge_ns = SLOW_EDGE_FRAC * (double)(c->end_ns - c->start_ns);
    g->has_start = !is_all && (v->from >= LIKE_IN_BLOCK || v->from == 0) &&
                   (double)(g->start_ns - c->start_ns) > edge_ns &&
                   search_mean(of_block, 0, v->from) < v->mean / 2;
    g->has_end = !is_all && (v->to + LIKE_IN_BLOCK <= a->of.n || v->to == a->of.n) &&
                 (double)(c->full_until_ns - g->end_ns) > edge_ns &&
                 search_mean(of_block, v->to, a->of.n) < v->mean / 2;
    g->part = narrow(x, g, late, of);
    g->is_tail = c->has_requests && is_tail(of);
    g->n = of[1].n;
    g->ratio = g->is_tail ? times_of(of) : exp(median_excess(x, g));
    g->load_ratio =
        a->measure == MEAN ? of[1].mean / of[1].n / (of[0].mean / of[0].n) : exp(excess_of(of));
    if (!c->has_requests) { /* a load that grows in proportion explains as much */
        double more = of[1].load / of[1].n - of[0].load / of[0].n;
        g->load_ratio = g->ratio * exp(-fmax(more, 0));
        g->is_load = more > log(LEAST_LONGER) || c->clients.n > 1;
        if (of[1].n * n_reference(x, g->start_ns) >
            LEAST_LONGER * of[0].n) /* it is sent more requests */
            g->ratio = fmin(g->ratio, g->load_ratio);
    }
    g->lost_frac = fmax(0, of[1].busy_ns * (1 - 1 / times_of(of)) / x->l->busy_ns);
    g->late = of[1].late / of[1].n;
    g->others_late = of[0].late / of[0].n;
    g->late_ns = of[1].late_ns / fmax(of[1].late, 1);
    return g->ratio >= LEAST_LONGER;
}

bool like_may_be_busy(const struct compared *x, size_t group, const struct like_span *g)
{
    double n[2] = {0}, load[2] = {0}, took[2] = {0}, squares = 0, products = 0, most = 0;

    if (x->groups != LIKE_HOSTS || !x->l->c->has_requests)
        return false;
    memset(x->n_of, 0, x->n_groups * sizeof *x->n_of);
    for (size_t i = 0; i < x->n; i++) {
        const struct asked *r = &x->v[i];
        double met = r->row->load[LIKE_MEAN];

        if (!is_in_span(x, g, &all_parts, r->row))
            continue;
        x->n_of[like_group_of(x, r->row)] += r->row->n;
        n[r->own] += r->row->n;
        load[r->own] += r->row->n * met;
        took[r->own] += r->row->n * r->took;
        squares += r->own ? r->row->n * met * met : 0;
        products += r->own ? r->row->n * met * r->took : 0;
    }
    for (size_t k = 0; k < x->n_groups; k++)
        most = k != group ? fmax(most, x->n_of[k]) : most;
    double slope = (products - load[1] * took[1] / n[1]) / (squares - load[1] * load[1] / n[1]);
    double more = load[1] / n[1] - load[0] / n[0], longer = took[1] / n[1] - took[0] / n[0];
    return n[1] > LEAST_LONGER * most + LIKE_FURTHER_T * sqrt(most) &&
           2 * fmin(slope, 1) * more > longer;
}
