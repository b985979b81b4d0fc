/* Swings: throughput that goes back and forth, with a period or without, about the levels (or the
 * trend) that it has. Two tests, each of which calls at most 1 % of the calm runs unsteady:
 *
 * With a period: the run is folded at each of many periods, and the means of the phases over the
 * cycles are compared with what the cycles differ among each other (an analysis of variance, as
 * Schwarzenberg-Czerny, "On the advantage of using analysis of variance for period search", 1989).
 * Noise that lasts for seconds is as large in both, so that it is not taken for a period.
 *
 * Without one: threads that are independent of each other swing apart, and what they have in common
 * is the system's. The covariance between two halves of the threads is therefore the variance of
 * the common swing, whatever the distribution of durations: chance is not in it. It counts where it
 * is surely more than a calm system has too. */
#include "analyze/findings/find.h"
#include "analyze/stats/stats.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>

#define MAX_POINTS       256
#define MIN_POINTS       24
#define TYPICAL_TIMES    10 /* typical durations in a point, so that requests in step do not beat */
#define P90_TIMES        5
#define LEAST_PERIOD_NS  1e9 /* a shorter swing is in every second alike */
#define PER_POINT        16  /* requests, at least */
#define LEAST_THREADS    4   /* of which two halves are told apart */
#define N_PHASES         6
#define LEAST_CYCLES     3
#define STEPS_PER_CYCLE  8 /* of the number of cycles that is tried */
#define CHANCE           .01
#define CHANCE_Z         2.33 /* one-sided */
#define CALM_SD          .06  /* of the throughput; a calm system may have it in common */
#define LEAST_SWING      .20  /* from its upper to its lower tenth */
#define LEAST_BEAT       .15  /* of one with a period */
#define PROBLEM_BEAT     .25
#define MOST_OF_VARIANCE .5

/* Points of equal width: deviations of the throughput, and of that of two halves of the threads, as
 * shares of what is expected. */
struct swings {
    struct search *s;
    int64_t width_ns;
    size_t n; /* points, those that are masked among them */
    bool is_free[MAX_POINTS];
    double all[MAX_POINTS], half[2][MAX_POINTS];
    double usual_per_s; /* mean of what is expected */
    double variance;    /* of all */
    bool has_halves;
};

/* A period that was tried: the means of its phases, and how often calm noise would have one. */
struct beat {
    double cycles, p;
    double phase[N_PHASES];
};

/* The grid: as fine as it may be; false: the run is too short. */
static bool choose_points(struct swings *w, size_t *first_bin, size_t *width)
{
    const struct course *c = w->s->c;
    double least_ns = fmax(TYPICAL_TIMES * search_longest_ns(w->s, c->median_ns, OP_MATTERS),
                           P90_TIMES * search_longest_ns(w->s, c->p90_ns, OP_MATTERS));
    double run_ns = (double)(c->last_start_ns - c->start_ns);

    least_ns = fmax(least_ns, LEAST_PERIOD_NS / N_PHASES);
    least_ns = fmax(least_ns, run_ns / MAX_POINTS);
    least_ns = fmax(least_ns, PER_POINT * run_ns / fmax((double)(c->n - c->n_failed), 1));
    if (!(run_ns / least_ns >= MIN_POINTS + 1))
        return false;
    *width = (size_t)ceil(least_ns / (double)c->bin_ns);
    *first_bin = *width; /* threads may begin one after the other */
    size_t end = course_bin(c, c->last_start_ns);
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

/* Counts become deviations: shares of what is expected, which has the sum of the counts. */
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

/* False: there are too few points. */
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
        /* What leads into a stall and out of it is no usual throughput. */
        w->is_free[i] = n_unmasked == (double)width;
        per_s[i] =
            expected != NULL ? exp(expected(levels, course_bin_start_ns(c, from + width / 2))) : 1;
        n_free += w->is_free[i];
        sum += w->is_free[i] ? w->all[i] / ((double)w->width_ns / 1e9) : 0;
    }
    if (n_free < MIN_POINTS || 2 * n_free < w->n)
        return false;
    w->usual_per_s = sum / (double)n_free;
    deviate(w, per_s, w->all);
    deviate(w, per_s, w->half[0]);
    deviate(w, per_s, w->half[1]);
    w->variance = variance_of(w, w->all);
    return w->variance > 0;
}

/* ---- With a period ---- */

/* Folds the whole cycles, each phase of a cycle one mean, less the mean of its cycle, so that what
 * is slower than a cycle is not in it. False: a phase of a cycle is masked, or empty. */
static bool fold(const struct swings *w, double cycles, double (*y)[N_PHASES], size_t n_whole)
{
    size_t i = 0;

    for (size_t c = 0; c < n_whole; c++) {
        double mean = 0;
        for (size_t k = 0; k < N_PHASES; k++) {
            double end = ((double)c + (double)(k + 1) / N_PHASES) * (double)w->n / cycles;
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
        for (size_t k = 0; k < N_PHASES; k++)
            y[c][k] -= mean;
    }
    return true;
}

/* How often calm noise gives the phases means that differ so much: noise that is smooth within a
 * cycle has two degrees of freedom in it, a sine and a cosine, and more make it rarer. */
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

/* The period that calm noise has most rarely, of all that the run can show. */
static struct beat find_beat(const struct swings *w)
{
    double y[MAX_POINTS / N_PHASES + 1][N_PHASES];
    struct beat best = {.p = 1};
    size_t least = LEAST_CYCLES * STEPS_PER_CYCLE, most = w->n / N_PHASES * STEPS_PER_CYCLE;

    for (size_t step = least; step <= most; step++) {
        struct beat b = {.cycles = (double)step / STEPS_PER_CYCLE};
        size_t n_whole = step / STEPS_PER_CYCLE;

        if (!fold(w, b.cycles, y, n_whole))
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
}

/* ---- Without ---- */

/* The variance of the swing that the two halves have in common, where it is surely more than that
 * of a calm system; else 0. */
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

/* The upper and the lower tenth of the points, without the noise that they have beside the common
 * swing. */
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

static bool say(const struct swings *w, double low, double high, const struct beat *b,
                struct err *e)
{
    double swing = 1 - (1 + low) / (1 + high), lost = high / (1 + high);
    bool problem = b != NULL && swing >= PROBLEM_BEAT;
    struct finding f = finding_of("swings", problem, lost);

    f.ratio = 1 - swing;
    finding_figure(&f, "low_per_s", (1 + low) * w->usual_per_s);
    finding_figure(&f, "high_per_s", (1 + high) * w->usual_per_s);
    if (b != NULL) {
        f.period_ns = (int64_t)((double)w->n * (double)w->width_ns / b->cycles);
        finding_figure(&f, "period_ns", (double)f.period_ns);
        finding_figure(&f, "p", b->p);
    }
    return findings_add(
        w->s->out, &f, e, "Throughput swings back and forth by %.0f %%, %s%s (%s to %s requests/s)",
        100 * swing, b != NULL ? "every " : "at no steady period",
        b != NULL ? units_duration(f.period_ns).s : "", units_rate((1 + low) * w->usual_per_s).s,
        units_rate((1 + high) * w->usual_per_s).s);
}

bool swings_find(struct search *s, swings_expected_fn *expected, const void *levels, bool *found,
                 struct err *e)
{
    struct swings *w;
    double low, high, common;
    bool ok = true;

    *found = false;
    if (!mem_cleared(&w, 1, e))
        return false;
    w->s = s;
    if (!fill_points(w, expected, levels))
        goto done;
    struct beat b = find_beat(w);
    range_of_phases(&b, &low, &high);
    double least = expected != NULL ? 0 : MOST_OF_VARIANCE * w->variance;
    if (b.p <= CHANCE && 1 - (1 + low) / (1 + high) >= LEAST_BEAT &&
        variance_of_phases(&b) >= least) {
        *found = true;
        ok = say(w, low, high, &b, e);
        goto done;
    }
    if (expected == NULL)
        goto done;
    ok = common_variance(w, &common, e);
    if (!ok || common == 0)
        goto done;
    range_of_points(w, common, &low, &high);
    *found = 1 - (1 + low) / (1 + high) >= LEAST_SWING;
    ok = !*found || say(w, low, high, NULL, e);
done:
    free(w);
    return ok;
}
