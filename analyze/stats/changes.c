/* Finds changes of level between the runs of an archive. The penalty for each cut of the partition
 * comes from a permutation test: at most 4.2 % of random orders of the runs reach it. So nothing is
 * assumed of how runs scatter. */
#include "analyze/stats/stats_internal.h"

#include "libcommon/mem.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_ORDERS    999
#define WINDOW      5    /* runs in a moving median, which single outliers do not move */
#define CLIP        3.5  /* standard deviations: a value farther from that median is an outlier */
#define MANY        8    /* at most one run in so many may be an outlier */
#define MIN_NOISE   1e-4 /* standard deviation of a logarithm: nothing repeats better */
#define N_DISTANCES 3
#define MIN_RUNS    (2 * STATS_CHANGES_LEAST)

/* A change must also stand out from the noise of its own two sides and of the runs around it:
 * growing noise would pass for changes. The variance of a few runs is uncertain, so the variance of
 * all runs is added to it with the weight of PRIOR runs. */
#define MAX_P  .002
#define PRIOR  2.0
#define AROUND 20  /* runs around a change: their noise replaces that of all runs */
#define MUCH   1.5 /* if its variance is so many times larger */

/* One time series, without the runs that have no value. */
struct line {
    double *raw;   /* the values of n runs */
    double *y;     /* the values with outliers replaced */
    size_t *run;   /* the run of each value */
    size_t *place; /* by run: its place in y, or SIZE_MAX */
    size_t n;
    double noise; /* variance */
};

struct work {
    struct line *lines;
    size_t n_lines, n_runs;
    double *ordered, *median, *buffer; /* n_runs each */
    size_t *order;
    double *strongest; /* strongest change in each random order, ascending */
};

static void work_fini(struct work *w)
{
    for (size_t s = 0; w->lines != NULL && s < w->n_lines; s++) {
        free(w->lines[s].raw);
        free(w->lines[s].y);
        free(w->lines[s].run);
        free(w->lines[s].place);
    }
    free(w->lines);
    free(w->ordered);
    free(w->median);
    free(w->buffer);
    free(w->order);
    free(w->strongest);
}

/* Estimates the variance of the runs' noise from the differences of runs at distances 1 to 3, so
 * that levels do not enter it. Three distances halve the variance of the estimate. A change makes k
 * large differences at distance k: the trimmed mean leaves out at least those of one change. */
static double noise_of(const double *y, size_t n, double *buffer)
{
    double sum = 0;
    size_t k = 1;

    for (; k <= N_DISTANCES && 2 * k < n; k++) {
        size_t pct = 100 * (n - 2 * k) / (n - k);
        sum += stats_trimmed_square_jump(y, n, k, pct < 100 - 5 * k ? pct : 100 - 5 * k, buffer);
    }
    return fmax(sum / (2 * (double)(k - 1)), MIN_NOISE * MIN_NOISE);
}

/* Returns the first of the `wide` runs around run i, out of n. */
static size_t first_around(size_t i, size_t wide, size_t n)
{
    size_t from = i < wide / 2 ? 0 : i - wide / 2;

    return from + wide > n ? n - wide : from;
}

/* Replaces outliers by the moving median. If more than one run in MANY is far off, runs are at
 * different levels and y is not changed: smoothing would turn a random order of two clear levels
 * into an order with one change. */
static void drop_outliers(double *y, size_t n, double *median, double *buffer)
{
    double window[WINDOW];

    for (size_t i = 0; i < n; i++) {
        memcpy(window, y + first_around(i, WINDOW, n), sizeof window);
        median[i] = stats_sort_median(window, WINDOW);
        buffer[i] = fabs(y[i] - median[i]);
    }
    /* Each median includes the value itself, so distances to it are about 0.8 of the noise. */
    double far = CLIP * 1.4826 / .8 * stats_sort_median(buffer, n);
    far = fmax(far, MIN_NOISE);
    size_t n_far = 0;
    for (size_t i = 0; i < n; i++)
        n_far += fabs(y[i] - median[i]) > far;
    for (size_t i = 0; n_far <= n / MANY && i < n; i++)
        if (fabs(y[i] - median[i]) > far)
            y[i] = median[i];
}

static bool line_init(struct line *l, const double *x, struct work *w, struct err *e)
{
    size_t n = w->n_runs;

    if (!mem_new(&l->raw, n, e) || !mem_new(&l->y, n, e) || !mem_new(&l->run, n, e) ||
        !mem_new(&l->place, n, e))
        return false;
    for (size_t i = 0; i < n; i++) {
        l->place[i] = isfinite(x[i]) ? l->n : SIZE_MAX;
        if (!isfinite(x[i]))
            continue;
        l->raw[l->n] = l->y[l->n] = x[i];
        l->run[l->n++] = i;
    }
    if (l->n < MIN_RUNS)
        return true;
    drop_outliers(l->y, l->n, w->median, w->buffer);
    l->noise = noise_of(l->y, l->n, w->buffer);
    return true;
}

/* Returns how much the best single cut reduces the sum of squares. */
static double best_cut(const double *y, size_t n)
{
    double all = gsl_stats_mean(y, 1, n), sum = 0, best = 0;

    for (size_t k = 1; k + STATS_CHANGES_LEAST <= n; k++) {
        sum += y[k - 1] - all;
        double gain = sum * sum * (double)n / ((double)k * (double)(n - k));
        if (k >= STATS_CHANGES_LEAST && gain > best)
            best = gain;
    }
    return best;
}

/* Fills `strongest`, the null distribution of the strongest change, from random orders of the
 * runs. */
static bool try_orders(struct work *w, struct err *e)
{
    gsl_rng *random = gsl_rng_alloc(gsl_rng_taus2);

    if (random == NULL)
        return mem_none(e);
    for (size_t i = 0; i < w->n_runs; i++)
        w->order[i] = i;
    for (size_t b = 0; b < N_ORDERS; b++) {
        w->strongest[b] = 0;
        gsl_ran_shuffle(random, w->order, w->n_runs, sizeof *w->order);
        for (size_t s = 0; s < w->n_lines; s++) {
            const struct line *l = &w->lines[s];
            size_t n = 0;

            if (l->n < MIN_RUNS)
                continue;
            for (size_t i = 0; i < w->n_runs; i++)
                if (l->place[w->order[i]] != SIZE_MAX)
                    w->ordered[n++] = l->raw[l->place[w->order[i]]];
            drop_outliers(w->ordered, n, w->median, w->buffer);
            double strength = best_cut(w->ordered, n) / noise_of(w->ordered, n, w->buffer);
            w->strongest[b] = fmax(w->strongest[b], strength);
        }
    }
    gsl_rng_free(random);
    gsl_sort(w->strongest, 1, N_ORDERS);
    return true;
}

/* Variance of the noise that a cut must stand out from. */
static double noise_around(const struct line *l, size_t cut)
{
    double buffer[AROUND];
    size_t n = l->n < AROUND ? l->n : AROUND;
    double around = noise_of(l->y + first_around(cut, n, l->n), n, buffer);

    return around > MUCH * l->noise ? around : l->noise;
}

/* Variance of one side of a cut; `noise` has the weight of PRIOR further runs. */
static double side_noise(const struct line *l, size_t from, size_t to, double noise, double *df)
{
    double n = (double)(to - from);

    *df = n - 1 + PRIOR;
    return (gsl_stats_variance(l->y + from, 1, to - from) * (n - 1) + PRIOR * noise) / *df;
}

/* Where the sides of the i-th of n cuts begin and end. */
static size_t begin_of(const size_t *cuts, size_t i)
{
    return i > 0 ? cuts[i - 1] : 0;
}

static size_t end_of(const struct line *l, const size_t *cuts, size_t n, size_t i)
{
    return i + 1 < n ? cuts[i + 1] : l->n;
}

/* Moves a cut to the place of maximum likelihood, each side being normal with its own mean and
 * variance. The partition assumed the same noise everywhere. */
static void place(const struct line *l, size_t *cuts, size_t n, size_t i)
{
    size_t from = begin_of(cuts, i), to = end_of(l, cuts, n, i);
    double least = INFINITY, df;

    for (size_t k = from + STATS_CHANGES_LEAST; k + STATS_CHANGES_LEAST <= to; k++) {
        double x = (double)(k - from) * log(side_noise(l, from, k, l->noise, &df)) +
                   (double)(to - k) * log(side_noise(l, k, to, l->noise, &df));

        if (x < least) {
            least = x;
            cuts[i] = k;
        }
    }
}

/* A cut, judged by the runs between it and the next cut on either side. */
struct sides {
    double before, after; /* means */
    double strength;      /* sum of squares that it explains, over the variance of the noise */
    double p;             /* p-value of the difference (Welch) */
};

/* Judges the i-th of n cuts. */
static struct sides sides_of(const struct line *l, const size_t *cuts, size_t n, size_t i)
{
    size_t from = begin_of(cuts, i), cut = cuts[i], to = end_of(l, cuts, n, i);
    double n_a = (double)(cut - from), n_b = (double)(to - cut), df_a, df_b, v, df;
    struct sides x = {.before = gsl_stats_mean(l->y + from, 1, cut - from),
                      .after = gsl_stats_mean(l->y + cut, 1, to - cut)};
    double d = x.after - x.before, noise = noise_around(l, cut);
    double v_a = side_noise(l, from, cut, noise, &df_a) / n_a;
    double v_b = side_noise(l, cut, to, noise, &df_b) / n_b;

    stats_welch(v_a, df_a, v_b, df_b, 0, &v, &df);
    x.strength = d * d * n_a * n_b / (n_a + n_b) / noise;
    x.p = stats_dist_t_two_sided(d / sqrt(v), df);
    return x;
}

/* Drops the weakest cut until all stand out; returns how many are left. */
static size_t drop_weak(const struct line *l, size_t *cuts, size_t n, double least)
{
    for (;;) {
        double highest = MAX_P;
        size_t weakest = n;

        for (size_t i = 0; i < n; i++)
            place(l, cuts, n, i);
        for (size_t i = 0; i < n; i++) {
            struct sides x = sides_of(l, cuts, n, i);
            double p = x.strength < least ? 1 : x.p;

            if (p > highest) {
                highest = p;
                weakest = i;
            }
        }
        if (weakest == n)
            return n;
        memmove(cuts + weakest, cuts + weakest + 1, (n - weakest - 1) * sizeof *cuts);
        n--;
    }
}

static double p_of(const struct work *w, double strength)
{
    size_t n = 1;

    while (n <= N_ORDERS && w->strongest[N_ORDERS - n] >= strength)
        n++;
    return (double)n / (N_ORDERS + 1);
}

/* z-score of the last run against the earlier runs of its level, which begins at `from`. */
static double last_z_of(const struct line *l, size_t from)
{
    double n = (double)(l->n - 1 - from);

    return (l->raw[l->n - 1] - gsl_stats_mean(l->y + from, 1, l->n - 1 - from)) /
           sqrt(l->noise * (1 + 1 / n));
}

static bool cut_line(const struct work *w, size_t s, double least, struct stats_changes *out,
                     struct err *e)
{
    const struct line *l = &w->lines[s];
    size_t *cuts = NULL, n = 0;
    double cost;
    bool ok = mem_new(&cuts, w->n_runs, e) && stats_partition(l->y, l->n, STATS_CHANGES_LEAST,
                                                              least * l->noise, cuts, &n, &cost, e);

    n = ok ? drop_weak(l, cuts, n, least) : 0;
    if (ok && l->run[l->n - 1] == w->n_runs - 1)
        out->last_z[s] = last_z_of(l, n > 0 ? cuts[n - 1] : 0);
    for (size_t i = 0; ok && i < n; i++) {
        struct sides x = sides_of(l, cuts, n, i);
        ok = mem_fit(&out->v, &out->cap, out->n + 1, e);
        if (ok)
            out->v[out->n++] = (struct stats_change){s,       l->run[cuts[i]], x.before,
                                                     x.after, x.strength,      p_of(w, x.strength)};
    }
    free(cuts);
    return ok;
}

bool stats_changes(const double *x, size_t n_series, size_t n, struct stats_changes *out,
                   struct err *e)
{
    struct work w = {.n_lines = n_series, .n_runs = n};

    *out = (struct stats_changes){0};
    bool ok = mem_cleared(&w.lines, n_series, e) && mem_new(&w.ordered, n, e) &&
              mem_new(&w.median, n, e) && mem_new(&w.buffer, n, e) && mem_new(&w.order, n, e) &&
              mem_new(&w.strongest, N_ORDERS, e) && mem_new(&out->last_z, n_series, e);
    for (size_t s = 0; ok && s < n_series; s++) {
        out->last_z[s] = NAN;
        ok = line_init(&w.lines[s], x + s * n, &w, e);
    }
    ok = ok && (n < MIN_RUNS || try_orders(&w, e));
    /* The strength that at most a share STATS_CHANGES_ALPHA of the random orders reaches. */
    size_t rank = (size_t)((N_ORDERS + 1) * (1 - STATS_CHANGES_ALPHA));
    for (size_t s = 0; ok && s < n_series; s++)
        if (w.lines[s].n >= MIN_RUNS)
            ok = cut_line(&w, s, w.strongest[rank], out, e);
    work_fini(&w);
    return ok;
}

void stats_changes_free(struct stats_changes *c)
{
    free(c->v);
    free(c->last_z);
    *c = (struct stats_changes){0};
}
