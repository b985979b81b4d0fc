/* Swings: throughput (or durations) that go back and forth around their levels or trend. Three
 * tests; the first and the last call at most 1 % of calm runs unsteady:
 *
 * Periodic swings: the run is folded at each of many periods, and the variance between the phases
 * of a cycle is compared with that between the cycles (an analysis of variance, as
 * Schwarzenberg-Czerny, "On the advantage of using analysis of variance for period search", 1989).
 * Noise that lasts for seconds is as large in both, so that it is not taken for a period.
 *
 * A slow wave, of one to four cycles: see struct wave.
 *
 * Swings without a period: independent threads swing apart, and have only the swing of the system
 * in common. The covariance between two halves of the threads is therefore the variance of that
 * common swing, without chance, whatever the distribution of durations. It counts if it is
 * significantly more than in a calm system. */
#include "analyze/findings/find.h"
#include "analyze/stats/stats.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>

#define MAX_POINTS       256
#define MIN_POINTS       24
#define TYPICAL_TIMES    10 /* median durations per point, so that requests in step cause no beat */
#define P90_TIMES        5
#define LEAST_PERIOD_NS  1e9 /* shorter swings cancel within every second */
#define PER_POINT        16  /* requests, at least */
#define LEAST_THREADS    4   /* enough for two halves that can be compared */
#define N_PHASES         6
#define MOST_THIRD       .2 /* third harmonic of a sine, as a share of the first; of steps it is 1/3 */
#define LEAST_CYCLES     3
#define STEPS_PER_CYCLE  8 /* steps per cycle of the number of cycles that is tried */
#define CHANCE           .01
#define CHANCE_Z         2.33 /* one-sided */
#define CALM_SD          .06  /* of the common swing, up to which a system is calm */
#define LEAST_SD         .015 /* of all points; what varies less has no swing that counts */
#define LEAST_SWING      .20  /* from its upper to its lower tenth */
#define LEAST_BEAT       .15  /* of a periodic swing */
#define PROBLEM_BEAT     .25
#define MOST_OF_VARIANCE .5
#define MOST_WAVES       4  /* cycles of a slow wave */
#define WAVE_STEPS       32 /* steps per cycle of the number of cycles that is tried */
#define LEAST_WAVE       .3 /* slow noise swings too */
#define WAVE_REST        .2 /* residual variance of the wave without chance, as a share */
#define WAVE_BETTER      .6 /* residual of the wave / residual of levels, at most */

/* Points of equal width: deviations of the throughput (and of that of two halves of the threads) or
 * of durations, as shares of what is expected. */
struct swings {
    struct search *s;
    bool of_durations;
    int64_t width_ns;
    size_t n; /* points, including masked ones */
    bool is_free[MAX_POINTS];
    double all[MAX_POINTS], half[2][MAX_POINTS];
    double usual;    /* mean of what is expected: requests a second, or ns */
    double variance; /* of all */
    bool has_halves;
};

/* A period that was tried: its p-value, the mean of its whole cycles, and the means of its phases
 * less that mean. */
struct beat {
    double cycles, p;
    double mean, phase[N_PHASES];
};

/* Chooses points as narrow as possible; false: the run is too short. */
static bool choose_points(struct swings *w, size_t *first_bin, size_t *width)
{
    const struct course *c = w->s->c;
    double least_ns = fmax(TYPICAL_TIMES * search_longest_ns(w->s, c->median_ns, OP_MATTERS),
                           P90_TIMES * search_longest_ns(w->s, c->p90_ns, OP_MATTERS));
    double run_ns = (double)(c->full_until_ns - c->start_ns);

    least_ns = fmax(least_ns, LEAST_PERIOD_NS / N_PHASES);
    least_ns = fmax(least_ns, run_ns / MAX_POINTS);
    least_ns = fmax(least_ns, PER_POINT * run_ns / fmax((double)(c->n - c->n_failed), 1));
    if (!(run_ns / least_ns >= MIN_POINTS + 1))
        return false;
    *width = (size_t)ceil(least_ns / (double)c->bin_ns);
    *first_bin = *width; /* threads may begin one after the other */
    size_t end = course_bin(c, c->full_until_ns);
    w->width_ns = (int64_t)*width * c->bin_ns;
    w->n = end > *first_bin ? (end - *first_bin) / *width : 0;
    return w->n >= MIN_POINTS;
}

static double variance_of(const struct swings *w, const double *v)
{
    double n = 0, sum = 0, squares = 0;
    for (size_t i = 0; i < w->n; i++)
        if (w->is_free[i]) {
            n++;
            sum += v[i];
            squares += v[i] * v[i];
        }
    return n > 0 ? fmax(squares / n - sum * sum / n / n, 0) : 0;
}

/* Turns counts into deviations from what is expected, as shares of it; `expected` is scaled to the
 * sum of the counts. */
static void deviate(const struct swings *w, const double *expected, double *counts)
{
    double sum = 0, all = 0;
    for (size_t i = 0; i < w->n; i++)
        if (w->is_free[i]) {
            sum += counts[i];
            all += expected[i];
        }
    for (size_t i = 0; i < w->n; i++)
        counts[i] = w->is_free[i] && sum > 0 ? counts[i] / (expected[i] * sum / all) - 1 : 0;
}

/* Fills the points from throughput. False: there are too few points, or they hardly vary. */
static bool fill_points(struct swings *w, swings_expected_fn *expected, const void *levels)
{
    const struct course *c = w->s->c;
    size_t first_bin, width, n_free = 0;
    double per_s[MAX_POINTS], sum = 0;

    if (!choose_points(w, &first_bin, &width))
        return false;
    w->has_halves = c->ok_half != NULL && c->n_threads >= LEAST_THREADS;
    for (size_t i = 0; i < w->n; i++) {
        size_t from = first_bin + i * width;
        double n_unmasked = 0;

        for (size_t j = from; j < from + width; j++) {
            if (w->s->masked[j] != 0)
                continue;
            n_unmasked++;
            w->all[i] += c->ok[j];
            w->half[0][i] += w->has_halves ? c->ok_half[j] : 0;
            w->half[1][i] += w->has_halves ? c->ok[j] - c->ok_half[j] : 0;
        }
        /* A point that is partly masked leads into a stall or out of it: its throughput is not
         * usual. */
        w->is_free[i] = n_unmasked == (double)width;
        per_s[i] =
            expected != NULL ? exp(expected(levels, course_bin_start_ns(c, from + width / 2))) : 1;
        n_free += w->is_free[i];
        sum += w->is_free[i] ? w->all[i] / ((double)w->width_ns / 1e9) : 0;
    }
    if (n_free < MIN_POINTS || 2 * n_free < w->n)
        return false;
    w->usual = sum / (double)n_free;
    deviate(w, per_s, w->all);
    deviate(w, per_s, w->half[0]);
    deviate(w, per_s, w->half[1]);
    w->variance = variance_of(w, w->all);
    return w->variance > LEAST_SD * LEAST_SD;
}

/* Fills the points from durations. False: there are too few points, or they hardly vary. */
static bool fill_durations(struct swings *w, const struct swings_of *of,
                           swings_expected_fn *expected, const void *levels)
{
    double expected_ns[MAX_POINTS] = {0}, sum = 0;

    w->of_durations = true;
    w->width_ns = of->width_ns;
    w->n = (size_t)((of->at_ns[of->n - 1] - of->at_ns[0]) / of->width_ns) + 1;
    if (of->n < MIN_POINTS || w->n > MAX_POINTS)
        return false;
    for (size_t i = 0; i < of->n; i++) {
        size_t k = (size_t)((of->at_ns[i] - of->at_ns[0]) / of->width_ns);

        w->is_free[k] = true;
        w->all[k] = exp(-of->x[i]);
        expected_ns[k] = expected != NULL ? exp(-expected(levels, of->at_ns[i])) : 1;
        sum += w->all[k];
    }
    w->usual = sum / (double)of->n;
    deviate(w, expected_ns, w->all);
    w->variance = variance_of(w, w->all);
    return w->variance > LEAST_SD * LEAST_SD;
}

/* ---- With a period ---- */

/* Folds the whole cycles: y[c][k] becomes the mean of phase k of cycle c, less the mean of the
 * cycle, so that slower changes do not count. False: a phase of a cycle is masked, or empty. */
static bool fold(const struct swings *w, struct beat *b, double (*y)[N_PHASES], size_t n_whole)
{
    size_t i = 0;

    b->mean = 0;
    for (size_t c = 0; c < n_whole; c++) {
        double mean = 0;
        for (size_t k = 0; k < N_PHASES; k++) {
            double end = ((double)c + (double)(k + 1) / N_PHASES) * (double)w->n / b->cycles;
            double n = 0;

            y[c][k] = 0;
            for (; (double)i + .5 < end && i < w->n; i++)
                if (w->is_free[i]) {
                    y[c][k] += w->all[i];
                    n++;
                }
            if (n == 0)
                return false;
            y[c][k] /= n;
            mean += y[c][k] / N_PHASES;
        }
        b->mean += mean / (double)n_whole;
        for (size_t k = 0; k < N_PHASES; k++)
            y[c][k] -= mean;
    }
    return true;
}

/* Fills in the means of the phases; returns the p-value of their differences in calm noise. Noise
 * that is smooth within a cycle has two degrees of freedom there, a sine and a cosine; with more of
 * them the p-value would be lower. */
static double chance_of(double (*y)[N_PHASES], size_t n_cycles, double *phase)
{
    double between = 0, within = 0, n = (double)n_cycles;

    for (size_t k = 0; k < N_PHASES; k++) {
        phase[k] = 0;
        for (size_t c = 0; c < n_cycles; c++)
            phase[k] += y[c][k] / n;
        for (size_t c = 0; c < n_cycles; c++)
            within += (y[c][k] - phase[k]) * (y[c][k] - phase[k]);
        between += n * phase[k] * phase[k];
    }
    /* The tail of F with 2 and 2 (n - 1) degrees of freedom. */
    return within > 0 ? pow(1 + between / within, 1 - n) : 0;
}

/* Returns the period with the lowest p-value of all that the run can show. The p-value is
 * multiplied by the number of periods that were tried. */
static struct beat find_beat(const struct swings *w)
{
    double y[MAX_POINTS / N_PHASES + 1][N_PHASES];
    struct beat best = {.p = 1};
    size_t least = LEAST_CYCLES * STEPS_PER_CYCLE, most = w->n / N_PHASES * STEPS_PER_CYCLE;

    for (size_t step = least; step <= most; step++) {
        struct beat b = {.cycles = (double)step / STEPS_PER_CYCLE};
        size_t n_whole = step / STEPS_PER_CYCLE;

        if (!fold(w, &b, y, n_whole))
            continue;
        b.p = chance_of(y, n_whole, b.phase);
        if (b.p < best.p)
            best = b;
    }
    best.p = fmin(best.p * (double)(most + 1 - least), 1);
    return best;
}

static double variance_of_phases(const struct beat *b)
{
    double sum = 0;
    for (size_t k = 0; k < N_PHASES; k++)
        sum += b->phase[k] * b->phase[k];
    return sum / N_PHASES;
}

static void range_of_phases(const struct beat *b, double *low, double *high)
{
    *low = *high = b->phase[0];
    for (size_t k = 1; k < N_PHASES; k++) {
        *low = fmin(b->phase[k], *low);
        *high = fmax(b->phase[k], *high);
    }
    *low += b->mean;
    *high += b->mean;
}

/* ---- A slow wave ---- */

/* A sine that is fitted, as one to four cycles are too few to compare with each other. It must
 * leave less of the variance than the best levels do, with one level for each half of a cycle. */
struct wave {
    double cycles, amplitude, mean;
    double rest; /* residual sum of squares */
};

/* Prefix sums over the free points, for the residuals of levels. */
struct sums {
    double n[MAX_POINTS + 1], y[MAX_POINTS + 1], squares[MAX_POINTS + 1];
};

static double rest_of_level(const struct sums *s, size_t first, size_t end)
{
    double n = s->n[end] - s->n[first], y = s->y[end] - s->y[first];
    return n > 0 ? fmax(s->squares[end] - s->squares[first] - y * y / n, 0) : 0;
}

/* Returns the residual sum of squares of the best levels with n_changes changes, found by adding
 * one change at a time (dynamic programming). */
static double rest_of_levels(const struct swings *w, const struct sums *s, size_t n_changes)
{
    double rest[MAX_POINTS + 1]; /* residual of the points before each */

    for (size_t end = 0; end <= w->n; end++)
        rest[end] = rest_of_level(s, 0, end);
    for (size_t k = 0; k < n_changes; k++)
        for (size_t end = w->n; end > 0; end--) /* the shorter ones still have a change less */
            for (size_t first = 1; first < end; first++)
                rest[end] = fmin(rest[end], rest[first] + rest_of_level(s, first, end));
    return rest[w->n];
}

/* Fits a mean and the best sine with that number of cycles, by least squares. */
static struct wave fit_wave(const struct swings *w, double cycles)
{
    double c[MAX_POINTS], s[MAX_POINTS], n = 0, mean = 0, mean_c = 0, mean_s = 0;
    double cc = 0, ss = 0, cs = 0, yc = 0, ys = 0, yy = 0;

    for (size_t i = 0; i < w->n; i++) {
        double angle = 2 * M_PI * cycles * ((double)i + .5) / (double)w->n;
        c[i] = cos(angle);
        s[i] = sin(angle);
        n += w->is_free[i];
        mean += w->is_free[i] ? w->all[i] : 0;
        mean_c += w->is_free[i] ? c[i] : 0;
        mean_s += w->is_free[i] ? s[i] : 0;
    }
    mean /= n;
    mean_c /= n;
    mean_s /= n;
    for (size_t i = 0; i < w->n; i++) {
        double y = w->all[i] - mean, a = c[i] - mean_c, b = s[i] - mean_s;
        if (!w->is_free[i])
            continue;
        cc += a * a;
        ss += b * b;
        cs += a * b;
        yc += y * a;
        ys += y * b;
        yy += y * y;
    }
    double det = cc * ss - cs * cs;
    if (det <= 1e-6 * cc * ss)
        return (struct wave){.rest = INFINITY};
    double a = (yc * ss - ys * cs) / det, b = (ys * cc - yc * cs) / det;
    return (struct wave){cycles, hypot(a, b), mean - a * mean_c - b * mean_s,
                         fmax(yy - a * yc - b * ys, 0)};
}

/* Returns the slow wave that throughput follows; no cycles: there is none. */
static struct wave find_wave(const struct swings *w)
{
    struct sums s = {{0}, {0}, {0}};
    struct wave best = {.rest = INFINITY}, none = {0};
    double squares[MAX_POINTS];
    size_t n_pairs = 0;

    for (size_t i = 0; i < w->n; i++) {
        double y = w->is_free[i] ? w->all[i] : 0;
        s.n[i + 1] = s.n[i] + w->is_free[i];
        s.y[i + 1] = s.y[i] + y;
        s.squares[i + 1] = s.squares[i] + y * y;
        if (i > 0 && w->is_free[i] && w->is_free[i - 1])
            squares[n_pairs++] = (y - w->all[i - 1]) * (y - w->all[i - 1]);
    }
    for (int step = WAVE_STEPS - WAVE_STEPS / 8; step <= MOST_WAVES * WAVE_STEPS; step++) {
        struct wave x = fit_wave(w, (double)step / WAVE_STEPS);
        if (x.rest < best.rest)
            best = x;
    }
    /* No fit explains chance: deduct it from all of them. */
    double chance = n_pairs > 0 ? s.n[w->n] * search_variance_of_differences(squares, n_pairs) : 0;
    double all = rest_of_level(&s, 0, w->n) - chance, rest = fmax(best.rest - chance, 0);
    double least = 1 - (1 + best.mean - best.amplitude) / (1 + best.mean + best.amplitude);
    if (all <= chance / 4 || rest > WAVE_REST * all || least < LEAST_WAVE ||
        best.amplitude >= 1 + best.mean)
        return none;
    double levels = rest_of_levels(w, &s, (size_t)fmax(2, round(2 * best.cycles)));
    return rest <= WAVE_BETTER * fmax(levels - chance, 0) ? best : none;
}

/* Returns the amplitude of the best sine with that number of cycles. A point is the mean over its
 * width, and so lower than the crest within it by the factor sin(x) / x. */
static double amplitude_of(const struct swings *w, double cycles)
{
    double x = M_PI * cycles / (double)w->n;
    return fit_wave(w, cycles).amplitude * x / sin(x);
}

/* Returns the range of a periodic swing. The mean of a phase, a sixth of a cycle, is right for a
 * swing by steps, but the crest of a sine is up to a fifth higher. */
static void range_of_beat(const struct swings *w, const struct beat *b, double *low, double *high)
{
    double first = amplitude_of(w, b->cycles);
    bool is_sine =
        6 * b->cycles >= (double)w->n || amplitude_of(w, 3 * b->cycles) <= MOST_THIRD * first;

    range_of_phases(b, low, high);
    if (is_sine && first < 1) {
        *low = -first;
        *high = first;
    }
}

/* ---- Without a period ---- */

/* Sets *variance to that of the swing that the two halves have in common, if it is significantly
 * more than in a calm system, else to 0. False: out of memory. */
static bool common_variance(const struct swings *w, double *variance, struct err *e)
{
    double products[MAX_POINTS], sum = 0;
    size_t n = 0;

    *variance = 0;
    if (!w->has_halves)
        return true;
    for (size_t i = 0; i < w->n; i++)
        if (w->is_free[i]) {
            products[n++] = w->half[0][i] * w->half[1][i];
            sum += products[n - 1];
        }
    struct stats_bse bse;
    if (!stats_bse(products, n, &bse, e))
        return false;
    if (sum / (double)n - CHANCE_Z * bse.se > CALM_SD * CALM_SD)
        *variance = sum / (double)n;
    return true;
}

/* Returns the upper and the lower tenth of the points, scaled down to the common swing. */
static void range_of_points(const struct swings *w, double common, double *low, double *high)
{
    double v[MAX_POINTS], scale = sqrt(fmin(common / w->variance, 1));
    size_t n = 0;

    for (size_t i = 0; i < w->n; i++)
        if (w->is_free[i])
            v[n++] = w->all[i];
    *low = scale * stats_select(v, n, n / 10);
    *high = scale * stats_select(v, n, n - 1 - n / 10);
}

/* ---- Findings ---- */

/* Reports a swing. cycles 0: at no steady period; p NAN: not known. */
static bool say(const struct swings *w, double low, double high, double cycles, double p,
                struct err *e)
{
    double swing = 1 - (1 + low) / (1 + high), lost = high / (1 + high);
    double least = (1 + low) * w->usual, most = (1 + high) * w->usual;
    bool problem = cycles > 0 && swing >= PROBLEM_BEAT;
    struct finding f = finding_of("swings", problem, lost);

    f.ratio = 1 - swing;
    finding_figure(&f, w->of_durations ? "low_ns" : "low_per_s", least);
    finding_figure(&f, w->of_durations ? "high_ns" : "high_per_s", most);
    if (cycles > 0) {
        f.period_ns = (int64_t)((double)w->n * (double)w->width_ns / cycles);
        finding_figure(&f, "period_ns", (double)f.period_ns);
        if (!isnan(p))
            finding_figure(&f, "p", p);
    }
    const char *every = cycles > 0 ? "every " : "at no steady period",
               *period = cycles > 0 ? units_duration(f.period_ns).s : "";
    if (w->of_durations)
        return findings_add(w->s->out, &f, e,
                            "Response time swings back and forth by %.0f %%, %s%s (%s to %s)",
                            100 * swing, every, period, units_duration((int64_t)least).s,
                            units_duration((int64_t)most).s);
    return findings_add(w->s->out, &f, e,
                        "Throughput swings back and forth by %.0f %%, %s%s (%s to %s requests/s)",
                        100 * swing, every, period, units_rate(least).s, units_rate(most).s);
}

bool swings_find(struct search *s, const struct swings_of *of, swings_expected_fn *expected,
                 const void *levels, bool *found, struct err *e)
{
    struct swings *w;
    double low, high, common;
    bool ok = true;

    *found = false;
    if (!mem_cleared(&w, 1, e))
        return false;
    w->s = s;
    if (of != NULL ? !fill_durations(w, of, expected, levels) : !fill_points(w, expected, levels))
        goto done;
    struct beat b = find_beat(w);
    range_of_beat(w, &b, &low, &high);
    double least = expected != NULL ? 0 : MOST_OF_VARIANCE * w->variance;
    if (b.p <= CHANCE && 1 - (1 + low) / (1 + high) >= LEAST_BEAT &&
        variance_of_phases(&b) >= least) {
        *found = true;
        ok = say(w, low, high, b.cycles, b.p, e);
        goto done;
    }
    if (expected == NULL) {
        struct wave x = find_wave(w);
        *found = x.cycles > 0;
        ok = !*found || say(w, x.mean - x.amplitude, x.mean + x.amplitude, x.cycles, NAN, e);
        goto done;
    }
    ok = common_variance(w, &common, e);
    if (!ok || common == 0)
        goto done;
    range_of_points(w, common, &low, &high);
    *found = 1 - (1 + low) / (1 + high) >= LEAST_SWING;
    ok = !*found || say(w, low, high, 0, NAN, e);
done:
    free(w);
    return ok;
}
