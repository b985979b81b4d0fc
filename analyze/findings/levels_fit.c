/* Fits levels or another shape to a time series.
 *
 * Least squares with a penalty per cut (stats_partition) propose cuts into levels. The penalty is
 * so low that they find every possible change, and also cuts in slow noise that a healthy run has,
 * too. Then those cuts, or that other shape, are kept that explain the series at the least cost
 * together with such noise (slow_noise.h): a sudden change, or one that keeps on, is no noise. */
#include "analyze/findings/levels_internal.h"
#include "analyze/stats/stats.h"
#include "libcommon/units.h"

#include <math.h>
#include <string.h>

#define N_BATCHES          32
#define FAST_START_FRAC    .10 /* of the run: a fast beginning up to here is a warm-up, too */
#define LONGEST_WARM_UP_NS (3600 * NS_PER_S) /* what lasts for hours is a level */
#define PENALTY            22.0 /* times the long-run variance: 4.7 standard errors a cut */
#define EVIDENCE           17.0 /* cost of a shape, in -2 log likelihood: bench-stats, slow noise */
#define MORE_EVIDENCE      13.0 /* of a ramp, a wave or a bell: many are tried */
#define MOST_WAVES         4    /* cycles of a slow wave: more are searched for by their period */
#define WAVE_STEPS         20   /* per cycle, of the number of cycles that are tried */
#define LEAST_SWING        (2 * LEVELS_PROBLEM_CHANGE) /* of a wave: slow noise swings, too */
#define RAMP_KNOTS         16       /* a ramp begins and ends at a sixteenth of the run */
#define BELL_STEPS         8        /* widths that are tried, up to an eighth of the run */
#define TAKEN_BACK         (1. / 3) /* of a change: what is left of it, at most */
#define LEAST_LEVEL        4        /* points */
#define DECAY_FRAC         .1       /* time constant of a decaying beginning, of the run */

static double standard_deviation(const struct levels *l)
{
    double mean = search_mean(l->x, 0, l->n), squares = 0;
    for (size_t i = 0; i < l->n; i++)
        squares += (l->x[i] - mean) * (l->x[i] - mean);
    return sqrt(squares / (double)l->n);
}

/* The long-run variance, by the median squared difference of neighbouring batches, so that steps do
 * not count. It misses noise that lasts longer than a batch. */
static double variance_of_batches(const struct levels *l)
{
    double d[N_BATCHES];
    size_t length = (l->n + N_BATCHES - 1) / N_BATCHES, n = 0;

    for (size_t i = 0; (i + 2) * length <= l->n; i++) {
        double a = search_mean(l->x, i * length, (i + 1) * length);
        double b = search_mean(l->x, (i + 1) * length, (i + 2) * length);

        d[n++] = (b - a) * (b - a);
    }
    double variance = pow(STATS_MAD_TO_SD, 2) * stats_sort_median(d, n);

    /* A difference has twice the variance of its parts. */
    return fmax(variance / 2 * (double)length, l->least_variance);
}

/* y = exp(sign * x), its sum, and the best of the shapes that were fitted to it. */
struct shapes {
    int sign;
    double y[LEVELS_POINTS], sum, gain, *fitted;
};

static void begin_shapes(const struct levels *l, int sign, double *fitted, struct shapes *to)
{
    *to = (struct shapes){.sign = sign, .fitted = fitted};
    for (size_t i = 0; i < l->n; i++) {
        to->y[i] = exp(sign * l->x[i]);
        to->sum += to->y[i];
    }
}

/* Fits y as a constant plus a multiple of g, by least squares; if that explains more than the best
 * so far, fills in x as fitted and returns true. */
static bool try_shape(const struct levels *l, const double *g, struct shapes *best)
{
    double n = (double)l->n, sum = 0, squares = 0, product = 0;

    for (size_t i = 0; i < l->n; i++) {
        sum += g[i];
        squares += g[i] * g[i];
        product += g[i] * best->y[i];
    }
    product -= sum * best->sum / n;
    squares -= sum * sum / n;
    if (!(product * product / squares > best->gain))
        return false;
    best->gain = product * product / squares;
    for (size_t i = 0; i < l->n; i++) {
        double y = best->sum / n + product / squares * (g[i] - sum / n);
        best->fitted[i] = best->sign * log(fmax(y, best->sum / n / 100));
    }
    return true;
}

/* Fits a straight line to the time that a request takes, between two of n_knots points: a steady
 * worsening. */
static void fit_ramp(struct levels *l, size_t n_knots, double *fitted)
{
    struct shapes best;
    double g[LEVELS_POINTS];

    begin_shapes(l, -1, fitted, &best);
    memcpy(fitted, l->x, sizeof l->x);
    for (size_t from = 0; from < n_knots; from++)
        for (size_t to = from + 1; to <= n_knots; to++) {
            size_t first = l->n * from / n_knots, end = l->n * to / n_knots;

            for (size_t i = 0; i < l->n; i++)
                g[i] = (double)(i < first ? first : i < end ? i : end);
            if (try_shape(l, g, &best)) {
                l->ramp_from = first;
                l->ramp_to = end;
            }
        }
}

/* Makes g the sine of a frequency, in radians a nanosecond, that fits y best, and returns what it
 * explains. */
static double fit_sine(const struct levels *l, const struct shapes *of, double frequency, double *g)
{
    double sine[LEVELS_POINTS], cosine[LEVELS_POINTS], sum_s = 0, sum_c = 0, n = (double)l->n;
    double ss = 0, cc = 0, sc = 0, ys = 0, yc = 0;

    for (size_t i = 0; i < l->n; i++) {
        sincos(frequency * (double)(l->at_ns[i] - l->at_ns[0]), &sine[i], &cosine[i]);
        sum_s += sine[i];
        sum_c += cosine[i];
    }
    for (size_t i = 0; i < l->n; i++) {
        double s = sine[i] - sum_s / n, c = cosine[i] - sum_c / n;

        ss += s * s;
        cc += c * c;
        sc += s * c;
        ys += s * of->y[i];
        yc += c * of->y[i];
    }
    double det = ss * cc - sc * sc, a = (ys * cc - yc * sc) / det, b = (yc * ss - ys * sc) / det;
    for (size_t i = 0; i < l->n; i++)
        g[i] = a * sine[i] + b * cosine[i];
    return a * ys + b * yc;
}

/* Fits a sine to the rate: a slow wave. */
static void fit_wave(struct levels *l, double *fitted)
{
    struct shapes best;
    double g[LEVELS_POINTS],
        most = 0, length = (double)(l->at_ns[l->n - 1] - l->at_ns[0]) + (double)l->width_ns;

    begin_shapes(l, 1, fitted, &best);
    for (int step = WAVE_STEPS - 1; step <= MOST_WAVES * WAVE_STEPS; step++) {
        double cycles = (double)step / WAVE_STEPS,
               gain = fit_sine(l, &best, 2 * M_PI * cycles / length, g);
        if (gain > most && try_shape(l, g, &best)) {
            most = gain;
            l->cycles = cycles;
        }
    }
}

/* Fits a bell to the time that a request takes: a dip that comes back. Two standard deviations
 * before and after its peak it begins and ends, within the run. */
static void fit_bell(struct levels *l, double *fitted)
{
    double n = (double)l->n, g[2 * LEVELS_POINTS];
    struct shapes best;

    begin_shapes(l, -1, fitted, &best);
    for (int width = 1; width <= BELL_STEPS; width++) {
        double sd = n / BELL_STEPS * width / BELL_STEPS;

        for (size_t i = 0; i < 2 * l->n; i++) {
            double z = ((double)i - n) / sd;
            g[i] = exp(-z * z / 2);
        }
        for (size_t mid = (size_t)(2 * sd); (double)mid <= n - 2 * sd; mid++)
            if (try_shape(l, g + l->n - mid, &best)) {
                l->bell_from = mid - (size_t)(2 * sd);
                l->bell_to = mid + (size_t)fmax(2 * sd, 1);
            }
    }
}

double levels_range(const double *v, size_t n, double *low)
{
    double most = v[0];

    *low = v[0];
    for (size_t i = 1; i < n; i++) {
        *low = fmin(*low, v[i]);
        most = fmax(most, v[i]);
    }
    return most - *low;
}

/* Return the level before cut k (n_cuts: after the last one), and the point at which it ends. */
static size_t end_of_level(const struct levels *l, size_t k)
{
    return k < l->n_cuts ? l->cuts[k] : l->n;
}

static double level(const struct levels *l, size_t k)
{
    return search_mean(l->x, k > 0 ? l->cuts[k - 1] : 0, end_of_level(l, k));
}

static void drop_cut(struct levels *l, size_t k)
{
    memmove(&l->cuts[k], &l->cuts[k + 1], (l->n_cuts - k - 1) * sizeof *l->cuts);
    l->n_cuts--;
}

static void fill_levels(struct levels *l)
{
    for (size_t k = 0, i = 0; k <= l->n_cuts; k++)
        for (double x = level(l, k); i < end_of_level(l, k); i++)
            l->fitted[i] = x;
}

/* Drops cuts with a change below LEVELS_LEAST_CHANGE, the smallest first. */
static void drop_small_cuts(struct levels *l)
{
    while (l->n_cuts > 0) {
        size_t smallest = 0;
        double least = INFINITY;

        for (size_t k = 0; k < l->n_cuts; k++) {
            double change = fabs(level(l, k + 1) - level(l, k));
            if (change < least) {
                least = change;
                smallest = k;
            }
        }
        if (least >= -log(1 - LEVELS_LEAST_CHANGE))
            return;
        drop_cut(l, smallest);
    }
}

/* Finds the best cuts for a penalty, which is doubled until at most LEVELS_MOST_CUTS are left. */
static bool propose_cuts(struct levels *l, size_t least, double penalty, struct err *e)
{
    double cost;
    if (!stats_partition(l->x, l->n, least, penalty, l->cuts, &l->n_cuts, &cost, e))
        return false;
    while (l->n_cuts > LEVELS_MOST_CUTS) {
        penalty *= 2;
        if (!stats_partition(l->x, l->n, least, penalty, l->cuts, &l->n_cuts, &cost, e))
            return false;
    }
    return true;
}

/* Shapes that explain a series without any cut; they follow the cuts. */
enum { LINE, RAMP, WAVE, BELL, N_WHOLE };

/* The shapes that explain the series, and what that costs. */
struct choice {
    double cost;
    bool with[SLOW_NOISE_SHAPES]; /* the proposed cuts, the whole shapes, the decays */
};

static double cost_of(const struct levels *l, const bool *with)
{
    double n = 0;
    for (size_t i = 0; i < l->noise.n_shapes; i++)
        n += with[i];
    return slow_noise_deviance(&l->noise, with) + EVIDENCE * n;
}

/* Removes the cut without which the cost is lowest; returns that cost. */
static double take_out(const struct levels *l, bool *with)
{
    double least = INFINITY;
    size_t worst = 0;

    for (size_t i = 0; i < l->n_cuts; i++) {
        if (!with[i])
            continue;
        with[i] = false;
        double cost = cost_of(l, with);
        with[i] = true;
        if (cost < least) {
            least = cost;
            worst = i;
        }
    }
    with[worst] = false;
    return least;
}

/* Adds cuts to a choice without any, if that costs less. Tries all cuts, then fewer and fewer: a
 * real step that is not among the cuts would make the noise look sharper, and hide another one. */
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

/* Fills in a step at cut k. The two points next to the cut have the part of the step that the
 * series has there: a change in the midst of a point is one step, not two. */
static void fill_step(const struct levels *l, size_t k, double *step)
{
    size_t cut = l->cuts[k];
    double before = level(l, k), change = level(l, k + 1) - before;

    for (size_t i = 0; i < l->n; i++)
        step[i] = i >= cut;
    for (size_t i = cut - 1; i <= cut; i++)
        step[i] = change != 0 ? fmin(fmax((l->x[i] - before) / change, 0), 1) : step[i];
}

/* Fills in the shapes to try, after the proposed cuts, and, if there are early cuts, a beginning
 * that decays. */
static void fill_shapes(struct levels *l, bool early)
{
    size_t n = 0;

    for (; n < l->n_cuts; n++)
        fill_step(l, n, l->shapes[n]);
    memcpy(l->shapes[n + LINE], l->fitted, sizeof l->fitted);
    fit_ramp(l, RAMP_KNOTS, l->shapes[n + RAMP]);
    fit_wave(l, l->shapes[n + WAVE]);
    fit_bell(l, l->shapes[n + BELL]);
    n += N_WHOLE;
    for (size_t i = 0; early && i < l->n; i++)
        l->shapes[n][i] = exp(-(double)i / DECAY_FRAC / (double)l->n);
    n += early;
    slow_noise_init(&l->noise, l->x, l->n, (double)l->width_ns / 1e9, l->shapes, n);
}

/* Returns how far level k is from level `base`, in the direction of the change to level base +
 * 1. */
static double level_away(const struct levels *l, size_t base, size_t k)
{
    double sign = level(l, base + 1) > level(l, base) ? 1 : -1;

    return sign * (level(l, k) - level(l, base));
}

/* Returns the level that takes back the change from level `base`, perhaps after other levels on its
 * side: it is within a third of the largest distance, and the next level is no nearer (the way back
 * may have steps). 0: none is. */
static size_t find_back(const struct levels *l, size_t base)
{
    double farthest = level_away(l, base, base + 1);

    for (size_t k = base + 2; k <= l->n_cuts; k++) {
        double away = level_away(l, base, k);
        bool goes_on = k < l->n_cuts && fabs(level_away(l, base, k + 1)) < away;

        if (fabs(away) < TAKEN_BACK * farthest && !goes_on)
            return k;
        if (away < 0)
            return 0;
        farthest = fmax(farthest, away);
    }
    return 0;
}

int64_t levels_within_ns(const struct levels *l, double change)
{
    double points = fmin(11 * l->lrv / (change * change), (double)l->n / 8);
    return (int64_t)(points * (double)l->width_ns);
}

/* Counts the first cuts that all lead up (or all down): the steps of a warm-up. It begins early;
 * one that rises step by step, each level shorter than the time before it, may last for half of the
 * run. Returns 0 if they lead down and a later level is as fast as the beginning, which was then
 * interrupted. */
static size_t count_early(const struct levels *l)
{
    double first = level(l, 0), change = level(l, 1) - first,
           run_ns = (double)(l->s->c->end_ns - l->s->c->start_ns), last_ns = 0;
    size_t n = 0;

    for (size_t k = 2; change < 0 && k <= l->n_cuts; k++)
        if (fabs(level(l, k) - first) < TAKEN_BACK * -change)
            return 0;
    for (; n < l->n_cuts && (level(l, n + 1) - level(l, n)) * change > 0; n++) {
        double at_ns = (double)(l->at_ns[l->cuts[n]] - l->s->c->start_ns);
        double most_ns = (change < 0 ? FAST_START_FRAC : WARM_UP_FRAC) * run_ns;

        if (change > 0 && at_ns <= 2 * last_ns + (double)l->width_ns)
            most_ns = run_ns / 2;
        if (at_ns > fmin(most_ns, LONGEST_WARM_UP_NS))
            break;
        last_ns = at_ns;
    }
    return n;
}

/* Fits levels, or another shape, as far as slow noise explains none. False: out of memory. */
static bool fit(struct levels *l, struct err *e)
{
    size_t least = l->n / (2 * LEVELS_MOST_CUTS);

    least = least > LEAST_LEVEL ? least : LEAST_LEVEL;
    l->lrv = variance_of_batches(l);
    if (!propose_cuts(l, least, PENALTY * l->lrv, e))
        return false;
    size_t whole = l->n_cuts, n_kept = 0, first = whole;
    double low;
    size_t n_early = l->n_cuts > 0 ? count_early(l) : 0;
    fit_ramp(l, 1, l->fitted);
    double trend = fabs(l->fitted[l->n - 1] - l->fitted[0]);
    /* A wave of a range has a quarter of it as its standard deviation, and may have no cuts. */
    if (l->n_cuts == 0 && trend < -log(1 - LEVELS_PROBLEM_CHANGE) &&
        standard_deviation(l) < -log(1 - LEAST_SWING) / 4) {
        fill_levels(l);
        return true;
    }
    fill_shapes(l, n_early > 0);
    struct choice best = {.cost = INFINITY};
    for (size_t shape = whole; shape <= l->noise.n_shapes; shape++) {
        struct choice x = {.cost = INFINITY};
        if (shape < l->noise.n_shapes) /* the last choice has nothing but cuts */
            x.with[shape] = true;
        if (shape >= whole + N_WHOLE)
            add_cuts(l, &x);
        else if (levels_range(l->shapes[shape], l->n, &low) >=
                 -log(1 - (shape == whole + WAVE ? LEAST_SWING : LEVELS_PROBLEM_CHANGE)))
            x.cost = cost_of(l, x.with) + (shape == whole + LINE ? 0 : MORE_EVIDENCE);
        if (x.cost < best.cost) {
            best = x;
            first = shape - whole;
        }
    }
    l->shape = first == LINE   ? LEVELS_TREND
               : first == RAMP ? LEVELS_RAMP
               : first == WAVE ? LEVELS_WAVE
               : first == BELL ? LEVELS_BELL
                               : LEVELS_CUTS;
    /* The levels of a decay follow each other closely: keep all of its cuts. */
    bool decays = best.with[whole + N_WHOLE];
    for (size_t k = 0; k < l->n_cuts; k++)
        if (best.with[k] || (decays && k < n_early))
            l->cuts[n_kept++] = l->cuts[k];
    l->n_cuts = n_kept;
    drop_small_cuts(l);
    if (l->shape == LEVELS_CUTS)
        fill_levels(l);
    else
        memcpy(l->fitted, l->shapes[whole + first], sizeof l->fitted);
    return true;
}

int64_t levels_at_ns(const struct levels *l, size_t point)
{
    return point < l->n ? l->at_ns[point] : l->s->c->end_ns;
}

/* Says a change whose levels are the means of their points. */
static bool say_means(struct levels *l, struct level_change x, level_say_fn *say, const void *how,
                      struct err *e)
{
    x.before = search_mean(l->x, x.from, x.at);
    x.after = search_mean(l->x, x.at, x.to);
    return say(l, &x, how, e);
}

/* Says a ramp. One that leads up at the beginning, and lasts for longer than the time before it, is
 * a warm-up. */
static bool say_ramp(struct levels *l, level_say_fn *say, const void *how, struct err *e)
{
    const struct level_change x = {CHANGE_RAMP,        0, l->ramp_from, l->n, l->fitted[0],
                                   l->fitted[l->n - 1]};

    if (x.after > x.before && l->ramp_to <= l->n / 2 && x.at <= l->ramp_to / 2 &&
        levels_at_ns(l, l->ramp_to) - l->s->c->start_ns <= LONGEST_WARM_UP_NS)
        return say_means(l, (struct level_change){CHANGE_AT_FIRST, 0, l->ramp_to, l->n, 0, 0}, say,
                         how, e);
    return say(l, &x, how, e);
}

bool levels_tell(struct levels *l, level_say_fn *say, const void *how, struct err *e)
{
    bool ok = true;

    if (l->n < LEVELS_LEAST_POINTS)
        return true;
    if (!fit(l, e))
        return false;
    size_t tenth = l->n / 10 + 1;
    struct level_change whole = {l->shape == LEVELS_TREND ? CHANGE_TREND : CHANGE_WAVE,
                                 0,
                                 tenth,
                                 l->n,
                                 search_mean(l->x, 0, tenth),
                                 search_mean(l->x, l->n - tenth, l->n)};
    struct level_change bell = {CHANGE_RETURNS, 0, l->bell_from, l->bell_to, l->fitted[0], 0};
    switch (l->shape) {
    case LEVELS_TREND:
    case LEVELS_WAVE:
        return say(l, &whole, how, e);
    case LEVELS_RAMP:
        return say_ramp(l, say, how, e);
    case LEVELS_BELL:
        bell.after = search_mean(l->x, bell.at, bell.to);
        return say(l, &bell, how, e);
    case LEVELS_CUTS:
        break;
    }
    size_t k = l->n_cuts > 0 ? count_early(l) : 0;
    if (k > 0)
        ok = say_means(l, (struct level_change){CHANGE_AT_FIRST, 0, l->cuts[k - 1], l->n, 0, 0},
                       say, how, e);
    /* A change that is taken back is one finding with an end. */
    while (ok && k < l->n_cuts) {
        size_t back = find_back(l, k);
        struct level_change x = {back > 0 ? CHANGE_RETURNS : CHANGE_STAYS,
                                 k > 0 ? l->cuts[k - 1] : 0,
                                 l->cuts[k],
                                 back > 0 ? l->cuts[back - 1] : end_of_level(l, k + 1),
                                 0,
                                 0};

        ok = say_means(l, x, say, how, e);
        k = back > 0 ? back : k + 1;
    }
    return ok;
}
