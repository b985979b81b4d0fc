/* Tests whether a group is slow, and when. */
#include "analyze/findings/like_internal.h"
#include "analyze/findings/slow_limits.h"
#include "analyze/stats/stats.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_LONGER    1.1  /* a slow group's requests take so many times as long, at their load */
#define LEAST_T         8.0  /* with this t: no healthy run of the simulations came near it */
#define FURTHER_T       4.0  /* for further intervals of a slow group, and gaps between them */
#define MEAN_SURER      1.25 /* the mean must be so much surer than the typical request */
#define LEAST_IN_STRATA 6    /* requests of a stratum, of the group and of the others */
#define MAX_BLOCKS      256
#define LEAST_BLOCKS    8
#define LEAST_IN_BLOCK  3 /* requests of the group, and of the others */
#define MEAN_IN_BLOCK   8
#define LEAST_SPAN      3 /* blocks */
#define BLOCK_NS        .5e9
#define TAIL_BLOCKS     48
#define TAIL_LEAST      30 /* late requests */
#define LATE_LOADS      16 /* steps of the load at which requests are alike */
#define FEW_GROUPS      16
#define MOST_CANDIDATES 32
#define MOST_EXCESS     9 /* of a log duration: a single request must not decide a mean */
#define ROUNDS          3
#define MAD_TO_SD       1.4826 /* of a normal distribution: 1 / 0.6745 */
#define SPREAD_MARGIN   1.3
#define EULER           0.5772 /* the mean of the log of an exponential one is that less */
#define MOST_STEP       3      /* standard deviations: a larger difference is a step */

static const struct like_part all_parts = {SIZE_MAX, SIZE_MAX, SIZE_MAX};

/* Sums of a block of time: of the group [1], of the others [0]. */
struct block {
    double n[2], residual[2], mean[2];
};

/* ---- The test ---- */

static bool is_in_part(const struct compared *x, const struct like_part *p,
                       const struct like_row *r)
{
    return (p->op == SIZE_MAX || x->l->classes[r->class].op == p->op) &&
           (p->class == SIZE_MAX || r->class == p->class) &&
           (p->other == SIZE_MAX || like_other_of(x, r) == p->other);
}

/* Fills in the requests of a group and of the others that can be compared. Returns their number: of
 * the group, or of the others if they are fewer. */
static double fill_residuals(struct compared *x, size_t group)
{
    double n[2] = {0};
    size_t n_kept = 0;

    like_add_strata(x, group);
    for (size_t i = 0; i < x->n; i++) {
        struct asked v = x->v[i];
        const double *s = x->strata[x->stratum[v.row - x->l->v]];

        if (s[N_OWN] < LEAST_IN_STRATA || s[N_OTHERS] < LEAST_IN_STRATA)
            continue;
        v.residual -= (float)(s[SUM_OTHERS] / s[N_OTHERS]);
        v.took -= (float)(s[TOOK_OTHERS] / s[N_OTHERS]);
        n[v.own] += v.row->n;
        x->v[n_kept++] = v;
    }
    x->n = n_kept;
    return fmin(n[0], n[1]);
}

/* A series of differences between a group and the others, by block; blocks without enough requests
 * are left out. */
struct series {
    size_t n, block[MAX_BLOCKS];
    double typical[MAX_BLOCKS], mean[MAX_BLOCKS];
    double sd_typical, sd_mean; /* of a value, as of values that do not depend on each other */
};

static void add_to_block(struct block *b, int own, double n, double residual)
{
    b->n[own] += n;
    b->residual[own] += n * residual;
    b->mean[own] += n * exp(fmin(residual, MOST_EXCESS));
}

static size_t fill_blocks(const struct compared *x, double n, struct block *v)
{
    const struct course *c = x->l->c;
    double block_ns = c->has_requests ? BLOCK_NS : (double)c->block_ns;
    double most = fmin(MAX_BLOCKS, (double)(c->end_ns - c->start_ns) / block_ns);
    size_t n_blocks = (size_t)fmax(LEAST_BLOCKS, fmin(most, n / MEAN_IN_BLOCK));

    memset(v, 0, n_blocks * sizeof *v);
    for (size_t i = 0; i < x->n; i++)
        add_to_block(&v[like_block_of(x, x->v[i].row, n_blocks)], x->v[i].own, x->v[i].row->n,
                     x->v[i].residual);
    return n_blocks;
}

/* Returns the standard deviation of a value of a series, from the differences of neighbours, which
 * a step does not enlarge. Widens it by the correlation of values: that of differences of
 * independent values is -1/2. */
static double spread(const double *v, size_t n, bool of_mean)
{
    double off[MAX_BLOCKS], all = 0, squares = 0, products = 0;

    for (size_t i = 0; i + 1 < n; i++) {
        off[i] = fabs(v[i + 1] - v[i]);
        all += off[i] * off[i];
    }
    double sd = MAD_TO_SD * stats_sort_median(off, n - 1), most = MOST_STEP * sd;
    for (size_t i = 0; i + 2 < n; i++) {
        double first = v[i + 1] - v[i], second = v[i + 2] - v[i + 1];
        bool is_step = fabs(first) > most || fabs(second) > most;

        squares += is_step ? 0 : (first * first + second * second) / 2;
        products += is_step ? 0 : first * second;
    }
    double rho = squares > 0 ? fmax(0, fmin(.9, 1 + 2 * products / squares)) : 0;
    if (of_mean)
        sd = fmax(sd, sqrt(all / (double)(n - 1)));
    return fmax(sd / M_SQRT2, 1e-4) * SPREAD_MARGIN * sqrt((1 + rho) / (1 - rho));
}

/* Makes a series of blocks, each `every` of v joined. Returns false if there are too few. */
static bool make_series(struct series *s, const struct block *v, size_t n_blocks, size_t every)
{
    s->n = 0;
    for (size_t b = 0; b < n_blocks; b += every) {
        struct block x = {0};
        for (size_t i = b; i < b + every && i < n_blocks; i++)
            for (int own = 0; own < 2; own++) {
                x.n[own] += v[i].n[own];
                x.residual[own] += v[i].residual[own];
                x.mean[own] += v[i].mean[own];
            }
        if (x.n[0] < LEAST_IN_BLOCK || x.n[1] < LEAST_IN_BLOCK)
            continue;
        s->block[s->n] = b;
        s->typical[s->n] = x.residual[1] / x.n[1] - x.residual[0] / x.n[0];
        s->mean[s->n++] = log(x.mean[1] / x.n[1] / (x.mean[0] / x.n[0]));
    }
    if (s->n < LEAST_BLOCKS)
        return false;
    s->sd_typical = spread(s->typical, s->n, false);
    s->sd_mean = spread(s->mean, s->n, true);
    return true;
}

/* An interval of a series. */
struct interval {
    size_t from, to;
    double mean, t;
};

/* Finds the interval in [from, to) whose mean has the largest t, among those whose mean is above
 * `least`; t 0: there is none. sign -1: whose mean is below it. */
static struct interval find_interval(const double *v, double sd, size_t from, size_t to,
                                     double least, int sign)
{
    double sum[MAX_BLOCKS + 1] = {0};
    struct interval best = {0};

    for (size_t i = from; i < to; i++)
        sum[i + 1] = sum[i] + v[i];
    for (size_t i = from; i + LEAST_SPAN <= to; i++)
        for (size_t j = i + LEAST_SPAN; j <= to; j++) {
            double n = (double)(j - i), mean = (sum[j] - sum[i]) / n;
            double t = (sign > 0 ? mean : least - mean) * sqrt(n) / sd;

            if ((sign > 0 ? mean > least : mean < least) && t > best.t)
                best = (struct interval){i, j, mean, t};
        }
    return best;
}

/* ---- Intervals of a group ---- */

struct answer {
    struct series of;
    const double *v; /* the values that tell: typical or mean */
    double sd;
    bool by_mean; /* the mean of requests is slower, not the typical one */
    size_t n_blocks;
    struct interval found[LIKE_MAX_SPANS + 1];
    size_t n;
};

/* Finds the interval that is surest, at three scales of time, and its edges at the finest one; t 0:
 * there is none. */
static struct interval find_surest(struct answer *a, const struct block *blocks)
{
    struct interval best = {0};
    struct series s;
    size_t from = 0, to = 0;

    for (size_t every = 1; every <= 16; every *= 4) {
        if (!make_series(&s, blocks, a->n_blocks, every))
            break;
        if (every == 1)
            a->of = s;
        struct interval of[2] = {
            find_interval(s.typical, s.sd_typical, 0, s.n, log(SLOW_LEAST_RATIO), 1),
            find_interval(s.mean, s.sd_mean, 0, s.n, log(SLOW_LEAST_RATIO), 1)};
        bool by_mean = of[1].t > of[0].t * MEAN_SURER;
        if (of[by_mean].t <= best.t)
            continue;
        best = of[by_mean];
        a->by_mean = by_mean;
        from = s.block[best.from] - (s.block[best.from] > 0 ? every : 0);
        to = s.block[best.to - 1] + 2 * every;
    }
    a->v = a->by_mean ? a->of.mean : a->of.typical;
    a->sd = a->by_mean ? a->of.sd_mean : a->of.sd_typical;
    if (best.t < LEAST_T)
        return (struct interval){0};
    best.from = best.to = 0;
    for (size_t i = 0; i < a->of.n; i++) {
        best.from += a->of.block[i] < from;
        best.to += a->of.block[i] < to;
    }
    struct interval fine = find_interval(a->v, a->sd, best.from, best.to, log(SLOW_LEAST_RATIO), 1);
    if (fine.t == 0)
        return best.from < best.to ? best : (struct interval){0};
    /* A coarser scale may be surer: what it says of the spread holds for further intervals. */
    a->sd = fmin(a->sd, fine.mean * sqrt((double)(fine.to - fine.from)) / best.t);
    fine.t = best.t;
    return fine;
}

static double mean_of(const double *v, size_t from, size_t to)
{
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += v[i];
    return to > from ? sum / (double)(to - from) : 0;
}

static struct interval interval_of(const struct answer *a, size_t from, size_t to)
{
    double mean = mean_of(a->v, from, to);
    return (struct interval){from, to, mean, mean * sqrt((double)(to - from)) / a->sd};
}

/* Adds an interval, or its parts if the group was as fast as the others for a while in between.
 * Beyond LIKE_MAX_SPANS it counts them only. */
static void add_interval(struct answer *a, struct interval x)
{
    struct interval gap = find_interval(a->v, a->sd, x.from, x.to, x.mean / 2, -1);

    if (gap.t > FURTHER_T && gap.mean < x.mean / 4 && gap.from > x.from && gap.to < x.to) {
        add_interval(a, interval_of(a, x.from, gap.from));
        add_interval(a, interval_of(a, gap.to, x.to));
    } else if (x.mean > log(SLOW_LEAST_RATIO)) {
        a->found[a->n < LIKE_MAX_SPANS ? a->n : LIKE_MAX_SPANS] = x;
        a->n++;
    }
}

/* Finds all intervals in which a group is slow, in order of time. */
static void find_intervals(struct answer *a, const struct block *blocks)
{
    struct interval best = find_surest(a, blocks);

    a->n = 0;
    if (best.t == 0)
        return;
    size_t from = best.from, to = best.to;
    const double least = log(SLOW_LEAST_RATIO);
    for (struct interval x; (x = find_interval(a->v, a->sd, 0, from, least, 1)).t > FURTHER_T;)
        from = x.from;
    for (struct interval x; (x = find_interval(a->v, a->sd, to, a->of.n, least, 1)).t > FURTHER_T;)
        to = x.to;
    add_interval(a, interval_of(a, from, to));
    if (a->n > LIKE_MAX_SPANS || a->n == 0) {
        a->n = 1;
        a->found[0] = best;
    }
}

static int64_t block_start_ns(const struct compared *x, const struct answer *a, size_t block)
{
    const struct course *c = x->l->c;
    double into = (double)block / (double)a->n_blocks;

    return block >= a->n_blocks ? c->end_ns
                                : c->start_ns + (int64_t)(into * (double)(c->end_ns - c->start_ns));
}

/* Requests of a group [1] or of the others [0] in a span. */
struct side {
    double n, residual, times, load, late, late_residual, late_ns, busy_ns;
};

static bool is_in_span(const struct compared *x, const struct like_span *g,
                       const struct like_part *part, const struct like_row *r)
{
    return r->start_ns >= g->start_ns && r->start_ns < g->end_ns && is_in_part(x, part, r);
}

/* Adds up the requests in a span. Late are those above late_from (log). */
static void add_sides(const struct compared *x, const struct like_span *g, float late_from,
                      const struct like_part *part, struct side *of)
{
    for (size_t i = 0; i < x->n; i++) {
        const struct asked *v = &x->v[i];
        double n = v->row->n, ns = exp(v->row->y);
        struct side *to = &of[v->own];

        if (!is_in_span(x, g, part, v->row))
            continue;
        to->n += n;
        to->residual += n * v->residual;
        to->times += n * exp(v->took);
        to->busy_ns += n * ns;
        to->load += n * v->row->load[LIKE_MEAN];
        to->late += v->residual > late_from ? n : 0;
        to->late_residual += v->residual > late_from ? n * v->residual : 0;
        to->late_ns += v->residual > late_from ? n * ns : 0;
    }
}

/* Returns the residual from which on a request is late: no more than one in so many of the others
 * is. */
static float late_from(const struct compared *x, size_t one_in)
{
    size_t n = 0;

    for (size_t i = 0; i < x->n; i++)
        if (!x->v[i].own)
            x->scratch[n++] = x->v[i].residual;
    return n > 0 ? (float)fmax(stats_select(x->scratch, n, n - 1 - n / one_in), M_LN2) : 0;
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
    return of[1].late / of[1].n > 2 * of[0].late / of[0].n &&
           rest[1] - rest[0] < log(SLOW_LEAST_RATIO) / 2;
}

static double excess_of(const struct side *of)
{
    return of[1].n > 0 && of[0].n > 0 ? of[1].residual / of[1].n - of[0].residual / of[0].n : 0;
}

/* Whether the requests of a part have the excess of a span, and all others next to none. */
static bool is_of_part(const struct compared *x, const struct like_span *g,
                       const struct like_part *part, const struct side *all)
{
    struct side in[2] = {0}, rest[2];

    add_sides(x, g, INFINITY, part, in);
    for (int own = 0; own < 2; own++)
        rest[own] = (struct side){.n = all[own].n - in[own].n,
                                  .residual = all[own].residual - in[own].residual};
    return in[1].n >= LEAST_IN_STRATA && rest[1].n >= LEAST_IN_STRATA &&
           excess_of(in) > log(SLOW_LEAST_RATIO) && excess_of(rest) < excess_of(in) / 4 &&
           excess_of(rest) < log(SLOW_LEAST_RATIO) / 2;
}

/* The i-th part of all requests: an operation, a class, or another party. False: there are no more.
 * Of many classes, or of many parties, none is a part. */
static bool nth_part(const struct compared *x, size_t i, struct like_part *p)
{
    size_t n_ops = x->l->c->n_ops > 1 ? x->l->c->n_ops : 0;
    size_t n_classes =
        x->l->n_classes > n_ops + 1 && x->l->n_classes <= FEW_GROUPS ? x->l->n_classes : 0;
    size_t n_others = x->n_others > 1 && x->n_others <= FEW_GROUPS ? x->n_others : 0;

    *p = all_parts;
    if (i < n_ops)
        p->op = i;
    else if (i < n_ops + n_classes)
        p->class = i - n_ops;
    else if (i < n_ops + n_classes + n_others)
        p->other = i - n_ops - n_classes;
    return i < n_ops + n_classes + n_others;
}

/* Narrows the part to that of the first one that alone is slow, of each kind. */
static struct like_part narrow(const struct compared *x, const struct like_span *g,
                               const struct side *all)
{
    struct like_part p, part = all_parts;

    for (size_t i = 0; nth_part(x, i, &p); i++) {
        struct like_part both = {part.op != SIZE_MAX ? part.op : p.op,
                                 part.class != SIZE_MAX ? part.class : p.class,
                                 part.other != SIZE_MAX ? part.other : p.other};
        if (memcmp(&both, &part, sizeof part) != 0 && is_of_part(x, g, &both, all))
            part = both;
    }
    return part;
}

/* Returns the number of groups that a slow one is compared with at a time. */
static double n_reference(const struct compared *x, int64_t ns)
{
    double n = 0;
    for (size_t k = 0; k < x->n_groups; k++)
        n += like_is_slow_at(x, k, ns) ? 0 : 1;
    return fmax(n - 1, 1);
}

static struct like_span span_of(const struct compared *x, const struct answer *a,
                                const struct interval *v, float late)
{
    const struct course *c = x->l->c;
    bool is_all = v->to == 0;
    struct side of[2] = {0};
    struct like_span g = {
        .start_ns = is_all ? c->start_ns : block_start_ns(x, a, a->of.block[v->from]),
        .end_ns = is_all ? c->end_ns : block_start_ns(x, a, a->of.block[v->to - 1] + 1),
        .t = v->t};

    /* No onset is claimed unless the time before was normal, or nothing could be compared then, and
     * likewise at the end. */
    double edge_ns = SLOW_EDGE_FRAC * (double)(c->end_ns - c->start_ns);
    g.has_start = !is_all && (v->from >= LEAST_SPAN || v->from == 0) &&
                  (double)(g.start_ns - c->start_ns) > edge_ns &&
                  mean_of(a->v, 0, v->from) < v->mean / 2;
    g.has_end = !is_all && (v->to + LEAST_SPAN <= a->of.n || v->to == a->of.n) &&
                (double)(c->full_until_ns - g.end_ns) > edge_ns &&
                mean_of(a->v, v->to, a->of.n) < v->mean / 2;
    add_sides(x, &g, late, &all_parts, of);
    g.part = narrow(x, &g, of);
    if (memcmp(&g.part, &all_parts, sizeof g.part) != 0) {
        memset(of, 0, sizeof of);
        add_sides(x, &g, late, &g.part, of);
    }
    g.is_tail = c->has_requests && is_tail(of);
    double took = median_excess(x, &g);
    double times = of[1].times / of[1].n / (of[0].times / of[0].n);
    g.n = of[1].n;
    g.ratio = g.is_tail ? times : exp(took);
    g.load_ratio = a->by_mean && !is_all ? exp(v->mean) : exp(excess_of(of));
    if (!c->has_requests) { /* a load that grows in proportion explains as much */
        double more = of[1].load / of[1].n - of[0].load / of[0].n;
        g.load_ratio = g.ratio * exp(-fmax(more, 0) * x->l->most[LIKE_MEAN] / LIKE_LEVELS);
        g.is_load = more > 1 || c->clients.n > 1;
        if (of[1].n * n_reference(x, g.start_ns) >
            LEAST_LONGER * of[0].n) /* it is sent more requests */
            g.ratio = fmin(g.ratio, g.load_ratio);
    }
    g.lost_frac = fmax(0, of[1].busy_ns * (1 - 1 / times) / x->l->busy_ns);
    g.late = of[1].late / of[1].n;
    g.others_late = of[0].late / of[0].n;
    g.late_ns = of[1].late_ns / fmax(of[1].late, 1);
    return g;
}

/* Whether a part of a group's requests only shares a wait: its other requests take longer, too, by
 * at least half as much time. A queue of long requests delays a short one by many times its own
 * duration, which the load in flight explains. If no other request can be compared, that is not
 * known. means: scratch memory, four values for each class. */
static bool is_shared_wait(const struct compared *x, size_t group, const struct like_span *g,
                           double *means)
{
    const struct like *l = x->l;
    double(*v)[4] = (double(*)[4])means, n[2] = {0}, more_ns[2] = {0};

    if (g->part.op == SIZE_MAX && g->part.class == SIZE_MAX)
        return false;
    memset(v, 0, l->n_classes * sizeof *v);
    for (size_t i = 0; i < l->n; i++) {
        const struct like_row *r = &l->v[i];
        int own = like_group_of(x, r) == group;

        if (r->start_ns < g->start_ns || r->start_ns >= g->end_ns)
            continue;
        v[r->class][own] += r->n;
        v[r->class][2 + own] += r->n * exp(r->y);
    }
    for (size_t k = 0; k < l->n_classes; k++) {
        bool in = g->part.class == SIZE_MAX ? l->classes[k].op == g->part.op : k == g->part.class;

        if (v[k][0] < LEAST_IN_STRATA || v[k][1] < LEAST_IN_STRATA)
            continue;
        n[in] += v[k][1];
        more_ns[in] += v[k][3] - v[k][2] / v[k][0] * v[k][1];
    }
    bool has_load = g->ratio > SLOW_LOAD_MATTERS * g->load_ratio;
    return has_load && (n[0] == 0 || more_ns[0] / n[0] > more_ns[1] / fmax(n[1], 1) / 2);
}

/* Requests of the others [0] and of the group [1], late ones, and how many are expected to be late
 * at their load. */
struct late {
    double n[2], late[2], expected[2];
};

static size_t load_of(const struct asked *r)
{
    return (size_t)r->row->load[LIKE_MEAN] * LATE_LOADS / LIKE_LEVELS;
}

/* Adds up the requests in a span (NULL: all) by load. Returns whether the others met the loads of
 * most requests of the group. */
static bool add_by_load(const struct compared *x, const struct like_span *g, float late,
                        struct late *v)
{
    double n = 0, n_met = 0;

    for (size_t i = 0; i < x->n; i++) {
        const struct asked *r = &x->v[i];
        if (g != NULL && !is_in_span(x, g, &all_parts, r->row))
            continue;
        v[load_of(r)].n[r->own] += r->row->n;
        v[load_of(r)].late[r->own] += r->residual > late ? r->row->n : 0;
    }
    for (size_t k = 0; k < LATE_LOADS; k++) {
        n += v[k].n[1];
        n_met += v[k].n[0] >= SLOW_LEAST_SAMPLES ? v[k].n[1] : 0;
    }
    return 2 * n_met >= n;
}

/* Fills in which share of requests is late at each load, as of the others. At loads that they did
 * not meet, requests do not count (NAN); if most of the group's do so, as many may be late as if
 * durations were exponential: those of busy servers of one queue are at most that. */
static void late_by_load(const struct compared *x, double share, float late, double *by_load)
{
    struct late v[LATE_LOADS] = {0};
    double unmet = add_by_load(x, NULL, late, v) ? NAN : fmax(share, exp(-exp(late - EULER)));

    for (size_t k = 0; k < LATE_LOADS; k++)
        by_load[k] =
            v[k].n[0] < SLOW_LEAST_SAMPLES ? unmet : (v[k].late[0] + 10 * share) / (v[k].n[0] + 10);
}

/* Returns how sure it is that more of a group's requests are late than of the others' at the same
 * time and load, by so much and as steadily that neither chance nor an event explains it; 0: not.
 */
static double t_of_late(const struct compared *x, double share, float late)
{
    struct late v[TAIL_BLOCKS] = {0}, all = {0};
    double off[TAIL_BLOCKS], expected = 0, by_load[LATE_LOADS];

    late_by_load(x, share, late, by_load);
    for (size_t i = 0; i < x->n; i++) {
        const struct asked *r = &x->v[i];
        double of_load = by_load[load_of(r)];
        struct late *to = &v[like_block_of(x, r->row, TAIL_BLOCKS)];

        if (isnan(of_load))
            continue;
        to->late[r->own] += r->residual > late ? r->row->n : 0;
        all.late[r->own] += r->residual > late ? r->row->n : 0;
        to->expected[r->own] += r->row->n * of_load;
    }
    for (size_t b = 0; b < TAIL_BLOCKS; b++) {
        double usual = v[b].expected[1] * (v[b].late[0] + share) / (v[b].expected[0] + share);
        expected += usual;
        off[b] = v[b].late[1] - usual;
    }
    double more = all.late[1] - expected;
    double variance = TAIL_BLOCKS * search_long_run_variance(off, TAIL_BLOCKS);

    if (all.late[1] < TAIL_LEAST || all.late[1] < 2 * expected || more < FURTHER_T * sqrt(variance))
        return 0;
    return more / sqrt(fmax(2 * expected, 1) * fmax(variance / all.late[1], 1));
}

/* Whether a host is sent more than each other one, and has more in flight than they met: a fast
 * host would be busy, too, so nothing is known of it. */
static bool is_sent_more(const struct compared *x, size_t group, const struct like_span *g)
{
    struct late v[LATE_LOADS] = {0};
    double most = 0;

    if (x->groups != LIKE_HOSTS || !x->l->c->has_requests || add_by_load(x, g, INFINITY, v))
        return false;
    memset(x->n_of, 0, x->n_groups * sizeof *x->n_of);
    for (size_t i = 0; i < x->n; i++)
        if (is_in_span(x, g, &all_parts, x->v[i].row))
            x->n_of[like_group_of(x, x->v[i].row)] += x->v[i].row->n;
    for (size_t k = 0; k < x->n_groups; k++)
        most = k != group ? fmax(most, x->n_of[k]) : most;
    return x->n_of[group] > LEAST_LONGER * most + FURTHER_T * sqrt(most);
}

/* Finds a tail among the latest hundredth, or thousandth, of the others' requests. Returns from
 * which residual on a request is late. */
static float find_tail(const struct compared *x, struct answer *a)
{
    float late = late_from(x, 100), later = late_from(x, 1000);
    double t = t_of_late(x, 1e-2, late), t_later = t_of_late(x, 1e-3, later);

    if (fmax(t, t_later) < LEAST_T)
        return late;
    a->by_mean = true;
    a->found[0] = (struct interval){0, 0, 0, fmax(t, t_later)};
    a->n = 1;
    return t_later > t ? later : late;
}

/* Finds the spans in which a group is slow. False: out of memory. */
static bool ask(struct compared *x, size_t group, struct like_slow *to, struct err *e)
{
    struct block blocks[MAX_BLOCKS];
    struct answer *a;
    double n = fill_residuals(x, group);

    to->group = group;
    to->n = 0;
    if (n < LEAST_BLOCKS * LEAST_IN_BLOCK)
        return true;
    if (!mem_cleared(&a, 1, e))
        return false;
    a->n_blocks = fill_blocks(x, n, blocks);
    find_intervals(a, blocks);
    float late = a->n == 0 && x->l->c->has_requests ? find_tail(x, a) : late_from(x, 100);
    for (size_t i = 0; i < a->n; i++) {
        struct like_span *g = &to->v[to->n];
        *g = span_of(x, a, &a->found[i], late);
        to->n += g->ratio >= LEAST_LONGER && !is_shared_wait(x, group, g, x->means) &&
                 !is_sent_more(x, group, g);
    }
    free(a);
    return true;
}

/* ---- All groups ---- */

/* Adds the requests of each group, and of all together, by block. */
static void fill_screen(struct compared *x, struct block (*v)[LIKE_SCREEN_BLOCKS])
{
    like_add_strata(x, SIZE_MAX);
    for (size_t i = 0; i < x->n; i++) {
        const struct like_row *r = x->v[i].row;
        const double *s = x->strata[x->stratum[r - x->l->v]];
        double off = x->v[i].residual - s[SUM_OTHERS] / s[N_OTHERS];
        size_t b = like_block_of(x, r, LIKE_SCREEN_BLOCKS);

        add_to_block(&v[x->n_groups][b], 0, r->n, off);
        add_to_block(&v[like_group_of(x, r)][b], 1, r->n, off);
    }
    for (size_t k = 0; k < x->n_groups; k++)
        for (size_t b = 0; b < LIKE_SCREEN_BLOCKS; b++) {
            v[k][b].n[0] = v[x->n_groups][b].n[0];
            v[k][b].residual[0] = v[x->n_groups][b].residual[0];
            v[k][b].mean[0] = v[x->n_groups][b].mean[0];
        }
}

/* Of many groups, chooses those that may be slow, MOST_CANDIDATES at most: each is compared with
 * all, by blocks that are few. False: out of memory. */
static bool choose_candidates(struct compared *x, struct err *e)
{
    struct block(*v)[LIKE_SCREEN_BLOCKS];
    double *t = NULL;
    size_t n = x->n_groups, n_chosen = n;
    bool ok = mem_cleared(&v, n + 1, e) && mem_cleared(&t, n, e);

    if (ok)
        fill_screen(x, v);
    for (size_t k = 0; ok && k < n; k++) {
        struct series s;
        if (make_series(&s, v[k], LIKE_SCREEN_BLOCKS, 1))
            t[k] = fmax(find_interval(s.typical, s.sd_typical, 0, s.n, log(SLOW_LEAST_RATIO), 1).t,
                        find_interval(s.mean, s.sd_mean, 0, s.n, log(SLOW_LEAST_RATIO), 1).t);
    }
    for (double least = LEAST_T / 2; ok && n_chosen > MOST_CANDIDATES; least *= 2) {
        n_chosen = 0;
        for (size_t k = 0; k < n; k++)
            n_chosen += x->may_be_slow[k] = t[k] > least;
    }
    free(v);
    free(t);
    return ok;
}

static size_t count_groups(const struct like *l, enum like_groups groups)
{
    return groups == LIKE_CLIENTS   ? l->c->clients.n
           : groups == LIKE_OBJECTS ? l->n_objects
                                    : l->c->hosts.n;
}

/* Returns the client of a host that both meet no other; SIZE_MAX: there is none. */
static size_t client_of_pair(const struct like *l, size_t host)
{
    size_t client = SIZE_MAX;
    bool alone = true;

    for (size_t i = 0; i < l->n; i++)
        if (l->v[i].host == host) {
            alone = alone && (client == SIZE_MAX || client == l->v[i].client);
            client = l->v[i].client;
        }
    for (size_t i = 0; alone && i < l->n; i++)
        alone = l->v[i].client != client || l->v[i].host == host;
    return alone ? client : SIZE_MAX;
}

/* Whether there is such a host; of many none is looked for. */
static bool has_pair(const struct like *l)
{
    bool has = false;

    for (size_t k = 0; l->c->clients.n > 1 && l->c->hosts.n <= FEW_GROUPS && k < l->c->hosts.n; k++)
        has = has || client_of_pair(l, k) != SIZE_MAX;
    return has;
}

static bool init(struct compared *x, const struct like *l, enum like_groups groups, struct err *e)
{
    size_t n = count_groups(l, groups);

    *x = (struct compared){.l = l,
                           .groups = groups,
                           .n_groups = n,
                           .n_others = !l->c->has_requests || groups == LIKE_PAIRS ? 1
                                       : groups == LIKE_HOSTS                      ? l->c->clients.n
                                                                                   : l->c->hosts.n};
    if (!mem_new(&x->stratum, l->n, e) || !like_number_strata(x, e) ||
        !mem_cleared(&x->slow, n, e) || !mem_new(&x->may_be_slow, n, e) ||
        !mem_new(&x->met, n, e) || !mem_new(&x->n_of, n, e) ||
        !mem_new(&x->strata, x->n_strata, e) || !mem_new(&x->v, l->n, e) ||
        !mem_new(&x->scratch, l->n, e) || !mem_new(&x->means, 4 * l->n_classes, e) ||
        (n <= FEW_GROUPS && !mem_cleared(&x->of_group, n, e)))
        return false;
    for (size_t k = 0; k < n; k++)
        x->may_be_slow[k] = groups != LIKE_PAIRS || client_of_pair(l, k) != SIZE_MAX;
    like_choose_knots(x);
    return like_refer(x, e) && (n <= FEW_GROUPS || choose_candidates(x, e));
}

static void fini(struct compared *x)
{
    free(x->stratum);
    free(x->slow);
    free(x->may_be_slow);
    free(x->met);
    free(x->n_of);
    free(x->of_group);
    free(x->strata);
    free(x->v);
    free(x->scratch);
    free(x->means);
}

/* Returns how many of n groups are slow at one time, at most. */
static size_t count_at_once(const struct compared *x, const struct like_slow *v, size_t n)
{
    size_t most = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < v[i].n; k++) {
            size_t at_once = 0;
            for (size_t j = 0; j < n; j++)
                at_once += like_is_slow_at(x, v[j].group, v[i].v[k].start_ns);
            most = at_once > most ? at_once : most;
        }
    return most;
}

/* Asks for each group; those that are slow leave the reference of the others in their time, and all
 * are asked again. If all are slow at once, none is: nothing is left to compare with. */
static bool ask_all(struct compared *x, struct like_slow *found, size_t *n, struct err *e)
{
    size_t n_asked = x->n_groups - (x->groups == LIKE_OBJECTS);
    bool ok = true;

    for (int round = 0; ok && round < ROUNDS; round++) {
        size_t n_slow = 0;
        bool same = true;

        for (size_t k = 0; ok && k < n_asked; k++) {
            if (!x->may_be_slow[k])
                continue;
            ok = ask(x, k, &found[n_slow], e);
            n_slow += found[n_slow].n > 0;
        }
        for (size_t k = 0, i = 0; k < x->n_groups; k++) {
            bool is = i < n_slow && found[i].group == k;
            same = same && (x->slow[k].n > 0) == is;
            x->slow[k] = is ? found[i] : (struct like_slow){0};
            i += is;
        }
        *n = count_at_once(x, found, n_slow) < x->n_groups ? n_slow : 0;
        if (same || *n == 0)
            break;
        ok = ok && like_refer(x, e);
    }
    for (size_t k = 0; *n == 0 && k < x->n_groups; k++)
        x->slow[k].n = 0;
    return ok;
}

bool like_find(struct like_found *found, struct err *e)
{
    const struct like *l = found->l;
    size_t n_groups = count_groups(l, found->groups);
    struct compared x;

    if (n_groups < 2 || l->n == 0 || (found->groups == LIKE_PAIRS && !has_pair(l)))
        return true;
    if (!mem_new(&found->v, n_groups + 1, e))
        return false;
    bool ok = init(&x, l, found->groups, e) && ask_all(&x, found->v, &found->n, e);
    for (size_t i = 0; found->groups == LIKE_PAIRS && i < found->n; i++)
        for (size_t k = 0; k < found->v[i].n; k++) {
            found->v[i].v[k].is_pair = true;
            found->v[i].v[k].part.other = client_of_pair(l, found->v[i].group);
        }
    found->n_at_once = count_at_once(&x, found->v, found->n);
    fini(&x);
    return ok;
}
