/* Finds the hosts, clients, sizes, times or slowest requests whose durations changed while those of
 * the rest hardly did. Looks for a stretch of time even if no change of the whole is shown. */
#include "analyze/tools/compare/compare_internal.h"

#include "analyze/base/intern.h"
#include "analyze/findings/find.h"
#include "libcommon/hist.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A part carries a change if it has at least the share LEAST_CARRIED of it, and the rest changed by
 * at most MOST_REST times as much as the part (compared as logs). */
#define LEAST_CARRIED 0.5
#define MOST_REST     0.6
#define ALIKE_FRAC    0.5  /* a second part that carries this much of the first's is reported too */
#define LEAST_CHANGE  0.05 /* least change of the part's mean duration, as a fraction */
#define LEAST_ALONE   0.2  /* ... of a stretch of time, if no change of the whole is shown */

/* The change must also be beyond chance. A part's ratio to the rest must change by LEAST_ERRORS
 * standard errors, which come from its blocks of time. A stretch of time must differ from the times
 * before and after it by LEAST_DEVIATIONS standard deviations of these. */
#define LEAST_ERRORS     6
#define LEAST_DEVIATIONS 4

/* A stretch of time or a tail is the best of many candidates, so it must stand out more. */
#define LEAST_FOUND     0.7
#define MOST_REST_FOUND 0.35

/* The requests of one part: how many and their total duration, by side. */
struct cell {
    const char *name;
    size_t key;
    double n[2], ns[2];
    double share;   /* of the requests: the mean of both sides */
    double carried; /* the part's share in the change of the mean, in ns */
};

struct cells {
    struct cell *v;
    size_t n;
    struct intern names; /* of the cells; empty if these have none */
    double change;       /* change of the mean duration, in ns */
};

/* Returns the cell of a name, or of a key if there are no names; adds it if it is missing. NULL:
 * out of memory. */
static struct cell *cell_of(struct cells *c, const char *name, size_t key)
{
    size_t i = name != NULL ? intern_add(&c->names, slice_of(name)) : key;

    if (i == INTERN_NONE)
        return NULL;
    for (; c->n <= i; c->n++)
        c->v[c->n] = (struct cell){.name = name, .key = c->n};
    return &c->v[i];
}

static double mean(const struct cell *x, int side)
{
    return x->ns[side] / x->n[side];
}

/* Keeps the cells that both sides have, in order, and computes what they carry. */
static void weigh(struct cells *c)
{
    double n_all[2] = {0}; /* requests of all cells, by side */
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++)
        if (c->v[i].n[0] > 0 && c->v[i].n[1] > 0)
            c->v[n++] = c->v[i];
    c->n = n;
    for (size_t i = 0; i < n; i++)
        for (int side = 0; side < 2; side++)
            n_all[side] += c->v[i].n[side];
    for (size_t i = 0; i < n; i++) {
        struct cell *x = &c->v[i];
        x->share = (x->n[0] / n_all[0] + x->n[1] / n_all[1]) / 2;
        x->carried = x->share * (mean(x, 1) - mean(x, 0));
        c->change += x->carried;
    }
}

/* Adds what a run has to a side's cells. */
static bool add_cells(struct cells *c, const struct run_tallies *t, int side, struct err *e)
{
    for (size_t k = 0; k < t->n; k++) {
        struct cell *x = cell_of(c, t->names != NULL ? t->names[k] : NULL, k);

        if (x == NULL)
            return mem_none(e);
        for (size_t b = 0; b < t->n_blocks; b++) {
            x->n[side] += t->sum[k * t->n_blocks + b].n;
            x->ns[side] += t->sum[k * t->n_blocks + b].ns;
        }
    }
    return true;
}

static bool fill_cells(struct cells *c, const struct compare_op *op, enum run_tally_kind kind,
                       struct err *e)
{
    size_t most = 1;

    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < op->runs[side].n; i++)
            most += op->runs[side].v[i]->tally[kind].n;
    *c = (struct cells){0};
    bool ok = mem_cleared(&c->v, most, e);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; ok && i < op->runs[side].n; i++)
            ok = add_cells(c, &op->runs[side].v[i]->tally[kind], side, e);
    intern_fini(&c->names);
    if (ok)
        weigh(c);
    return ok;
}

/* Fills in how much the cells [from, from + n) carry. False: a figure is undefined, for example
 * without cells outside. */
static bool carry(struct compare_carrier *to, const struct cells *c, size_t from, size_t n)
{
    double in[2][2] = {{0}}, carried = 0, weighed[2] = {0};

    for (size_t i = 0; i < c->n; i++) {
        const struct cell *x = &c->v[i];
        bool is_in = i >= from && i < from + n;

        carried += is_in ? x->carried : 0;
        weighed[is_in] += x->share;
        in[is_in][0] += x->share * mean(x, 0);
        in[is_in][1] += x->share * mean(x, 1);
    }
    to->frac = carried / c->change;
    to->change = in[1][1] / in[1][0] - 1;
    to->rest = in[0][1] / in[0][0] - 1;
    return weighed[0] > 0 && weighed[1] > 0 && isfinite(to->frac) && isfinite(to->change) &&
           isfinite(to->rest);
}

static bool stands_out(const struct compare_carrier *x, double least, double most_rest)
{
    return x->frac >= least && fabs(x->change) >= LEAST_CHANGE &&
           fabs(log1p(x->rest)) <= most_rest * fabs(log1p(x->change));
}

static int compare_carried(const void *a, const void *b)
{
    double x = ((const struct cell *)a)->carried, y = ((const struct cell *)b)->carried;
    return (x < y) - (x > y);
}

/* ---- Chance ---- */

struct scatter {
    double n, sum, squares;
};

static void scatter_add(struct scatter *s, double x)
{
    s->n++;
    s->sum += x;
    s->squares += x * x;
}

static double scatter_variance(const struct scatter *s)
{
    return fmax(0, s->squares - s->sum * s->sum / s->n) / (s->n - 1);
}

static bool is_in(const struct compare_carrier *x, const struct run_tallies *t, size_t k)
{
    for (size_t i = 0; i < x->n; i++)
        if (t->names != NULL ? strcmp(x->name[i], t->names[k]) == 0 : x->size[i] == k)
            return true;
    return false;
}

/* Adds, for each block of time, the log of the mean duration in the part relative to that in the
 * rest. A change of everything, such as slow noise, cancels out. */
static void scatter_blocks(struct scatter *s, const struct run_tallies *t,
                           const struct compare_carrier *x)
{
    struct run_sum sum[RUN_TALLY_BLOCKS][2] = {{{0}}};

    for (size_t k = 0; k < t->n; k++) {
        bool in = is_in(x, t, k);
        for (size_t b = 0; b < t->n_blocks; b++) {
            sum[b][in].n += t->sum[k * t->n_blocks + b].n;
            sum[b][in].ns += t->sum[k * t->n_blocks + b].ns;
        }
    }
    for (size_t b = 0; b < RUN_TALLY_BLOCKS; b++)
        if (sum[b][0].ns > 0 && sum[b][1].ns > 0)
            scatter_add(s, log(sum[b][1].ns / sum[b][1].n * sum[b][0].n / sum[b][0].ns));
}

/* Whether a part differs from the rest by more than chance. The variance is that of the side that
 * varies less, since a fault may come and go on the other side. */
static bool is_beyond_chance(const struct compare_op *op, enum run_tally_kind kind,
                             const struct compare_carrier *x)
{
    struct scatter s[2] = {{0}};

    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < op->runs[side].n; i++)
            scatter_blocks(&s[side], &op->runs[side].v[i]->tally[kind], x);
    if (s[0].n < 3 || s[1].n < 3)
        return false;
    double variance = fmin(scatter_variance(&s[0]), scatter_variance(&s[1]));

    return fabs(s[1].sum / s[1].n - s[0].sum / s[0].n) >=
           LEAST_ERRORS * sqrt(variance * (1 / s[0].n + 1 / s[1].n));
}

/* Whether the times [from, from + n) differ from the times before and after by more than these vary
 * among themselves. */
static bool is_beyond_times(const struct cells *c, size_t from, size_t n)
{
    struct scatter s[2] = {{0}};

    for (size_t i = 0; i < c->n; i++)
        if (c->v[i].ns[0] > 0 && c->v[i].ns[1] > 0)
            scatter_add(&s[i >= from && i < from + n], log(mean(&c->v[i], 1) / mean(&c->v[i], 0)));
    return s[0].n > 2 && s[1].n > 0 &&
           fabs(s[1].sum / s[1].n - s[0].sum / s[0].n) >=
               LEAST_DEVIATIONS * sqrt(scatter_variance(&s[0]));
}

/* ---- What stands out ---- */

/* Finds the host, client or size class that carries most, or the two that do. If the second carries
 * nearly as much as the first, tries only both together: one alone would be half of the answer. */
static bool find_part(struct compare_carrier *to, struct cells *c, const struct compare_op *op,
                      enum run_tally_kind kind)
{
    for (size_t i = 0; c->change < 0 && i < c->n; i++)
        c->v[i].carried = -c->v[i].carried;
    c->change = fabs(c->change);
    qsort(c->v, c->n, sizeof *c->v, compare_carried);
    bool two_alike = c->n > 2 && c->v[1].carried >= ALIKE_FRAC * c->v[0].carried;
    for (size_t n = two_alike ? 2 : 1; n <= 2 && n < c->n; n++) {
        *to = (struct compare_carrier){.kind = (enum compare_carrier_kind)kind, .n = n};
        for (size_t i = 0; i < n; i++) {
            to->name[i] = c->v[i].name;
            to->size[i] = c->v[i].key;
        }
        if (carry(to, c, 0, n) && stands_out(to, LEAST_CARRIED, MOST_REST) &&
            is_beyond_chance(op, kind, to))
            return true;
    }
    return false;
}

/* Finds the stretch of time whose share of the change exceeds its share of the time most. */
static bool find_time(struct compare_carrier *to, const struct cells *c)
{
    struct top_stretch top = {0};

    for (size_t i = 0; i < c->n; i++)
        top_stretch_add(&top, i, c->v[i].carried / c->change - 1 / (double)c->n);
    size_t first = top.first, n = top.most > 0 ? top.last + 1 - first : 0;
    if (n == 0 || n > c->n / 2)
        return false;
    *to = (struct compare_carrier){
        .kind = COMPARE_IN_TIME,
        .lo = (double)c->v[first].key * RUN_TALLY_NS / 1e9,
        .hi = (double)(c->v[first + n - 1].key + 1) * RUN_TALLY_NS / 1e9,
    };
    return carry(to, c, first, n) && stands_out(to, LEAST_FOUND, MOST_REST_FOUND) &&
           is_beyond_times(c, first, n);
}

/* Computes the mean duration, and the part of this mean that the slowest `frac` of the requests
 * contribute. */
static void tail_of(const uint64_t *count, double frac, double *all, double *tail)
{
    double n = 0, sum = 0, above = 0, left;

    for (size_t b = 0; b < HIST_N_INDEXES; b++)
        n += (double)count[b];
    left = frac * n;
    for (size_t b = HIST_N_INDEXES; b-- > 0;) {
        double value = (double)hist_lower(b), some = fmin(left, (double)count[b]);
        sum += (double)count[b] * value;
        above += some * value;
        left -= some;
    }
    *all = sum / n;
    *tail = above / n;
}

/* count: the requests of each side by duration. */
static bool find_tail(struct compare_carrier *to, uint64_t *const count[2])
{
    static const double shares[] = {.01, .02, .05, .1};

    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        double all[2], tail[2];
        for (int side = 0; side < 2; side++)
            tail_of(count[side], shares[i], &all[side], &tail[side]);
        *to = (struct compare_carrier){
            .kind = COMPARE_IN_TAIL,
            .lo = shares[i],
            .frac = (tail[1] - tail[0]) / (all[1] - all[0]),
            .change = tail[1] / tail[0] - 1,
            .rest = (all[1] - tail[1]) / (all[0] - tail[0]) - 1,
        };
        if (stands_out(to, LEAST_FOUND, MOST_REST_FOUND / 2))
            return true;
    }
    return false;
}

static bool is_changed(const struct compare_op *op)
{
    for (size_t i = 0; i < op->n_metrics; i++) {
        const struct compare_metric *m = &op->metrics[i];
        if (m->part->kind == RUN_ALL && m->metric != RUN_ERRORS && compare_is_changed(m))
            return true;
    }
    return false;
}

static void add(struct compare_op *op, const struct compare_carrier *x)
{
    size_t at = op->n_carriers;

    /* The carrier whose share is nearest to 1 comes first. */
    while (at > 0 && fabs(op->carriers[at - 1].frac - 1) > fabs(x->frac - 1))
        at--;
    if (at == COMPARE_MAX_CARRIERS)
        return;
    if (op->n_carriers < COMPARE_MAX_CARRIERS)
        op->n_carriers++;
    memmove(&op->carriers[at + 1], &op->carriers[at],
            (op->n_carriers - at - 1) * sizeof *op->carriers);
    op->carriers[at] = *x;
}

static bool find_carriers(struct compare_op *op, uint64_t *const count[2], struct err *e)
{
    struct compare_carrier x;
    bool changed = is_changed(op);

    for (enum run_tally_kind kind = 0; kind < RUN_N_TALLIES; kind++) {
        struct cells cells;
        bool ok = fill_cells(&cells, op, kind, e);
        bool found =
            ok && (kind == RUN_BY_TIME ? find_time(&x, &cells) : find_part(&x, &cells, op, kind));

        /* Equal hosts may have unequal queues for a whole run. So without a change of the whole,
         * only a stretch of time is reported. */
        if (found && (changed || (kind == RUN_BY_TIME && fabs(x.change) >= LEAST_ALONE)))
            add(op, &x);
        free(cells.v);
        if (!ok)
            return false;
    }
    if (changed && op->n_carriers == 0 && op->has_effect && find_tail(&x, count))
        add(op, &x);
    return true;
}

/* Adds up the histograms of the durations of a side's runs: HIST_N_INDEXES counts. Returns whether
 * some run has one. */
static bool add_counts(const struct compare_runs *runs, uint64_t *count)
{
    bool any = false;

    memset(count, 0, HIST_N_INDEXES * sizeof *count);
    for (size_t i = 0; i < runs->n; i++) {
        const struct statistics_latency *d = run_durations(runs->v[i]);
        for (size_t b = 0; d != NULL && b < d->n_buckets; b++)
            count[d->first_bucket + b] += d->count[b];
        any |= d != NULL;
    }
    return any;
}

/* Returns an operation's share of the requests: the mean over the runs of each side, then over both
 * sides. */
static double share_of(const struct compare *c, const struct compare_op *op)
{
    const size_t n_runs[] = {c->before.n, c->after.n};
    double share = 0;

    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < op->runs[side].n; i++)
            share += op->runs[side].v[i]->kept->setting[RUN_SHARE] / (2 * (double)n_runs[side]);
    return share;
}

bool compare_where(struct compare *c, struct err *e)
{
    double sum[2] = {0}; /* operations that became faster, and slower */
    uint64_t *count[2] = {NULL, NULL};
    size_t n = 0; /* operations with a share: all runs of theirs are mixed */
    bool ok = mem_new(&count[0], HIST_N_INDEXES, e) && mem_new(&count[1], HIST_N_INDEXES, e);

    for (size_t k = 0; k < c->n_ops; k++) {
        struct compare_op *op = &c->ops[k];
        op->share_of_change = share_of(c, op) * (op->after[RUN_MEAN] - op->before[RUN_MEAN]);
        if (!isnan(op->share_of_change))
            sum[op->share_of_change > 0] += fabs(op->share_of_change);
        n += !isnan(op->share_of_change);
    }
    for (size_t k = 0; ok && k < c->n_ops; k++) {
        struct compare_op *op = &c->ops[k];
        bool any = add_counts(&op->runs[0], count[0]);

        op->has_effect = add_counts(&op->runs[1], count[1]) && any;
        if (op->has_effect)
            stats_effect_counts(count[0], count[1], HIST_N_INDEXES, &op->effect);
        op->share_of_change = n > 1 && is_changed(op) && !c->has_cells
                                  ? fabs(op->share_of_change) / sum[op->share_of_change > 0]
                                  : NAN;
        ok = !role_is_benchmark(op->role) || op->sizes_differ || find_carriers(op, count, e);
    }
    free(count[0]);
    free(count[1]);
    return ok;
}
