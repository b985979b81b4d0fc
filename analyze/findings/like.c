/* Tests whether a group is slow, and finds the intervals. */
#include "analyze/findings/like_internal.h"
#include "analyze/stats/stats.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MEAN_SURER      1.25 /* the mean must be so much surer than the typical request */
#define LEAST_BLOCKS    10
#define MEAN_IN_BLOCK   10
#define MOST_CANDIDATES 32
#define SPREAD_MARGIN   1.3
#define MOST_STEP       3 /* standard deviations: a larger difference is a step */
#define LEAST_BATCHES   5 /* for a variance */

/* ---- Series of differences between a group and the others ---- */

/* Sums of a block of time: of the group [1], of the others [0]. */
struct block {
    double n[2], sum[2][N_MEASURES];
};

static void add_to_block(struct block *b, int own, double n, double residual)
{
    b->n[own] += n;
    b->sum[own][TYPICAL] += n * residual;
    b->sum[own][MEAN] += n * exp(fmin(residual, LIKE_MOST_EXCESS));
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

        if (n[0] < LIKE_IN_BLOCK || n[1] < LIKE_IN_BLOCK)
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

/* Finds the interval in [from, to) whose mean has the largest t, among those whose mean is above
 * `least`; t 0: there is none. */
static struct interval find_interval(const double *v, double sd, size_t from, size_t to,
                                     double least)
{
    double sum[LIKE_MAX_BLOCKS + 1] = {0};
    struct interval best = {0};

    for (size_t i = from; i < to; i++)
        sum[i + 1] = sum[i] + v[i];
    for (size_t i = from; i + LIKE_IN_BLOCK <= to; i++)
        for (size_t j = i + LIKE_IN_BLOCK; j <= to; j++) {
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
        find_interval(faster, a->of.sd[a->measure], x.from, x.to, x.mean / LIKE_NEXT_TO_NONE);
    if (gap.t > LIKE_FURTHER_T && gap.from > x.from && gap.to < x.to) {
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

    if (best.t < LIKE_LEAST_T)
        return;
    while ((x = find_interval(v, sd, 0, from, LIKE_LEAST)).t > LIKE_FURTHER_T)
        from = x.from;
    while ((x = find_interval(v, sd, to, a->of.n, LIKE_LEAST)).t > LIKE_FURTHER_T)
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

/* Finds the spans in which a group is slow. False: out of memory. */
static bool ask(struct compared *x, size_t group, struct like_slow *to, struct err *e)
{
    struct block blocks[LIKE_MAX_BLOCKS];
    struct answer *a;
    double n[2] = {0};

    *to = (struct like_slow){.group = group};
    like_compare(x, group, LIKE_OF_ALL);
    for (size_t i = 0; i < x->n; i++)
        n[x->v[i].own] += x->v[i].row->n;
    if (fmin(n[0], n[1]) < LEAST_BLOCKS * LIKE_IN_BLOCK)
        return true;
    if (!mem_cleared(&a, 1, e))
        return false;
    a->n_blocks = fill_blocks(x, fmin(n[0], n[1]), blocks);
    find_intervals(a, blocks);
    double late = late_from_of(x, 100);
    double t = a->n == 0 && x->l->c->has_requests ? find_tail(x, a->n_blocks, &late) : 0;
    if (t > LIKE_FURTHER_T) {
        a->measure = MEAN;
        a->found[0] = (struct interval){.t = t};
        a->n = 1;
    }
    for (size_t i = 0; i < a->n; i++)
        to->n += like_fill_span(x, a, &a->found[i], late, &to->v[to->n]) &&
                 !like_may_be_busy(x, group, &to->v[to->n]);
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
    for (double least = LIKE_FURTHER_T; ok && n_chosen > MOST_CANDIDATES; least *= 2) {
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
