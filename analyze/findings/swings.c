/* Swings: throughput (or durations) that go back and forth around their levels or trend. Two
 * tests, which call at most 1 % of calm runs unsteady:
 *
 * Periodic swings: the run is folded at each of many periods, and the variance between the phases
 * of a cycle is compared with that between the cycles (an analysis of variance, as
 * Schwarzenberg-Czerny, "On the advantage of using analysis of variance for period search", 1989).
 * Noise that lasts for seconds is as large in both, so that it is not taken for a period.
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
#define LEAST_PERIOD_NS  1e9                  /* shorter swings cancel within every second */
#define PER_POINT        16                   /* requests, at least */
#define LEAST_THREADS    4                    /* enough for two halves that can be compared */
#define N_PHASES         6                    /* of a cycle */
#define FEW_PHASES       3                    /* of a cycle of fewer points than N_PHASES */
#define N_SLOTS          24                   /* of a cycle, for its range */
#define PHASE_SLOTS      (N_SLOTS / N_PHASES) /* in a sixth of a cycle */
#define LEAST_BINS       4                    /* of a cycle, to show its shape */
#define ALIAS_TIMES      2 /* the swing of the true period, as variance, over that of an alias */
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

/* Points of equal width: deviations of the throughput (and of that of two halves of the threads) or
 * of durations, as shares of what is expected. */
struct swings {
    struct search *s;
    bool of_durations;
    int64_t width_ns;
    size_t width;       /* bins of the course per point; of durations 1 */
    double shortest_ns; /* period that these bins show */
    size_t n;           /* points, including masked ones */
    bool is_free[MAX_POINTS];
    double all[MAX_POINTS], half[2][MAX_POINTS];
    double expected[MAX_POINTS]; /* of throughput: in proportion; of durations 1 */
    double usual;                /* mean of what is expected: requests a second, or ns */
    double variance;             /* of all */
    bool has_halves;
};

/* A period that was tried: its p-value, and the means of its phases. */
struct beat {
    double cycles, p;
    size_t n_phases;
    double phase[N_PHASES];
};

/* Returns the first bin of a point. One width is left out at the beginning, as threads may begin
 * one after the other. */
static size_t bin_of_point(const struct swings *w, size_t i)
{
    return (i + 1) * w->width;
}

/* Chooses points as narrow as possible; false: the run is too short. */
static bool choose_points(struct swings *w)
{
    const struct course *c = w->s->c;
    double least_ns = fmax(TYPICAL_TIMES * search_longest_ns(w->s, c->median_ns, OP_MATTERS),
                           P90_TIMES * search_longest_ns(w->s, c->p90_ns, OP_MATTERS));
    double run_ns = (double)(c->full_until_ns - c->start_ns);

    w->shortest_ns = fmax(fmax(least_ns, LEAST_PERIOD_NS), 2 * (double)c->bin_ns);
    least_ns = fmax(least_ns, LEAST_PERIOD_NS / N_PHASES);
    least_ns = fmax(least_ns, run_ns / MAX_POINTS);
    least_ns = fmax(least_ns, PER_POINT * run_ns / fmax((double)(c->n - c->n_failed), 1));
    if (!(run_ns / least_ns >= MIN_POINTS + 1))
        return false;
    w->width = (size_t)ceil(least_ns / (double)c->bin_ns);
    w->width_ns = (int64_t)w->width * c->bin_ns;
    size_t widths = course_bin(c, c->full_until_ns) / w->width;
    w->n = widths > 0 ? widths - 1 : 0;
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
    size_t n_free = 0;
    double sum = 0;

    if (!choose_points(w))
        return false;
    size_t width = w->width;
    w->has_halves = c->ok_half != NULL && c->n_threads >= LEAST_THREADS;
    for (size_t i = 0; i < w->n; i++) {
        size_t from = bin_of_point(w, i);
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
        int64_t at_ns = course_bin_start_ns(c, from + width / 2);
        w->expected[i] = expected != NULL ? exp(expected(levels, at_ns)) : 1;
        if (w->s->equal != NULL)
            w->expected[i] /= exp(w->s->equal->work[course_block(c, at_ns)]);
        n_free += w->is_free[i];
        sum += w->is_free[i] ? w->all[i] / ((double)w->width_ns / 1e9) : 0;
    }
    if (n_free < MIN_POINTS || 2 * n_free < w->n)
        return false;
    w->usual = sum / (double)n_free;
    deviate(w, w->expected, w->all);
    deviate(w, w->expected, w->half[0]);
    deviate(w, w->expected, w->half[1]);
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
    w->width = 1;
    w->n = (size_t)((of->at_ns[of->n - 1] - of->at_ns[0]) / of->width_ns) + 1;
    if (of->n < MIN_POINTS || w->n > MAX_POINTS)
        return false;
    for (size_t i = 0; i < of->n; i++) {
        size_t k = (size_t)((of->at_ns[i] - of->at_ns[0]) / of->width_ns);

        w->is_free[k] = true;
        w->expected[k] = 1;
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

    for (size_t c = 0; c < n_whole; c++) {
        double mean = 0;
        for (size_t k = 0; k < b->n_phases; k++) {
            double part = (double)(k + 1) / (double)b->n_phases;
            double end = ((double)c + part) * (double)w->n / b->cycles, n = 0;

            y[c][k] = 0;
            for (; (double)i + .5 < end && i < w->n; i++)
                if (w->is_free[i]) {
                    y[c][k] += w->all[i];
                    n++;
                }
            if (n == 0)
                return false;
            y[c][k] /= n;
            mean += y[c][k] / (double)b->n_phases;
        }
        for (size_t k = 0; k < b->n_phases; k++)
            y[c][k] -= mean;
    }
    return true;
}

/* Fills in the means of the phases; returns the p-value of their differences in calm noise. Noise
 * that is smooth within a cycle has two degrees of freedom there, a sine and a cosine; with more of
 * them the p-value would be lower. */
static double chance_of(double (*y)[N_PHASES], size_t n_cycles, struct beat *b)
{
    double between = 0, within = 0, n = (double)n_cycles;

    for (size_t k = 0; k < b->n_phases; k++) {
        b->phase[k] = 0;
        for (size_t c = 0; c < n_cycles; c++)
            b->phase[k] += y[c][k] / n;
        for (size_t c = 0; c < n_cycles; c++)
            within += (y[c][k] - b->phase[k]) * (y[c][k] - b->phase[k]);
        between += n * b->phase[k] * b->phase[k];
    }
    /* The tail of F with 2 and 2 (n - 1) degrees of freedom. */
    return within > 0 ? pow(1 + between / within, 1 - n) : 0;
}

/* Returns the period with the lowest p-value of all that the run can show. The p-value is
 * multiplied by the number of periods that were tried. */
static struct beat find_beat(const struct swings *w)
{
    double y[MAX_POINTS / FEW_PHASES + 1][N_PHASES];
    struct beat best = {.p = 1, .cycles = 1};
    size_t least = LEAST_CYCLES * STEPS_PER_CYCLE, most = w->n / FEW_PHASES * STEPS_PER_CYCLE;

    for (size_t step = least; step <= most; step++) {
        struct beat b = {.cycles = (double)step / STEPS_PER_CYCLE, .n_phases = N_PHASES};
        size_t n_whole = step / STEPS_PER_CYCLE;

        if (b.cycles * N_PHASES > (double)w->n)
            b.n_phases = FEW_PHASES;
        if (!fold(w, &b, y, n_whole))
            continue;
        b.p = chance_of(y, n_whole, &b);
        if (b.p < best.p)
            best = b;
    }
    best.p = fmin(best.p * (double)(most + 1 - least), 1);
    return best;
}

static double variance_of_phases(const struct beat *b)
{
    double sum = 0;
    for (size_t k = 0; k < b->n_phases; k++)
        sum += b->phase[k] * b->phase[k];
    return sum / (double)b->n_phases;
}

struct wave wave_fit(const double *t, const double *y, size_t n, double cycles)
{
    double count = (double)n, mean = 0, mean_c = 0, mean_s = 0, cc = 0, ss = 0, cs = 0, yc = 0,
           ys = 0, yy = 0;

    for (size_t i = 0; i < n; i++) {
        mean += y[i] / count;
        mean_c += cos(2 * M_PI * cycles * t[i]) / count;
        mean_s += sin(2 * M_PI * cycles * t[i]) / count;
    }
    for (size_t i = 0; i < n; i++) {
        double c = cos(2 * M_PI * cycles * t[i]) - mean_c,
               s = sin(2 * M_PI * cycles * t[i]) - mean_s;
        cc += c * c;
        ss += s * s;
        cs += c * s;
        yc += (y[i] - mean) * c;
        ys += (y[i] - mean) * s;
        yy += (y[i] - mean) * (y[i] - mean);
    }
    double det = cc * ss - cs * cs, a = 0, b = 0;
    if (det > 1e-6 * (cc + ss) * (cc + ss)) {
        a = (yc * ss - ys * cs) / det;
        b = (ys * cc - yc * cs) / det;
    } else if (ss > 0) { /* half a cycle a point: its cosine is 0 at each */
        b = ys / ss;
    }
    return (struct wave){cycles,      mean - a * mean_c - b * mean_s, a, b,
                         hypot(a, b), fmax(yy - a * yc - b * ys, 0)};
}

/* Returns the amplitude of the best sine with that number of cycles. A point is the mean over its
 * width, and so lower than the crest within it by the factor sin(x) / x. */
static double amplitude_of(const struct swings *w, double cycles)
{
    double t[MAX_POINTS], y[MAX_POINTS], x = M_PI * cycles / (double)w->n;
    size_t n = 0;

    for (size_t i = 0; i < w->n; i++)
        if (w->is_free[i]) {
            t[n] = ((double)i + .5) / (double)w->n;
            y[n++] = w->all[i];
        }
    return wave_fit(t, y, n, cycles).amplitude * x / sin(x);
}

/* A multiple of the period folds as well. It has hardly a first harmonic: divides it by the number
 * of the one that is largest. */
static void find_shortest(const struct swings *w, struct beat *b)
{
    double first = amplitude_of(w, b->cycles), largest = first, most = 1;

    for (double m = 2; 2 * m * b->cycles <= (double)w->n; m++) {
        double x = amplitude_of(w, m * b->cycles);
        if (x > largest) {
            largest = x;
            most = m;
        }
    }
    if (first < largest / 2)
        b->cycles *= most;
}

/* Folds the whole run, by bins if it has any: mean[k] becomes the mean deviation in slot k of a
 * cycle and the slots after it, `window` slots in all. False: a window is empty. */
static bool mean_cycle(const struct swings *w, double cycles, size_t n_slots, size_t window,
                       double *mean)
{
    double expected[N_SLOTS] = {0}, sum[N_SLOTS] = {0}, all_expected = 0, all = 0;

    for (size_t i = 0; i < w->n; i++)
        for (size_t j = 0; j < w->width && w->is_free[i]; j++) {
            double at = (double)(i * w->width + j) + .5;
            double cycle = cycles * at / (double)(w->n * w->width);
            double x = w->of_durations ? 1 + w->all[i] : w->s->c->ok[bin_of_point(w, i) + j];
            size_t k = (size_t)((cycle - floor(cycle)) * (double)n_slots);

            expected[k] += w->expected[i];
            sum[k] += x;
            all_expected += w->expected[i];
            all += x;
        }
    for (size_t k = 0; k < n_slots; k++) {
        double in_window = 0, expected_in_window = 0;

        for (size_t i = 0; i < window; i++) {
            in_window += sum[(k + i) % n_slots];
            expected_in_window += expected[(k + i) % n_slots];
        }
        if (expected_in_window <= 0 || all <= 0)
            return false;
        mean[k] = in_window / expected_in_window / (all / all_expected) - 1;
    }
    return true;
}

/* A period shorter than two points looks like a longer one, its alias: their frequencies add up to,
 * or differ by, a whole number per point. The bins of the course are narrower than points: they
 * show which of these periods is true. A cycle of few points gets its phases from them, too. */
static void find_true(const struct swings *w, struct beat *b)
{
    double n = (double)w->n, most = n * (double)w->width_ns / w->shortest_ns;
    struct beat told = *b;

    told.n_phases = N_PHASES;
    if (w->of_durations || !mean_cycle(w, told.cycles, N_PHASES, 1, told.phase))
        return;
    if (N_PHASES * b->cycles > n && N_PHASES * b->cycles <= n * (double)w->width)
        *b = told;
    double least = ALIAS_TIMES * variance_of_phases(&told);
    for (double k = 1; k * n - told.cycles <= most; k++)
        for (double sign = -1; sign <= 1; sign += 2) {
            struct beat x = told;

            x.cycles = k * n + sign * told.cycles;
            if (x.cycles > most || !mean_cycle(w, x.cycles, N_PHASES, 1, x.phase))
                continue;
            if (variance_of_phases(&x) > least) {
                least = variance_of_phases(&x);
                *b = x;
            }
        }
}

/* Returns the range of a periodic swing: the means of the lowest and of the highest sixth of a
 * cycle, wherever they begin. If a cycle has too few bins, returns the range of the best sine. */
static void range_of_beat(const struct swings *w, const struct beat *b, double *low, double *high)
{
    double mean[N_SLOTS];

    if (LEAST_BINS * b->cycles > (double)(w->n * w->width) ||
        !mean_cycle(w, b->cycles, N_SLOTS, PHASE_SLOTS, mean)) {
        *high = fmin(amplitude_of(w, b->cycles), 1);
        *low = -*high;
        return;
    }
    *low = *high = mean[0];
    for (size_t k = 1; k < N_SLOTS; k++) {
        *low = fmin(mean[k], *low);
        *high = fmax(mean[k], *high);
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

bool swings_say(struct search *s, bool of_durations, double least, double most, double period_ns,
                double p, struct err *e)
{
    double swing = 1 - least / most;
    struct finding f = finding_of("swings", period_ns > 0 && swing >= PROBLEM_BEAT,
                                  (most - least) / (most + least));

    f.ratio = 1 - swing;
    finding_figure(&f, of_durations ? "low_ns" : "low_per_s", least);
    finding_figure(&f, of_durations ? "high_ns" : "high_per_s", most);
    if (period_ns > 0) {
        f.period_ns = (int64_t)period_ns;
        finding_figure(&f, "period_ns", (double)f.period_ns);
        if (!isnan(p))
            finding_figure(&f, "p", p);
    }
    const char *every = period_ns > 0 ? "every " : "at no steady period";
    struct units_text period = period_ns > 0 ? units_duration(f.period_ns) : (struct units_text){0};
    if (of_durations)
        return findings_add(s->out, &f, e,
                            "Response time swings back and forth by %.0f %%, %s%s (%s to %s)",
                            100 * swing, every, period.s, units_duration((int64_t)least).s,
                            units_duration((int64_t)most).s);
    return findings_add(s->out, &f, e,
                        "Throughput swings back and forth by %.0f %%, %s%s (%s to %s requests/s)",
                        100 * swing, every, period.s, units_rate(least).s, units_rate(most).s);
}

static bool say(const struct swings *w, double low, double high, double cycles, double p,
                struct err *e)
{
    double period_ns = cycles > 0 ? (double)w->n * (double)w->width_ns / cycles : 0;

    return swings_say(w->s, w->of_durations, (1 + low) * w->usual, (1 + high) * w->usual, period_ns,
                      p, e);
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
    if (b.p <= CHANCE) {
        find_shortest(w, &b);
        find_true(w, &b);
    }
    range_of_beat(w, &b, &low, &high);
    double least = expected != NULL ? 0 : MOST_OF_VARIANCE * w->variance;
    if (b.p <= CHANCE && 1 - (1 + low) / (1 + high) >= LEAST_BEAT &&
        variance_of_phases(&b) >= least) {
        *found = true;
        ok = say(w, low, high, b.cycles, b.p, e);
        goto done;
    }
    if (expected == NULL)
        goto done;
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
