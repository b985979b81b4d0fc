/* Levels of throughput: changes that stay (drop, rise), a beginning that differs (warm-up), a trend
 * (drift). Levels of durations, where throughput does not tell them.
 *
 * The logarithm of the rate of completions is cut into levels by least squares with a penalty for
 * each cut (stats_partition), which is so low that it finds all that may be a change. Slow noise
 * that a healthy run has too is cut as well, so that these cuts are no more than proposals. What
 * remains of them explains the series at the least cost, beside such noise (slow_noise.h): what
 * changes at once, or keeps on changing, is no noise. */
#include "analyze/findings/find.h"
#include "analyze/findings/slow_noise.h"
#include "analyze/stats/stats.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VISIT_REACH       2 /* points */
#define N_REFINEMENTS     4
#define MAX_POINTS        SLOW_NOISE_POINTS
#define MIN_POINTS        16
#define MOST_CUTS         12 /* that are told; more are the swings of one */
#define N_BATCHES         32
#define PENALTY           22.0 /* times the long-run variance: 4.7 standard errors a cut */
#define N_BISECTIONS      12
#define GIVEN_PENALTY     6.0 /* where the moment is known beforehand: 2.4 standard errors */
#define LEAST_CHANGE      .10
#define PROBLEM_CHANGE    .15
#define PROBLEM_LOST_FRAC .03 /* of a change that is taken back */
#define STAYING_LOST_FRAC .01 /* of one that stays: more is to come */
#define WARM_UP_PROBLEM   .1 /* of the throughput lost; less can be left out, and misleads little */
#define WARM_UP_FRAC      .25  /* a slow beginning up to here is a warm-up */
#define FAST_UP_FRAC      .10  /* a fast one */
#define EVIDENCE          15.0 /* that a shape is more than slow noise; many are tried */
#define N_TRENDS          2
#define GROWTH            2 /* of the logarithm of a trend, over the run */
#define LONGEST_DECAY     6 /* of the run, of a beginning that decays */
#define N_DECAYS          5
#define DECAY_STEP        1.8
#define LEAST_SLOWING     1.25 /* of durations */
#define PROBLEM_SLOWING   1.4
#define LEAST_UNDER_WAY   .25 /* of a change of durations, in the number of requests under way */
#define MOST_UNDER_WAY    1.1
#define LEAST_SPREAD      1e-6      /* variance of a level of durations that are all the same */
#define TYPICAL_OF        (1 << 16) /* requests */
#define FREE_FRAC         .5        /* of a point that must not be masked */

struct levels {
    struct search *s;
    size_t n;
    double x[MAX_POINTS];      /* log of completions per second */
    int64_t at_ns[MAX_POINTS]; /* where the point begins */
    int64_t width_ns;
    size_t n_cuts, cuts[MAX_POINTS];
    double least_variance; /* of a point, that the number of its requests leaves to it */
    double lrv;            /* of a point */
    double shapes[SLOW_NOISE_SHAPES][MAX_POINTS];
    struct slow_noise noise;
};

static double mean_of(const double *x, size_t from, size_t to)
{
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += x[i];
    return sum / (double)(to - from);
}

/* The series, without what is masked, the first median request and what comes in after the last
 * start. */
static void fill_points(struct levels *l)
{
    const struct course *c = l->s->c;
    double median_ns = search_longest_ns(l->s, c->median_ns, 0);

    /* The type that takes longest may begin later, and from the start on last past all times. */
    if (median_ns >= (double)(INT64_MAX - c->start_ns))
        return;
    size_t first = course_bin(c, c->start_ns + (int64_t)median_ns);
    size_t end = course_bin(c, c->last_start_ns);
    first += course_bin_part(c, first) < 1;
    if (end <= first)
        return;
    size_t width = (end - first + MAX_POINTS - 1) / MAX_POINTS;
    l->width_ns = (int64_t)width * c->bin_ns;
    for (size_t j = first; j + width <= end; j += width) {
        double n = 0, n_free = 0;
        for (size_t i = j; i < j + width; i++)
            if (l->s->masked[i] == 0) {
                n += c->ok[i];
                n_free++;
            }
        if (n_free < FREE_FRAC * (double)width)
            continue;
        l->at_ns[l->n] = course_bin_start_ns(c, j);
        /* Half a request more: an empty point is low, not minus infinity. */
        l->x[l->n++] = log((n + .5) / (n_free * (double)c->bin_ns / 1e9));
    }
    /* The completions of a closed loop have a quarter of the variance of a Poisson process: a
     * thread begins a request only when its last one has ended. */
    double per_point = exp(mean_of(l->x, 0, l->n)) * (double)l->width_ns / 1e9;
    l->least_variance = .25 / fmax(per_point, .1);
}

/* The long-run variance, by the median difference of neighbouring batches, so that steps do not
 * count. It misses noise that lasts longer than a batch. */
static double variance_of_batches(const struct levels *l)
{
    double d[N_BATCHES];
    size_t length = (l->n + N_BATCHES - 1) / N_BATCHES, n = 0;

    for (size_t i = 0; (i + 2) * length <= l->n; i++) {
        double a = mean_of(l->x, i * length, (i + 1) * length);
        double b = mean_of(l->x, (i + 1) * length, (i + 2) * length);

        d[n++] = (b - a) * (b - a);
    }
    /* The median of a squared standard normal is .455; a difference has twice the variance. */
    double v = stats_sort_median(d, n) / .455 / 2 * (double)length;
    return fmax(v, l->least_variance);
}

/* Least squares of the time that a request takes (1 / rate) on a straight line: what a steady
 * worsening looks like. Fills in the logarithms of the fitted rate; ends: those at both ends. */
static void fit_line(const struct levels *l, double ends[2], double *fitted)
{
    double least = exp(-l->x[0]) / 100;
    for (size_t i = 0; i < l->n; i++)
        fitted[i] = exp(-l->x[i]);
    struct stats_line line = stats_fit_line(fitted, l->n);
    for (size_t i = 0; i < l->n; i++)
        fitted[i] = -log(fmax(line.base + line.slope * (double)i, least));
    ends[0] = -log(fmax(line.base - line.slope / 2, least));
    ends[1] = -log(fmax(line.base + line.slope * ((double)l->n - .5), least));
}

static size_t level_end(const struct levels *l, size_t k)
{
    return k < l->n_cuts ? l->cuts[k] : l->n;
}

static double level_of(const struct levels *l, size_t k)
{
    return mean_of(l->x, k > 0 ? l->cuts[k - 1] : 0, level_end(l, k));
}

static void drop_cut(struct levels *l, size_t k)
{
    memmove(&l->cuts[k], &l->cuts[k + 1], (l->n_cuts - k - 1) * sizeof *l->cuts);
    l->n_cuts--;
}

/* Takes out cuts whose change is not worth a word, the smallest first. */
static void drop_small_cuts(struct levels *l)
{
    while (l->n_cuts > 0) {
        size_t smallest = 0;
        double least = INFINITY;

        for (size_t k = 0; k < l->n_cuts; k++) {
            double change = fabs(level_of(l, k + 1) - level_of(l, k));
            if (change < least) {
                least = change;
                smallest = k;
            }
        }
        if (least >= -log(1 - LEAST_CHANGE))
            return;
        drop_cut(l, smallest);
    }
}

/* The cuts that are best for a penalty, or for the least larger one that leaves MOST_CUTS. */
static bool propose_cuts(struct levels *l, size_t least, double penalty, struct err *e)
{
    double low = penalty, high = penalty, cost;
    if (!stats_partition(l->x, l->n, least, penalty, l->cuts, &l->n_cuts, &cost, e))
        return false;
    while (l->n_cuts > MOST_CUTS) {
        low = high;
        high *= 8;
        if (!stats_partition(l->x, l->n, least, high, l->cuts, &l->n_cuts, &cost, e))
            return false;
    }
    for (int i = 0; high > low && i < N_BISECTIONS; i++) {
        double mid = sqrt(low * high);
        if (!stats_partition(l->x, l->n, least, mid, l->cuts, &l->n_cuts, &cost, e))
            return false;
        *(l->n_cuts > MOST_CUTS ? &low : &high) = mid;
    }
    return low == high || stats_partition(l->x, l->n, least, high, l->cuts, &l->n_cuts, &cost, e);
}

/* The shapes that explain the series, and what that costs. */
struct choice {
    double cost;
    bool with[SLOW_NOISE_SHAPES]; /* the proposed cuts, the trends, the decays */
};

static double cost_of(const struct levels *l, const bool *with)
{
    double n = 0;
    for (size_t i = 0; i < l->noise.n_shapes; i++)
        n += with[i];
    return slow_noise_deviance(&l->noise, with) + EVIDENCE * n;
}

/* Takes out the cut, or two neighbours, without which the series costs least; returns that. A level
 * that comes back has two: where one of them alone goes, the other explains nothing. */
static double take_out(const struct levels *l, bool *with)
{
    double least = INFINITY;
    size_t from = 0, to = 0;

    for (size_t i = 0; i < l->n_cuts; i++) {
        if (!with[i])
            continue;
        with[i] = false;
        double cost = cost_of(l, with);
        if (cost < least) {
            least = cost;
            from = to = i;
        }
        size_t k = i + 1;
        while (k < l->n_cuts && !with[k])
            k++;
        if (k < l->n_cuts) {
            with[k] = false;
            cost = cost_of(l, with);
            if (cost < least) {
                least = cost;
                from = i;
                to = k;
            }
            with[k] = true;
        }
        with[i] = true;
    }
    with[from] = with[to] = false;
    return least;
}

/* Adds cuts to a choice without any, if that costs less. All are proposed, and then fewer and
 * fewer: whether one is sharper than noise shows when all else that is sharp is out of the noise.
 */
static void add_cuts(const struct levels *l, struct choice *x)
{
    struct choice tried = *x;

    memset(tried.with, true, l->n_cuts);
    for (tried.cost = cost_of(l, tried.with);; tried.cost = take_out(l, tried.with)) {
        if (tried.cost < x->cost)
            *x = tried;
        if (memchr(tried.with, true, l->n_cuts) == NULL)
            return;
    }
}

/* A step at cut k, as the series has it: a change may come within a point, which then lies between
 * the levels, and is none of its own. */
static void fill_step(const struct levels *l, size_t k, double *step)
{
    size_t cut = l->cuts[k];
    double before = level_of(l, k), change = level_of(l, k + 1) - before;

    for (size_t i = 0; i < l->n; i++)
        step[i] = i >= cut;
    for (size_t i = cut - 1; i <= cut; i++)
        step[i] = change != 0 ? fmin(fmax((l->x[i] - before) / change, 0), 1) : step[i];
}

/* The shapes that a series may have: the proposed cuts, a trend, which ends gets as logarithms,
 * and, where it is cut early, a beginning that decays. */
static void fill_shapes(struct levels *l, bool early, double ends[2])
{
    double lasts = (double)l->n / LONGEST_DECAY;
    size_t n = 0;

    for (; n < l->n_cuts; n++)
        fill_step(l, n, l->shapes[n]);
    fit_line(l, ends, l->shapes[n++]);
    for (size_t i = 0; i < l->n; i++)
        l->shapes[n][i] = exp((double)i * GROWTH / (double)l->n);
    n++;
    for (size_t k = 0; early && k < N_DECAYS; k++, n++, lasts /= DECAY_STEP)
        for (size_t i = 0; i < l->n; i++)
            l->shapes[n][i] = exp(-(double)i / lasts);
    slow_noise_init(&l->noise, l->x, l->n, (double)l->width_ns / 1e9, l->shapes, n);
}

static bool say_drift(struct levels *l, const double ends[2], struct err *e)
{
    double ratio = exp(ends[1] - ends[0]);
    double lost = ratio < 1 ? (1 - ratio) / 2 : (1 - 1 / ratio) / 2;
    struct finding f = finding_of("drift", FINDING_PROBLEM, lost);

    f.ratio = ratio;
    finding_figure(&f, "start_per_s", exp(ends[0]));
    finding_figure(&f, "end_per_s", exp(ends[1]));
    return findings_add(
        l->s->out, &f, e,
        "Throughput %s steadily over the run, by %.0f %% from start to end: its mean "
        "depends on how long the run is",
        ratio < 1 ? "fell" : "rose", 100 * fabs(ratio - 1));
}

/* How far off the moment of a change may be, in 95 of 100 cases: 11 variances / change^2 (Bai,
 * "Estimation of a change point in multiple regression models", 1997). */
static int64_t within_ns(const struct levels *l, double change)
{
    double points = fmin(11 * l->lrv / (change * change), (double)l->n / 8);
    return (int64_t)(points * (double)l->width_ns);
}

static bool say_warm_up(struct levels *l, double before, double after, int64_t end_ns,
                        struct err *e)
{
    const struct course *c = l->s->c;
    double ratio = exp(before - after), share = search_frac(l->s, end_ns - c->start_ns);
    double lost = share * fabs(1 - ratio);
    struct finding f = finding_of("warm-up", lost >= WARM_UP_PROBLEM, lost);

    finding_set_times(&f, c->start_ns, end_ns);
    f.within_ns = within_ns(l, after - before);
    f.ratio = ratio;
    finding_figure(&f, "before_per_s", exp(before));
    finding_figure(&f, "after_per_s", exp(after));
    return findings_add(
        l->s->out, &f, e,
        "The first %s ran at %.0f %% of the later speed (warm-up; --steady leaves it "
        "out)",
        units_duration(end_ns - c->start_ns).s, 100 * ratio);
}

static bool say_step(struct levels *l, double before, double after, int64_t at_ns, int64_t until_ns,
                     struct err *e)
{
    const struct course *c = l->s->c;
    double ratio = exp(after - before);
    bool stays = until_ns == INT64_MAX;
    double share = search_frac(l->s, (stays ? c->end_ns : until_ns) - at_ns);
    double lost =
        ratio < 1 ? (1 - ratio) * share : (1 - 1 / ratio) * search_frac(l->s, at_ns - c->start_ns);
    bool problem = fabs(after - before) >= -log(1 - PROBLEM_CHANGE) &&
                   lost >= (stays ? STAYING_LOST_FRAC : PROBLEM_LOST_FRAC);
    struct finding f = finding_of(ratio < 1 ? "drop" : "rise", problem, lost);

    f.has_start = true;
    f.start_ns = at_ns;
    f.within_ns = within_ns(l, after - before);
    f.has_end = !stays;
    f.end_ns = stays ? 0 : until_ns;
    f.ratio = ratio;
    finding_figure(&f, "before_per_s", exp(before));
    finding_figure(&f, "after_per_s", exp(after));
    /* It does not stay where another change comes, which has a finding of its own. */
    bool is_last = l->n_cuts == 0 || at_ns >= l->at_ns[l->cuts[l->n_cuts - 1]];
    if (stays)
        return findings_add(l->s->out, &f, e, "Throughput %s by %.0f %% at %s%s",
                            ratio < 1 ? "fell" : "rose", 100 * fabs(ratio - 1), find_clock(at_ns).s,
                            is_last ? " and stayed there" : "");
    return findings_add(l->s->out, &f, e, "Throughput %s by %.0f %% from %s to %s",
                        ratio < 1 ? "fell" : "rose", 100 * fabs(ratio - 1), find_clock(at_ns).s,
                        find_clock(until_ns).s);
}

/* How many of the first cuts are steps of one way up (or down) from the beginning. What is as fast
 * later as at the beginning was interrupted. */
static size_t count_early_cuts(const struct levels *l)
{
    double first = level_of(l, 0), change = level_of(l, 1) - first;
    bool up = change > 0;
    size_t n = 0;

    for (size_t k = 2; !up && k <= l->n_cuts; k++)
        if (fabs(level_of(l, k) - first) < -change / 3)
            return 0;

    while (n < l->n_cuts && (level_of(l, n) < level_of(l, n + 1)) == up &&
           search_frac(l->s, l->at_ns[l->cuts[n]] - l->s->c->start_ns) <=
               (up ? WARM_UP_FRAC : FAST_UP_FRAC))
        n++;
    return n;
}

/* Finds the times of a change that is taken back, and its level, in the bins of the course: the
 * points are as wide as short ones of them are long. The stretch is the most likely one (Poisson)
 * of the level, which is then that of the stretch. */
static void refine_visit(const struct levels *l, double before, double *after, int64_t *at_ns,
                         int64_t *until_ns)
{
    const struct course *c = l->s->c;
    size_t from = course_bin(c, *at_ns - VISIT_REACH * l->width_ns),
           to = course_bin(c, *until_ns + VISIT_REACH * l->width_ns);
    double usual = exp(before) * (double)c->bin_ns / 1e9, ratio = exp(*after - before);
    struct top_stretch top = {0};

    for (int i = 0; i < N_REFINEMENTS && ratio > 0; i++) {
        double n = 0;
        top = (struct top_stretch){0};
        for (size_t j = from; j <= to; j++)
            top_stretch_add(&top, j, c->ok[j] * log(ratio) + (1 - ratio) * usual);
        for (size_t j = top.first; top.most > 0 && j <= top.last; j++)
            n += c->ok[j];
        ratio = n / usual / (double)(top.last + 1 - top.first);
    }
    if (!(ratio > 0) || top.first == from || top.last == to)
        return;
    *after = before + log(ratio);
    *at_ns = course_bin_start_ns(c, top.first);
    *until_ns = course_bin_start_ns(c, top.last + 1);
}

static bool say_levels(struct levels *l, struct err *e)
{
    bool ok = true;
    size_t k = l->n_cuts > 0 ? count_early_cuts(l) : 0;

    if (k > 0)
        ok = say_warm_up(l, mean_of(l->x, 0, l->cuts[k - 1]), level_of(l, k),
                         l->at_ns[l->cuts[k - 1]], e);
    for (; ok && k < l->n_cuts; k++) {
        int64_t at_ns = l->at_ns[l->cuts[k]], until_ns = INT64_MAX;
        double before = level_of(l, k), after = level_of(l, k + 1);

        /* A change that is taken back is one finding with an end. */
        bool back =
            k + 1 < l->n_cuts && fabs(level_of(l, k + 2) - before) < fabs(after - before) / 3;
        if (back) {
            until_ns = l->at_ns[l->cuts[k + 1]];
            refine_visit(l, before, &after, &at_ns, &until_ns);
        }
        ok = say_step(l, before, after, at_ns, until_ns, e);
        k += back;
    }
    return ok;
}

/* Whether a level finding says something of the moment already. */
static bool is_said_near(const struct levels *l, int64_t at_ns)
{
    for (size_t i = 0; i < l->n_cuts; i++)
        if (llabs(l->at_ns[l->cuts[i]] - at_ns) < 4 * l->width_ns)
            return true;
    return false;
}

/* What a burst of errors does to the successful requests. The moment is given, not searched for, so
 * that a smaller difference counts. */
static bool say_effect_of_errors(struct levels *l, int64_t at_ns, struct err *e)
{
    size_t at = 0, reach = l->n / 3;
    while (at < l->n && l->at_ns[at] + l->width_ns / 2 < at_ns)
        at++;
    if (at < MIN_POINTS / 2 || l->n - at < MIN_POINTS / 2 || is_said_near(l, at_ns))
        return true;
    size_t from = at > reach ? at - reach : 0, to = at + reach < l->n ? at + reach : l->n;
    double before = mean_of(l->x, from, at), after = mean_of(l->x, at, to), off[MAX_POINTS];
    for (size_t i = from; i < to; i++)
        off[i - from] = l->x[i] - (i < at ? before : after);
    struct stats_bse bse;
    if (!stats_bse(off, to - from, &bse, e))
        return false;
    double lrv = fmax(bse.lrv, l->least_variance);
    double z2 = (after - before) * (after - before) /
                (lrv * (1 / (double)(at - from) + 1 / (double)(to - at)));
    if (z2 < GIVEN_PENALTY || fabs(after - before) < -log(1 - LEAST_CHANGE))
        return true;
    return say_step(l, before, after, at_ns, INT64_MAX, e);
}

static bool say_effects_of_errors(struct levels *l, struct err *e)
{
    size_t n = l->s->out->n;
    bool ok = true;

    for (size_t i = 0; ok && i < n; i++) {
        const struct finding *f = &l->s->out->v[i];
        if (f->kind->is_cut && f->has_start && !f->has_end && f->severity == FINDING_PROBLEM)
            ok = say_effect_of_errors(l, f->start_ns, e);
    }
    return ok;
}

/* What is left of the throughput when its levels are told, or its trend. */
struct told {
    const struct levels *l;
    bool drifts;
    double ends[2]; /* of the trend: logs of the rate */
};

static double expected_rate(const void *told, int64_t at_ns)
{
    const struct told *x = told;
    const struct levels *l = x->l;
    size_t k = 0;

    if (x->drifts) {
        double into = (double)(at_ns - l->at_ns[0]) /
                      (double)(l->at_ns[l->n - 1] + l->width_ns - l->at_ns[0]);
        into = fmin(fmax(into, 0), 1);
        return -log(exp(-x->ends[0]) * (1 - into) + exp(-x->ends[1]) * into);
    }
    while (k < l->n_cuts && l->at_ns[l->cuts[k]] <= at_ns)
        k++;
    return level_of(l, k);
}

/* Cuts the series into levels, or finds its trend, where slow noise explains neither. */
static bool fit_course(struct levels *l, struct told *told, struct err *e)
{
    size_t least = l->n / 24 > 4 ? l->n / 24 : 4;

    told->l = l;
    l->lrv = variance_of_batches(l);
    if (!propose_cuts(l, least, PENALTY * l->lrv, e))
        return false;
    size_t trend = l->n_cuts, n_kept = 0;
    size_t n_early = l->n_cuts > 0 ? count_early_cuts(l) : 0;
    fill_shapes(l, n_early > 0, told->ends);
    bool evident = fabs(told->ends[1] - told->ends[0]) >= -log(1 - PROBLEM_CHANGE);
    struct choice best = {.cost = INFINITY};
    for (size_t shape = trend; shape <= l->noise.n_shapes; shape++) {
        struct choice x = {.cost = INFINITY};
        if (shape < l->noise.n_shapes) /* the last time there are nothing but cuts */
            x.with[shape] = true;
        if (shape >= trend + N_TRENDS)
            add_cuts(l, &x);
        else if (evident)
            x.cost = cost_of(l, x.with);
        if (x.cost < best.cost)
            best = x;
    }
    told->drifts = memchr(best.with + trend, true, N_TRENDS) != NULL;
    /* The levels of a decay come one soon after the other: no noise is told from them. */
    bool decays = memchr(best.with + trend + N_TRENDS, true, N_DECAYS) != NULL;
    for (size_t k = 0; k < l->n_cuts; k++)
        if (best.with[k] || (decays && k < n_early))
            l->cuts[n_kept++] = l->cuts[k];
    l->n_cuts = n_kept;
    drop_small_cuts(l);
    return true;
}

/* Levels or a trend, what errors do to them, and the swings about them. */
static bool say_course(struct levels *l, struct err *e)
{
    struct told told;
    bool swings;

    if (!fit_course(l, &told, e))
        return false;
    if (told.drifts ? !say_drift(l, told.ends, e) : !say_levels(l, e))
        return false;
    return say_effects_of_errors(l, e) && swings_find(l->s, NULL, expected_rate, &told, &swings, e);
}

/* ---- Durations ---- */

/* The course of durations (in an open loop since requests were due) as that of a rate: what takes
 * twice as long is half as fast. */
static bool fill_speeds(struct levels *l, struct err *e)
{
    const struct course *c = l->s->c;
    struct periods blocks = search_periods(c, (double)c->n_blocks);
    struct responses r;
    double n = 0;

    if (!search_responses(l->s, &r, e))
        return false;
    l->width_ns = c->block_ns;
    for (size_t b = 0; b < c->n_blocks && course_block_start_ns(c, b) < c->last_start_ns; b++) {
        if (r.n[b] == 0 || search_period_free_frac(l->s, blocks, b, UINT8_MAX) < FREE_FRAC)
            continue;
        l->at_ns[l->n] = course_block_start_ns(c, b);
        l->x[l->n++] = -log(r.ns[b]);
        n += r.n[b];
    }
    l->least_variance = fmax(r.sd * r.sd * (double)l->n / fmax(n, 1), LEAST_SPREAD);
    return true;
}

/* Of the successes that began in a time, with their wait in an open loop; 0: there are none. */
struct typical {
    double median_ns, mean_ns;
};

/* Of at most so many of them that it is sure. */
static bool typical_within(const struct course *c, int64_t from_ns, int64_t to_ns,
                           struct typical *out, struct err *e)
{
    size_t step = (size_t)c->n / TYPICAL_OF + 1, n = 0;
    double *v, sum = 0;

    if (!mem_new(&v, (size_t)c->n / step + c->n_ops, e))
        return false;
    for (size_t k = 0; c->has_requests && k < c->n_ops; k++) {
        const struct table *t = c->tables[k];
        for (size_t i = 0; i < t->n; i += step) {
            if (t->start[i] < from_ns || t->start[i] >= to_ns || table_failed(t, i))
                continue;
            v[n] = (double)packed_get(&t->dur, i) +
                   (packed_has(&t->late, i) ? (double)packed_get(&t->late, i) : 0);
            sum += v[n++];
        }
    }
    *out = n > 0 ? (struct typical){stats_select(v, n, (n - 1) / 2), sum / (double)n}
                 : (struct typical){0};
    free(v);
    return true;
}

/* The mean of a series over the points in [from_ns, to_ns); NAN: it has none. */
static double mean_within(const struct levels *l, int64_t from_ns, int64_t to_ns)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < l->n; i++)
        if (l->at_ns[i] >= from_ns && l->at_ns[i] < to_ns) {
            sum += l->x[i];
            n++;
        }
    return n > 0 ? sum / n : NAN;
}

/* A change of the level of durations, from the time [from_ns, until_ns) to [at_ns, to_ns). */
struct slowing {
    const char *kind;
    int64_t from_ns, until_ns, at_ns, to_ns;
    double change; /* of their logarithm */
    bool stays;
};

static bool is_said(const struct search *s, const char *kind)
{
    for (size_t i = 0; i < s->out->n; i++)
        if (strcmp(s->out->v[i].kind->name, kind) == 0)
            return true;
    return false;
}

/* Whether something that is said already makes the durations change: then they are no news. */
static bool is_explained(const struct levels *l, const struct slowing *x)
{
    static const char causes[] =
        "stall pauses errors slow-host slow-client slow-op absent-client backlog no-success";

    if (strcmp(x->kind, "slow-op") != 0)
        return is_said(l->s, x->kind);
    for (size_t i = 0; i < l->s->out->n; i++) {
        const struct finding *f = &l->s->out->v[i];
        int64_t near_ns = int64_max(4 * l->width_ns, within_ns(l, x->change));
        bool begins = f->has_start && llabs(f->start_ns - x->at_ns) <= near_ns;
        bool ends = f->has_end && llabs(f->end_ns - x->at_ns) <= near_ns;

        if ((begins || ends) && strstr(causes, f->kind->name) != NULL)
            return true;
    }
    return false;
}

/* Whether throughput tells the change of durations: in a closed loop that does nothing but wait for
 * answers as many requests are under way as before. */
static bool throughput_tells(const struct levels *rates, const struct slowing *x,
                             const struct typical *before, const struct typical *after)
{
    double change = log(after->mean_ns / before->mean_ns);
    double under_way = change + mean_within(rates, x->at_ns, x->to_ns) -
                       mean_within(rates, x->from_ns, x->until_ns);

    return !rates->s->c->open_loop &&
           !(fabs(change) >= log(LEAST_SLOWING) && under_way / change >= LEAST_UNDER_WAY &&
             under_way / change <= MOST_UNDER_WAY); /* NAN: no */
}

/* What is said of it, and its sentence. */
static bool add_slowing(struct levels *l, const struct slowing *x, const struct typical *before,
                        const struct typical *after, bool medians, struct err *e)
{
    const struct course *c = l->s->c;
    bool begins = strcmp(x->kind, "warm-up") == 0, drifts = strcmp(x->kind, "drift") == 0;
    double ratio = after->median_ns / before->median_ns;
    double slowed = 1 - fmin(ratio, 1 / ratio),
           frac_before = search_frac(l->s, x->until_ns - x->from_ns);
    double lost = slowed * (drifts                ? .5
                            : begins || ratio < 1 ? frac_before
                                                  : search_frac(l->s, x->to_ns - x->at_ns));
    bool problem = fabs(x->change) >= log(PROBLEM_SLOWING) &&
                   lost >= (begins ? WARM_UP_PROBLEM : PROBLEM_LOST_FRAC);
    struct finding f = finding_of(x->kind, problem, lost);

    f.op = c->n_ops == 1 ? c->ops[0].name : NULL;
    f.ratio = ratio;
    finding_figure(&f, "before_ns", before->median_ns);
    finding_figure(&f, "after_ns", after->median_ns);
    struct units_text was = units_duration((int64_t)before->median_ns),
                      is = units_duration((int64_t)after->median_ns);
    const char *what = f.op != NULL ? f.op : "All operations",
               *figure = medians ? "median" : "mean";
    const char *of = c->open_loop && medians ? "response time" : "duration";
    if (drifts)
        return findings_add(l->s->out, &f, e, "%s: %s %s %s steadily over the run, %s -> %s", what,
                            figure, of, ratio > 1 ? "rose" : "fell", was.s, is.s);
    f.within_ns = within_ns(l, x->change);
    if (begins) {
        finding_set_times(&f, x->from_ns, x->until_ns);
        return findings_add(l->s->out, &f, e,
                            "%s: %s %s %s in the first %s, %s later (warm-up; --steady leaves it "
                            "out)",
                            what, figure, of, was.s, units_duration(x->until_ns - x->from_ns).s,
                            is.s);
    }
    f.has_start = true;
    f.start_ns = x->at_ns;
    f.has_end = !x->stays;
    f.end_ns = x->stays ? 0 : x->to_ns;
    return findings_add(l->s->out, &f, e, "%s: %s %s %s -> %s from %s %s%s", what, figure, of,
                        was.s, is.s, find_clock(x->at_ns).s, x->stays ? "on" : "to ",
                        x->stays ? "" : find_clock(x->to_ns).s);
}

/* Says it where it is news. */
static bool say_slowing(struct levels *l, const struct levels *rates, const struct slowing *x,
                        struct err *e)
{
    const struct course *c = l->s->c;
    struct typical before, after;

    if (fabs(x->change) < log(LEAST_SLOWING) || is_explained(l, x))
        return true;
    if (!typical_within(c, x->from_ns, x->until_ns, &before, e) ||
        !typical_within(c, x->at_ns, x->to_ns, &after, e))
        return false;
    bool medians = before.median_ns > 0 && after.median_ns > 0;
    if (!medians) {
        before.median_ns = before.mean_ns = exp(-mean_within(l, x->from_ns, x->until_ns));
        after.median_ns = after.mean_ns = before.mean_ns * exp(x->change);
    }
    return throughput_tells(rates, x, &before, &after) ||
           add_slowing(l, x, &before, &after, medians, e);
}

/* A trend, from its first to its last tenth. */
static bool say_slowing_down(struct levels *l, const struct levels *rates, struct err *e)
{
    const struct course *c = l->s->c;
    size_t tenth = (l->n + 9) / 10;
    struct slowing x = {
        .kind = "drift",
        .from_ns = c->start_ns,
        .until_ns = l->at_ns[tenth],
        .at_ns = l->at_ns[l->n - tenth],
        .to_ns = c->end_ns,
        .change = mean_of(l->x, 0, tenth) - mean_of(l->x, l->n - tenth, l->n),
        .stays = true,
    };

    return say_slowing(l, rates, &x, e);
}

/* The change at cut k, until cut `until`, which may be the end. */
static struct slowing slowing_at(const struct levels *l, size_t k, size_t until)
{
    const struct course *c = l->s->c;
    int64_t at_ns = l->at_ns[l->cuts[k]];

    return (struct slowing){
        .kind = "slow-op",
        .from_ns = k > 0 ? l->at_ns[l->cuts[k - 1]] : c->start_ns,
        .until_ns = at_ns,
        .at_ns = at_ns,
        .to_ns = until < l->n_cuts ? l->at_ns[l->cuts[until]] : c->end_ns,
        .change = level_of(l, k) - mean_of(l->x, l->cuts[k], level_end(l, until)),
    };
}

/* Levels of durations. A level that is left and comes back is one finding, whatever is between. */
static bool say_slowings(struct levels *l, const struct levels *rates, struct err *e)
{
    size_t k = l->n_cuts > 0 ? count_early_cuts(l) : 0;
    bool ok = true;

    if (k > 0) {
        struct slowing x = slowing_at(l, k - 1, k);

        x.kind = "warm-up";
        x.from_ns = l->s->c->start_ns;
        x.change = mean_of(l->x, 0, l->cuts[k - 1]) - level_of(l, k);
        ok = say_slowing(l, rates, &x, e);
    }
    for (size_t next; ok && k < l->n_cuts; k = next) {
        double before = level_of(l, k), most = 0;
        size_t back = k + 1;

        next = k + 1;
        for (; back < l->n_cuts; back++) {
            most = fmax(most, fabs(level_of(l, back) - before));
            if (fabs(level_of(l, back + 1) - before) < most / 3)
                break;
        }
        bool stays = back >= l->n_cuts;
        if (!stays)
            next = back + 1;
        struct slowing x = slowing_at(l, k, stays ? k + 1 : back);
        x.stays = stays;
        ok = say_slowing(l, rates, &x, e);
    }
    return ok;
}

/* What durations do where throughput does not tell it. Swings of a closed loop it does tell. */
static bool say_durations(struct levels *l, const struct levels *rates, struct err *e)
{
    struct swings_of of = {l->x, l->at_ns, l->n, l->width_ns};
    bool open_loop = l->s->c->open_loop, swings = false;
    struct told told;

    if (open_loop && !swings_find(l->s, &of, NULL, NULL, &swings, e))
        return false;
    if (swings)
        return true;
    if (!fit_course(l, &told, e) ||
        !(told.drifts ? say_slowing_down(l, rates, e) : say_slowings(l, rates, e)))
        return false;
    return !open_loop || swings_find(l->s, &of, expected_rate, &told, &swings, e);
}

static bool is_overloaded(const struct search *s)
{
    for (size_t i = 0; i < s->out->n; i++)
        if (s->out->v[i].kind->is_overload)
            return true;
    return false;
}

bool find_levels(struct search *s, struct err *e)
{
    struct levels *rates, *speeds = NULL;
    bool ok = mem_cleared(&rates, 1, e) && mem_cleared(&speeds, 1, e), swings = false;

    /* The rate of an open loop is the one that was asked for, unless it falls behind. */
    bool shows_capacity = !s->c->open_loop || is_overloaded(s);

    if (ok) {
        rates->s = speeds->s = s;
        fill_points(rates);
    }
    if (ok && rates->n >= MIN_POINTS && s->c->n >= FINDING_LEAST_REQUESTS) {
        if (shows_capacity)
            ok = swings_find(s, NULL, NULL, NULL, &swings, e) && (swings || say_course(rates, e));
        if (s->c->cells != NULL && !swings && !is_overloaded(s))
            ok = ok && fill_speeds(speeds, e) &&
                 (speeds->n < MIN_POINTS || say_durations(speeds, rates, e));
    }
    free(rates);
    free(speeds);
    return ok;
}
