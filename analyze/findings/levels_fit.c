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
#define MEDIAN_OF_SQUARE   .455 /* of a standard normal; a difference has twice its variance */
#define PENALTY            22.0 /* times the long-run variance: 4.7 standard errors a cut */
#define FAST_START_FRAC    .10  /* of the run: a fast beginning up to here is a warm-up, too */
#define RAMP_FRAC          .50 /* of the run: a beginning that rises step by step may last so long */
#define LONGEST_WARM_UP_NS (3600 * NS_PER_S) /* what lasts for hours is a level */
#define EVIDENCE           15.0 /* cost of a shape, in -2 log likelihood: high, as many are tried */
#define MOST_WAVES         4    /* cycles of a slow wave: more are searched for by their period */
#define WAVE_STEPS         32   /* per cycle, of the number of cycles that is tried */
#define LEAST_SWING        .3   /* of a wave: slow noise swings, too */
#define BELL_STEPS         8    /* widths that are tried, up to an eighth of the run */
#define GROWTH_EXPONENT    2    /* of an exponential trend, at the end of the run */
#define LONGEST_DECAY      10   /* a decaying beginning has a tenth of the run as time constant, */
#define DECAY_STEP         2    /* or half of that */
#define N_DECAYS           2

double levels_mean(const double *x, size_t from, size_t to)
{
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += x[i];
    return sum / (double)(to - from);
}

static double standard_deviation(const struct levels *l)
{
    double mean = levels_mean(l->x, 0, l->n), squares = 0;
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
        double a = levels_mean(l->x, i * length, (i + 1) * length);
        double b = levels_mean(l->x, (i + 1) * length, (i + 2) * length);

        d[n++] = (b - a) * (b - a);
    }
    return fmax(stats_sort_median(d, n) / MEDIAN_OF_SQUARE / 2 * (double)length, l->least_variance);
}

/* Fits a straight line to the time that a request takes (1 / rate), by least squares: a steady
 * worsening. Fills in the logarithms of the fitted rate, and those at both ends of the run. */
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

/* Fits a sine to the rate, by least squares: a slow wave. Fills in the logarithms of the fit. */
static void fit_wave(struct levels *l, double *fitted)
{
    double n = (double)l->n, most = 0, mean = 0, rate[LEVELS_POINTS],
           length = (double)(l->at_ns[l->n - 1] - l->at_ns[0]) + (double)l->width_ns;

    for (size_t i = 0; i < l->n; i++) {
        rate[i] = exp(l->x[i]);
        mean += rate[i] / n;
    }
    for (int step = WAVE_STEPS - WAVE_STEPS / 8; step <= MOST_WAVES * WAVE_STEPS; step++) {
        double cycles = (double)step / WAVE_STEPS, c[LEVELS_POINTS], s[LEVELS_POINTS];
        double cc = 0, ss = 0, cs = 0, yc = 0, ys = 0, mean_c = 0, mean_s = 0;

        for (size_t i = 0; i < l->n; i++) {
            double t = (double)(l->at_ns[i] - l->at_ns[0]) + (double)l->width_ns / 2;
            c[i] = cos(2 * M_PI * cycles * t / length);
            s[i] = sin(2 * M_PI * cycles * t / length);
            mean_c += c[i] / n;
            mean_s += s[i] / n;
        }
        for (size_t i = 0; i < l->n; i++) {
            c[i] -= mean_c;
            s[i] -= mean_s;
            cc += c[i] * c[i];
            ss += s[i] * s[i];
            cs += c[i] * s[i];
            yc += rate[i] * c[i];
            ys += rate[i] * s[i];
        }
        double det = cc * ss - cs * cs, a = (yc * ss - ys * cs) / det,
               b = (ys * cc - yc * cs) / det, least = mean / 100;
        if (!(a * yc + b * ys > most))
            continue;
        most = a * yc + b * ys;
        l->cycles = cycles;
        double middle = mean - a * mean_c - b * mean_s;
        for (size_t i = 0; i < l->n; i++)
            fitted[i] = log(fmax(mean + a * c[i] + b * s[i], least));
        l->swing[0] = log(fmax(middle - hypot(a, b), least));
        l->swing[1] = log(middle + hypot(a, b));
    }
}

/* Fits a bell to the time that a request takes, by least squares: a dip that comes back. It begins
 * and ends within the run. Fills in the logarithms of the fitted rate. */
static void fit_bell(struct levels *l, double *fitted)
{
    double n = (double)l->n, most = 0, y[LEVELS_POINTS], g[2 * LEVELS_POINTS], mean = 0;

    for (size_t i = 0; i < l->n; i++)
        mean += exp(-l->x[i]) / n;
    for (size_t i = 0; i < l->n; i++)
        y[i] = exp(-l->x[i]) - mean;
    for (int width = 1; width <= BELL_STEPS; width++) {
        double sd = n / 8 * width / BELL_STEPS;

        for (size_t i = 0; i < 2 * l->n; i++) {
            double z = ((double)i - n) / sd;
            g[i] = exp(-z * z / 2);
        }
        for (size_t mid = (size_t)(2 * sd); (double)mid <= n - 2 * sd; mid++) {
            const double *bell = g + l->n - mid;
            double sum = 0, squares = 0, product = 0;

            for (size_t i = 0; i < l->n; i++) {
                sum += bell[i];
                squares += bell[i] * bell[i];
                product += bell[i] * y[i];
            }
            double height = product / (squares - sum * sum / n);
            if (height * product <= most)
                continue;
            double base = mean - height * sum / n, least = mean / 100;
            most = height * product;
            l->bell_from = mid - (size_t)(2 * sd);
            l->bell_to = mid + (size_t)(2 * sd);
            l->bell[0] = -log(fmax(base, least));
            l->bell[1] = -log(fmax(base + height, least));
            for (size_t i = 0; i < l->n; i++)
                fitted[i] = -log(fmax(base + height * bell[i], least));
        }
    }
}

/* Return the level before cut k (n_cuts: after the last one), and the point at which it ends. */
static size_t end_of_level(const struct levels *l, size_t k)
{
    return k < l->n_cuts ? l->cuts[k] : l->n;
}

static double level(const struct levels *l, size_t k)
{
    return levels_mean(l->x, k > 0 ? l->cuts[k - 1] : 0, end_of_level(l, k));
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
enum { LINE, GROWTH, WAVE, BELL, N_WHOLE };

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

/* Removes the cut, or the two neighbouring cuts, without which the cost is lowest; returns that
 * cost. A level that comes back has two cuts, and one of them alone explains nothing. */
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

/* Fills in the shapes to try, after the proposed cuts, and, if there are early cuts, beginnings
 * that decay. */
static void fill_shapes(struct levels *l, bool early)
{
    double lasts = (double)l->n / LONGEST_DECAY;
    size_t n = 0;

    for (; n < l->n_cuts; n++)
        fill_step(l, n, l->shapes[n]);
    memcpy(l->shapes[n + LINE], l->fitted, sizeof l->fitted);
    fit_wave(l, l->shapes[n + WAVE]);
    fit_bell(l, l->shapes[n + BELL]);
    for (size_t i = 0; i < l->n; i++)
        l->shapes[n + GROWTH][i] = exp((double)i * GROWTH_EXPONENT / (double)l->n);
    n += N_WHOLE;
    for (size_t k = 0; early && k < N_DECAYS; k++, n++, lasts /= DECAY_STEP)
        for (size_t i = 0; i < l->n; i++)
            l->shapes[n][i] = exp(-(double)i / lasts);
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

        if (fabs(away) < farthest / 3 && !goes_on)
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

/* Whether the rise at cut k belongs to a slow beginning. A smooth rise has several cuts, each level
 * shorter than the time before it; it may last longer than a beginning with one cut. */
static bool is_slow_start(const struct levels *l, size_t k)
{
    int64_t start_ns = l->s->c->start_ns, at_ns = l->at_ns[l->cuts[k]],
            last_ns = k > 0 ? l->at_ns[l->cuts[k - 1]] : start_ns;
    double into = search_frac(l->s, at_ns - start_ns);

    if (at_ns - start_ns > LONGEST_WARM_UP_NS)
        return false;
    return into <= WARM_UP_FRAC || (into <= RAMP_FRAC && at_ns - last_ns <= last_ns - start_ns);
}

/* Counts the first cuts that all lead up (or all down): the steps of a warm-up. Returns 0 if they
 * lead down and a later level is as fast as the beginning, which was then interrupted. */
static size_t count_early(const struct levels *l)
{
    double first = level(l, 0), change = level(l, 1) - first;
    bool up = change > 0;
    size_t n = 0;

    for (size_t k = 2; !up && k <= l->n_cuts; k++)
        if (fabs(level(l, k) - first) < -change / 3)
            return 0;

    while (n < l->n_cuts && (level(l, n) < level(l, n + 1)) == up &&
           (up ? is_slow_start(l, n)
               : search_frac(l->s, l->at_ns[l->cuts[n]] - l->s->c->start_ns) <= FAST_START_FRAC))
        n++;
    return n;
}

/* Fits levels, or another shape, as far as slow noise explains none. False: out of memory. */
static bool fit(struct levels *l, struct err *e)
{
    size_t least = l->n / 24 > 4 ? l->n / 24 : 4;

    l->lrv = variance_of_batches(l);
    if (!propose_cuts(l, least, PENALTY * l->lrv, e))
        return false;
    size_t whole = l->n_cuts, n_kept = 0, first = whole;
    size_t n_early = l->n_cuts > 0 ? count_early(l) : 0;
    fit_line(l, l->ends, l->fitted);
    /* A wave of a range has a quarter of it as its standard deviation, and may have no cuts. */
    if (l->n_cuts == 0 && fabs(l->ends[1] - l->ends[0]) < -log(1 - LEVELS_PROBLEM_CHANGE) &&
        standard_deviation(l) < -log(1 - LEAST_SWING) / 4) {
        fill_levels(l);
        return true;
    }
    fill_shapes(l, n_early > 0);
    double swings[N_WHOLE] = {l->ends[1] - l->ends[0], l->ends[1] - l->ends[0],
                              (l->swing[1] - l->swing[0]) * log(1 - LEVELS_PROBLEM_CHANGE) /
                                  log(1 - LEAST_SWING),
                              l->bell[1] - l->bell[0]};
    struct choice best = {.cost = INFINITY};
    for (size_t shape = whole; shape <= l->noise.n_shapes; shape++) {
        struct choice x = {.cost = INFINITY};
        if (shape < l->noise.n_shapes) /* the last choice has nothing but cuts */
            x.with[shape] = true;
        if (shape >= whole + N_WHOLE)
            add_cuts(l, &x);
        else if (fabs(swings[shape - whole]) >= -log(1 - LEVELS_PROBLEM_CHANGE))
            x.cost = cost_of(l, x.with) + (shape >= whole + WAVE ? EVIDENCE : 0);
        if (x.cost < best.cost) {
            best = x;
            first = shape - whole;
        }
    }
    l->shape = first <= GROWTH ? LEVELS_TREND
               : first == WAVE ? LEVELS_WAVE
               : first == BELL ? LEVELS_BELL
                               : LEVELS_CUTS;
    /* The levels of a decay follow each other closely: keep all of its cuts. */
    bool decays = memchr(best.with + whole + N_WHOLE, true, N_DECAYS) != NULL;
    for (size_t k = 0; k < l->n_cuts; k++)
        if (best.with[k] || (decays && k < n_early))
            l->cuts[n_kept++] = l->cuts[k];
    l->n_cuts = n_kept;
    drop_small_cuts(l);
    if (l->shape == LEVELS_CUTS)
        fill_levels(l);
    else
        memcpy(l->fitted, l->shapes[whole + (first == GROWTH ? LINE : first)], sizeof l->fitted);
    return true;
}

/* Counts the first points that are as what follows cut `end`, if chance does not explain that: then
 * the end of a change is no end of a warm-up. */
static size_t count_usual(const struct levels *l, size_t end)
{
    double early = levels_mean(l->x, 0, end), later = levels_mean(l->x, end, l->n), apart = 0;
    size_t n = 0;

    for (; n < end && fabs(l->x[n] - later) < fabs(l->x[n] - early); n++)
        apart += (l->x[n] - early) * (l->x[n] - early);
    return apart >= PENALTY * l->lrv ? n : 0;
}

int64_t levels_at_ns(const struct levels *l, size_t point)
{
    return point < l->n ? l->at_ns[point] : l->s->c->end_ns;
}

bool levels_tell(struct levels *l, level_say_fn *say, const void *how, struct err *e)
{
    bool ok = true;

    if (l->n < LEVELS_LEAST_POINTS)
        return true;
    if (!fit(l, e))
        return false;
    if (l->shape == LEVELS_TREND || l->shape == LEVELS_WAVE) {
        size_t tenth = (l->n + 9) / 10;
        struct level_change x = {l->shape == LEVELS_TREND ? CHANGE_TREND : CHANGE_WAVE, 0, tenth,
                                 l->n};

        return say(l, &x, how, e);
    }
    if (l->shape == LEVELS_BELL)
        return say(l, &(struct level_change){CHANGE_RETURNS, 0, l->bell_from, l->bell_to}, how, e);
    size_t k = l->n_cuts > 0 ? count_early(l) : 0;
    size_t n_usual = k > 0 ? count_usual(l, l->cuts[k - 1]) : 0;
    if (k > 0 && n_usual == 0)
        ok = say(l, &(struct level_change){CHANGE_AT_FIRST, 0, l->cuts[k - 1], l->n}, how, e);
    else if (k > 0)
        ok = say(l, &(struct level_change){CHANGE_RETURNS, 0, n_usual, l->cuts[k - 1]}, how, e);
    /* A change that is taken back is one finding with an end. */
    while (ok && k < l->n_cuts) {
        size_t back = find_back(l, k);
        struct level_change x = {back > 0 ? CHANGE_RETURNS : CHANGE_STAYS,
                                 k > 0 ? l->cuts[k - 1] : 0, l->cuts[k],
                                 back > 0 ? l->cuts[back - 1] : end_of_level(l, k + 1)};

        ok = say(l, &x, how, e);
        k = back > 0 ? back : k + 1;
    }
    return ok;
}
