/* Tests whether a group is slow, and when. */
#include "analyze/findings/like_internal.h"
#include "analyze/stats/stats.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_LONGER    1.1 /* a slow group's requests take so many times as long, at their load */
#define LEAST_T         8   /* no healthy run of the simulations came near it */
#define FURTHER_T       (LEAST_T / 2) /* further intervals of a slow group, gaps between them, tails */
#define MEAN_SURER      1.25          /* the mean must be so much surer than the typical request */
#define LEAST_BLOCKS    10
#define MEAN_IN_BLOCK   10
#define LEAST_IN_BLOCK  3 /* requests of the group, and of the others; blocks of an interval */
#define LEAST_OF_ALL    (2 * LEAST_IN_BLOCK) /* requests of a stratum, of both */
#define NEXT_TO_NONE    4 /* an excess that is so many times smaller than another one */
#define MOST_CANDIDATES 32
#define MOST_EXCESS     10 /* of a log duration: a single request must not decide a mean */
#define SPREAD_MARGIN   1.3
#define MOST_STEP       3 /* standard deviations: a larger difference is a step */
#define LEAST_BATCHES   5 /* for a variance */

static const struct like_part all_parts = {{SIZE_MAX, SIZE_MAX, SIZE_MAX}};

/* ---- Series of differences between a group and the others ---- */

/* What a difference is of: the typical request (the mean of logs), the mean. */
enum measure { TYPICAL, MEAN, N_MEASURES };

/* Sums of a block of time: of the group [1], of the others [0]. */
struct block {
    double n[2], sum[2][N_MEASURES];
};

/* By block; blocks without enough requests are left out. */
struct series {
    size_t n, block[LIKE_MAX_BLOCKS];
    double v[N_MEASURES][LIKE_MAX_BLOCKS];
    double sd[N_MEASURES]; /* of a value, as of values that do not depend on each other */
};

static void add_to_block(struct block *b, int own, double n, double residual)
{
    b->n[own] += n;
    b->sum[own][TYPICAL] += n * residual;
    b->sum[own][MEAN] += n * exp(fmin(residual, MOST_EXCESS));
}

static size_t fill_blocks(const struct compared *x, double n, struct block *v)
{
    const struct course *c = x->l->c;
    double block_ns = c->has_requests ? (double)NS_PER_S / 2 : (double)c->block_ns;
    double most = fmin(LIKE_MAX_BLOCKS, (double)(c->end_ns - c->start_ns) / block_ns);
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
static double spread(const double *v, size_t n, enum measure of)
{
    double off[LIKE_MAX_BLOCKS], all = 0, squares = 0, products = 0;

    for (size_t i = 0; i + 1 < n; i++) {
        off[i] = fabs(v[i + 1] - v[i]);
        all += off[i] * off[i];
    }
    double sd = STATS_MAD_TO_SD * stats_sort_median(off, n - 1), most = MOST_STEP * sd;
    for (size_t i = 0; i + 2 < n; i++) {
        double first = v[i + 1] - v[i], second = v[i + 2] - v[i + 1];
        bool is_step = fabs(first) > most || fabs(second) > most;

        squares += is_step ? 0 : (first * first + second * second) / 2;
        products += is_step ? 0 : first * second;
    }
    double rho = squares > 0 ? fmax(0, fmin(.9, 1 + 2 * products / squares)) : 0;
    if (of == MEAN)
        sd = fmax(sd, sqrt(all / (double)(n - 1)));
    return fmax(sd / M_SQRT2, 1e-4) * SPREAD_MARGIN * sqrt((1 + rho) / (1 - rho));
}

/* Makes a series of blocks. Returns false if there are too few. */
static bool make_series(struct series *s, const struct block *v, size_t n_blocks)
{
    s->n = 0;
    for (size_t b = 0; b < n_blocks; b++) {
        const double *n = v[b].n, *others = v[b].sum[0], *own = v[b].sum[1];

        if (n[0] < LEAST_IN_BLOCK || n[1] < LEAST_IN_BLOCK)
            continue;
        s->block[s->n] = b;
        s->v[TYPICAL][s->n] = own[TYPICAL] / n[1] - others[TYPICAL] / n[0];
        s->v[MEAN][s->n++] = log(own[MEAN] / n[1] / (others[MEAN] / n[0]));
    }
    for (int of = 0; s->n >= LEAST_BLOCKS && of < N_MEASURES; of++)
        s->sd[of] = spread(s->v[of], s->n, of);
    return s->n >= LEAST_BLOCKS;
}

/* ---- Intervals of a series ---- */

/* Values [from, to); t: how far their mean is from 0, in standard errors. */
struct interval {
    size_t from, to;
    double mean, t;
};

/* Finds the interval in [from, to) whose mean has the largest t, among those whose mean is above
 * `least`; t 0: there is none. */
static struct interval find_interval(const double *v, double sd, size_t from, size_t to,
                                     double least)
{
    double sum[LIKE_MAX_BLOCKS + 1] = {0};
    struct interval best = {0};

    for (size_t i = from; i < to; i++)
        sum[i + 1] = sum[i] + v[i];
    for (size_t i = from; i + LEAST_IN_BLOCK <= to; i++)
        for (size_t j = i + LEAST_IN_BLOCK; j <= to; j++) {
            double n = (double)(j - i), mean = (sum[j] - sum[i]) / n, t = mean * sqrt(n) / sd;

            if (mean > least && t > best.t)
                best = (struct interval){i, j, mean, t};
        }
    return best;
}

/* Returns the surest interval of a series, of the typical request, unless the mean is surer. */
static struct interval find_surer(const struct series *s, enum measure *of)
{
    struct interval x[N_MEASURES];

    for (int k = 0; k < N_MEASURES; k++)
        x[k] = find_interval(s->v[k], s->sd[k], 0, s->n, LIKE_LEAST);
    *of = x[MEAN].t > x[TYPICAL].t * MEAN_SURER ? MEAN : TYPICAL;
    return x[*of];
}

struct answer {
    struct series of;
    enum measure measure; /* ... that tells */
    size_t n_blocks;
    struct interval found[LIKE_MAX_SPANS + 1];
    size_t n;
};

static struct interval interval_of(const struct answer *a, size_t from, size_t to)
{
    double mean = search_mean(a->of.v[a->measure], from, to);
    double t = mean * sqrt((double)(to - from)) / a->of.sd[a->measure];

    return (struct interval){from, to, mean, t};
}

/* Adds an interval, or its parts if the group was as fast as the others for a while in between.
 * Beyond LIKE_MAX_SPANS it counts them only. */
static void add_interval(struct answer *a, struct interval x)
{
    double faster[LIKE_MAX_BLOCKS];

    for (size_t i = x.from; i < x.to; i++)
        faster[i] = x.mean / 2 - a->of.v[a->measure][i];
    struct interval gap =
        find_interval(faster, a->of.sd[a->measure], x.from, x.to, x.mean / NEXT_TO_NONE);
    if (gap.t > FURTHER_T && gap.from > x.from && gap.to < x.to) {
        add_interval(a, interval_of(a, x.from, gap.from));
        add_interval(a, interval_of(a, gap.to, x.to));
    } else if (x.mean > LIKE_LEAST) {
        a->found[a->n < LIKE_MAX_SPANS ? a->n : LIKE_MAX_SPANS] = x;
        a->n++;
    }
}

/* Finds all intervals in which a group is slow, in order of time. */
static void find_intervals(struct answer *a, const struct block *blocks)
{
    if (!make_series(&a->of, blocks, a->n_blocks))
        return;
    struct interval best = find_surer(&a->of, &a->measure), x;
    const double *v = a->of.v[a->measure], sd = a->of.sd[a->measure];
    size_t from = best.from, to = best.to;

    if (best.t < LEAST_T)
        return;
    while ((x = find_interval(v, sd, 0, from, LIKE_LEAST)).t > FURTHER_T)
        from = x.from;
    while ((x = find_interval(v, sd, to, a->of.n, LIKE_LEAST)).t > FURTHER_T)
        to = x.to;
    add_interval(a, interval_of(a, from, to));
    if (a->n > LIKE_MAX_SPANS || a->n == 0) {
        a->n = 1;
        a->found[0] = best;
    }
}

/* ---- Tails: more of a group's requests are late than of the others' ---- */

/* Returns the residual from which on a request is late: no more than one in so many of the others
 * is. */
static double late_from_of(const struct compared *x, size_t one_in)
{
    size_t n = 0;

    for (size_t i = 0; i < x->n; i++)
        if (!x->v[i].own)
            x->scratch[n++] = x->v[i].residual;
    return n > 0 ? fmax(stats_select(x->scratch, n, n - 1 - n / one_in), M_LN2) : 0;
}

/* Returns the long-run variance of a time series: the largest product of the variance of batch
 * means and the length of the batches. Values are autocorrelated: the queues of equal hosts
 * wander. */
static double long_run_variance(const double *v, size_t n)
{
    double most = 0;
    for (size_t b = 1; n / b >= LEAST_BATCHES; b *= 2) {
        double sum = 0, squares = 0, n_batches = (double)(n / b);
        for (size_t i = 0; i + b <= n; i += b) {
            double mean = 0;
            for (size_t j = i; j < i + b; j++)
                mean += v[j] / (double)b;
            sum += mean;
            squares += mean * mean;
        }
        most = fmax(most, (squares - sum * sum / n_batches) / (n_batches - 1) * (double)b);
    }
    return most;
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
    return late < STATS_MIN_REQUESTS || more < late / 2
               ? 0
               : more / sqrt((double)n_blocks * long_run_variance(off, n_blocks));
}

/* Returns how sure it is that a group has a tail; 0: too few requests are late. *late_from is that
 * of the latest hundredth of the others; if it is surer, it becomes that of their latest
 * thousandth. */
static double find_tail(const struct compared *x, size_t n_blocks, double *late_from)
{
    double later = late_from_of(x, 1000), t = t_of_late(x, n_blocks, 1e-2, *late_from),
           t_later = t_of_late(x, n_blocks, 1e-3, later);

    *late_from = t_later > t ? later : *late_from;
    return fmax(t, t_later);
}

/* ---- What is slow then ---- */

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
        to->mean += n * exp(fmin(v->residual, MOST_EXCESS));
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
            if (in[1].n < LEAST_OF_ALL || out[1].n < LEAST_OF_ALL || in[1].n == of[1].n ||
                excess_of(in) < LIKE_LEAST || excess_of(out) > excess_of(in) / NEXT_TO_NONE ||
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

/* Fills in an interval as a span. Returns false if its requests hardly take longer at their load.
 */
static bool fill_span(const struct compared *x, const struct answer *a, const struct interval *v,
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
    g->has_start = !is_all && (v->from >= LEAST_IN_BLOCK || v->from == 0) &&
                   (double)(g->start_ns - c->start_ns) > edge_ns &&
                   search_mean(of_block, 0, v->from) < v->mean / 2;
    g->has_end = !is_all && (v->to + LEAST_IN_BLOCK <= a->of.n || v->to == a->of.n) &&
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

/* Whether a host is sent more than each other one, and its load may be why its requests take
 * longer: their durations grow with it, so that it explains half of the excess. A fast host that is
 * busy looks like that, too. */
static bool may_be_busy(const struct compared *x, size_t group, const struct like_span *g)
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
    return n[1] > LEAST_LONGER * most + FURTHER_T * sqrt(most) &&
           2 * fmin(slope, 1) * more > longer;
}

/* Finds the spans in which a group is slow. False: out of memory. */
static bool ask(struct compared *x, size_t group, struct like_slow *to, struct err *e)
{
    struct block blocks[LIKE_MAX_BLOCKS];
    struct answer *a;
    double n[2] = {0};

    *to = (struct like_slow){.group = group};
    like_compare(x, group, LEAST_OF_ALL);
    for (size_t i = 0; i < x->n; i++)
        n[x->v[i].own] += x->v[i].row->n;
    if (fmin(n[0], n[1]) < LEAST_BLOCKS * LEAST_IN_BLOCK)
        return true;
    if (!mem_cleared(&a, 1, e))
        return false;
    a->n_blocks = fill_blocks(x, fmin(n[0], n[1]), blocks);
    find_intervals(a, blocks);
    double late = late_from_of(x, 100);
    double t = a->n == 0 && x->l->c->has_requests ? find_tail(x, a->n_blocks, &late) : 0;
    if (t > FURTHER_T) {
        a->measure = MEAN;
        a->found[0] = (struct interval){.t = t};
        a->n = 1;
    }
    for (size_t i = 0; i < a->n; i++)
        to->n += fill_span(x, a, &a->found[i], late, &to->v[to->n]) &&
                 !may_be_busy(x, group, &to->v[to->n]);
    free(a);
    return true;
}

/* ---- All groups ---- */

/* Of many groups, marks those that may be slow: whose requests take longer than those of all. */
static bool choose_candidates(struct compared *x, struct err *e)
{
    struct block(*v)[LIKE_SCREEN_BLOCKS] = NULL, all[LIKE_SCREEN_BLOCKS] = {0};
    double *t = NULL;
    size_t n_chosen = SIZE_MAX;
    bool ok = mem_cleared(&v, x->n_groups, e) && mem_cleared(&t, x->n_groups, e);

    if (ok)
        like_compare(x, SIZE_MAX, 1);
    for (size_t i = 0; ok && i < x->n; i++) {
        const struct like_row *r = x->v[i].row;
        size_t b = like_block_of(x, r, LIKE_SCREEN_BLOCKS);

        add_to_block(&v[like_group_of(x, r)][b], 1, r->n, x->v[i].residual);
        add_to_block(&all[b], 0, r->n, x->v[i].residual);
    }
    for (size_t k = 0; ok && k < x->n_groups; k++) {
        struct series s;
        enum measure of;

        for (int b = 0; b < LIKE_SCREEN_BLOCKS; b++) {
            v[k][b].n[0] = all[b].n[0];
            memcpy(v[k][b].sum[0], all[b].sum[0], sizeof all[b].sum[0]);
        }
        if (make_series(&s, v[k], LIKE_SCREEN_BLOCKS))
            t[k] = find_surer(&s, &of).t;
    }
    for (double least = FURTHER_T; ok && n_chosen > MOST_CANDIDATES; least *= 2) {
        n_chosen = 0;
        for (size_t k = 0; k < x->n_groups; k++)
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
static size_t client_of_pair(const struct course *c, size_t host)
{
    size_t client = SIZE_MAX, n = 0;

    for (size_t i = 0; i < c->n_places; i++)
        client = c->hosts.of_place[i] == host ? c->clients.of_place[i] : client;
    for (size_t i = 0; i < c->n_places; i++)
        n += c->hosts.of_place[i] == host || c->clients.of_place[i] == client;
    return n == 1 ? client : SIZE_MAX;
}

static bool init(struct compared *x, const struct like_found *found, struct err *e)
{
    const struct like *l = found->l;
    const struct course *c = l->c;
    size_t n = count_groups(l, found->groups), n_may = 0;
    bool across = !c->has_requests || found->groups == LIKE_PAIRS;

    *x = (struct compared){.l = l, .groups = found->groups, .n_groups = n};
    x->n_others = across ? 1 : found->groups == LIKE_HOSTS ? c->clients.n : c->hosts.n;
    x->n_strata = l->n_classes * x->n_others;
    if (!mem_cleared(&x->may_be_slow, n, e))
        return false;
    for (size_t k = 0; k < n; k++)
        n_may += x->may_be_slow[k] =
            found->groups == LIKE_OBJECTS ? k + 1 < n
            : found->groups == LIKE_PAIRS
                ? c->clients.n > 1 && n <= LIKE_FEW_GROUPS && client_of_pair(c, k) != SIZE_MAX
                : true;
    if (n_may == 0 || n < 2 || l->n == 0) {
        x->n_groups = 0;
        return true;
    }
    if (!mem_cleared(&x->slow, n, e) || !mem_new(&x->met, n, e) || !mem_new(&x->n_of, n, e) ||
        !mem_new(&x->strata, x->n_strata, e) || !mem_new(&x->v, l->n, e) ||
        !mem_new(&x->scratch, l->n, e) ||
        (n <= LIKE_FEW_GROUPS && !mem_cleared(&x->of_group, n, e)) || !like_fit_init(x, e))
        return false;
    like_refer(x);
    return n <= LIKE_FEW_GROUPS || choose_candidates(x, e);
}

static void fini(struct compared *x)
{
    free(x->cells);
    free(x->slow);
    free(x->may_be_slow);
    free(x->met);
    free(x->n_of);
    free(x->of_group);
    free(x->strata);
    free(x->v);
    free(x->scratch);
}

/* Returns how many of n groups are slow at one time, at most. */
static size_t count_at_once(const struct like_slow *v, size_t n)
{
    size_t most = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < v[i].n; k++) {
            size_t at_once = 0;
            for (size_t j = 0; j < n; j++)
                at_once += like_is_slow_at(&v[j], v[i].v[k].start_ns);
            most = at_once > most ? at_once : most;
        }
    return most;
}

/* Asks for each group; those that are slow leave the reference of the others in their time, and all
 * are asked again. If all are slow at once, none is: nothing is left to compare with. */
static bool ask_all(struct compared *x, struct like_found *found, struct err *e)
{
    bool ok = true, same = false;

    for (int round = 0; ok && !same && round <= 2; round++) {
        found->n = 0;
        for (size_t k = 0; ok && k < x->n_groups; k++)
            if (x->may_be_slow[k]) {
                ok = ask(x, k, &found->v[found->n], e);
                found->n += found->v[found->n].n > 0;
            }
        found->n_at_once = count_at_once(found->v, found->n);
        if (found->n_at_once == x->n_groups)
            found->n = found->n_at_once = 0;
        same = true;
        for (size_t k = 0, i = 0; k < x->n_groups; k++) {
            bool is = i < found->n && found->v[i].group == k;
            same = same && (x->slow[k].n > 0) == is;
            x->slow[k] = is ? found->v[i++] : (struct like_slow){0};
        }
        same = same || found->n == 0;
        if (ok && !same)
            like_refer(x);
    }
    return ok;
}

bool like_find(struct like_found *found, struct err *e)
{
    struct compared x = {0};

    if (!mem_new(&found->v, count_groups(found->l, found->groups) + 1, e))
        return false;
    bool ok = init(&x, found, e) && ask_all(&x, found, e);
    for (size_t i = 0; found->groups == LIKE_PAIRS && i < found->n; i++)
        for (size_t k = 0; k < found->v[i].n; k++) {
            struct like_span *g = &found->v[i].v[k];
            g->is_pair = true;
            g->part.of[LIKE_OTHER] = client_of_pair(found->l->c, found->v[i].group);
        }
    fini(&x);
    return ok;
}
