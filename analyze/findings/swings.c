/* Swings with a period: throughput (or durations) that go up and down all along.
 *
 * The power at each frequency is compared with that at its neighbours, a few whole cycles of the
 * run away (an F test). Noise that lasts for seconds, or a change of level, is as large in both, so
 * that it is not taken for a period. */
#include "analyze/findings/levels_internal.h"
#include "analyze/stats/stats.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPECTRUM        (1 << 14) /* frequencies up to one a point */
#define FREQUENCIES     4         /* a cycle of the run, of which chance chooses the strongest */
#define MAX_POINTS      (SPECTRUM / (2 * FREQUENCIES))
#define TYPICAL_TIMES   10 /* median durations a period, so that requests in step cause no beat */
#define P90_TIMES       5
#define LEAST_PERIOD_NS 1e9 /* shorter swings cancel within every second */
#define POINTS_A_CYCLE  4   /* that show its shape */
#define LEAST_CYCLES    3
#define MOST_NEIGHBOURS 10 /* on either side; below a cycle's harmonics */
#define CHANCE          .01
#define N_SLOTS         24            /* of a cycle */
#define WINDOW          (N_SLOTS / 6) /* whose mean is the highest, or the lowest, of a cycle */
#define PROBLEM_BEAT    .25

/* Points of equal width: throughput or durations, as deviations from their mean. */
struct swings {
    struct levels *l;
    bool of_durations;
    int64_t from_ns, width_ns;
    double shortest_ns; /* period */
    size_t n;
    bool is_free[MAX_POINTS];
    double y[MAX_POINTS], usual; /* the mean: requests a second, or ns */
    double f[SPECTRUM];          /* see stats_fourier */
};

static void fill_rates(struct swings *w)
{
    const struct search *s = w->l->s;
    const struct course *c = s->c;
    double least_ns = fmax(TYPICAL_TIMES * search_longest_ns(s, c->median_ns, OP_MATTERS),
                           P90_TIMES * search_longest_ns(s, c->p90_ns, OP_MATTERS)),
           bin_ns = (double)c->bin_ns;
    size_t first = course_bin(c, w->from_ns), n = course_bin(c, c->full_until_ns) - first;

    w->shortest_ns = fmax(fmax(least_ns, LEAST_PERIOD_NS), 2 * bin_ns);
    double each = fmax(w->shortest_ns / POINTS_A_CYCLE / bin_ns, (double)n / MAX_POINTS);
    size_t width = (size_t)ceil(fmin(each, (double)n));
    w->width_ns = (int64_t)width * c->bin_ns;
    w->n = n / width;
    for (size_t i = 0; i < w->n; i++) {
        size_t at = first + i * width;

        for (size_t j = at; j < at + width; j++)
            w->y[i] += c->ok[j] / (double)w->width_ns * 1e9;
        w->y[i] *= exp(levels_work_at(s, course_bin_start_ns(c, at)));
        /* A point beside a masked one leads into a stall or out of it. */
        size_t last = at + 2 * width < c->n_bins ? at + 2 * width : c->n_bins;
        w->is_free[i] = search_free_frac(s, at > width ? at - width : 0, last, UINT8_MAX) == 1;
    }
}

static void fill_durations(struct swings *w)
{
    const struct levels *l = w->l;

    w->width_ns = l->width_ns;
    w->shortest_ns = 2 * (double)w->width_ns;
    for (size_t i = 0; i < l->n; i++) {
        w->n = (size_t)((l->at_ns[i] - w->from_ns) / w->width_ns) + 1;
        w->is_free[w->n - 1] = true;
        w->y[w->n - 1] = exp(-l->x[i]);
    }
}

/* Turns points into deviations from their mean; false: half of them are masked, or all are 0. */
static bool deviate(struct swings *w)
{
    double sum = 0, n = 0;

    for (size_t i = 0; i < w->n; i++) {
        sum += w->is_free[i] ? w->y[i] : 0;
        n += w->is_free[i];
    }
    w->usual = sum / n;
    for (size_t i = 0; i < w->n; i++)
        w->y[i] = w->is_free[i] && sum > 0 ? w->y[i] / w->usual - 1 : 0;
    return 2 * n > (double)w->n && sum > 0;
}

static double power(const struct swings *w, double at)
{
    size_t k = (size_t)lround(at) % SPECTRUM, mirror = (SPECTRUM - k) % SPECTRUM;
    double re = w->f[k < mirror ? k : mirror], im = k != mirror ? w->f[k < mirror ? mirror : k] : 0;

    return re * re + im * im;
}

/* Returns the number of cycles of the strongest swing that chance does not explain; 0: none. The
 * p-value is multiplied by the number of frequencies that were tried. */
static double find_cycles(const struct swings *w, double *p)
{
    double a_cycle = (double)SPECTRUM / (double)w->n, strongest = 0, cycles = 0;
    double most = fmin((double)w->n * (double)w->width_ns / w->shortest_ns, (double)w->n / 2);
    size_t first = (size_t)ceil(LEAST_CYCLES * a_cycle), last = (size_t)(most * a_cycle);

    for (size_t j = first; j <= last; j++) {
        double at = (double)j, around = 0, own = power(w, at);
        double n = fmin(floor(at / a_cycle) - 1, MOST_NEIGHBOURS);

        if (own <= strongest)
            continue;
        for (double k = 1; k <= n; k++)
            around += power(w, at - k * a_cycle) + power(w, at + k * a_cycle);
        double chance = pow(1 + own / around, -2 * n) * FREQUENCIES * most;
        if (chance <= CHANCE) {
            strongest = own;
            cycles = at / a_cycle;
            *p = chance;
        }
    }
    return cycles;
}

/* The mean cycle. */
struct cycle {
    double sum[N_SLOTS], n[N_SLOTS];
};

static size_t slot_of(const struct swings *w, double cycles, size_t i)
{
    double x = cycles * (2 * (double)i + 1) / (2 * (double)w->n);
    return (size_t)((x - floor(x)) * N_SLOTS);
}

static double mean_of(const struct cycle *m, size_t first, size_t n_slots)
{
    double sum = 0, n = 0;

    for (size_t k = first; k < first + n_slots; k++) {
        sum += m->sum[k % N_SLOTS];
        n += m->n[k % N_SLOTS];
    }
    return sum / n;
}

/* Folds the run; fills in the means of the lowest and of the highest sixth of a cycle, wherever
 * they begin. If a cycle has too few points, these are of the best sine: a point is the mean over
 * its width, and so lower than the crest within it by the factor sin(x) / x. */
static void fold(const struct swings *w, double cycles, struct cycle *m, double range[2])
{
    double n = 0, x = M_PI * cycles / (double)w->n;

    *m = (struct cycle){0};
    for (size_t i = 0; i < w->n; i++) {
        size_t k = slot_of(w, cycles, i);
        m->sum[k] += w->y[i];
        m->n[k] += w->is_free[i];
        n += w->is_free[i];
    }
    range[0] = range[1] = mean_of(m, 0, WINDOW);
    for (size_t k = 1; k < N_SLOTS; k++) {
        range[0] = fmin(range[0], mean_of(m, k, WINDOW));
        range[1] = fmax(range[1], mean_of(m, k, WINDOW));
    }
    if (POINTS_A_CYCLE * cycles <= (double)w->n)
        return;
    double height = sqrt(power(w, cycles * SPECTRUM / (double)w->n)) * x / sin(x) / n;
    range[1] = fmin(2 * cycles < (double)w->n ? 2 * height : height, 1);
    range[0] = -range[1];
}

/* Takes the mean cycle, which becomes *cycle as the series has it, out of the series, so that
 * levels are those of the rest. */
static void take_out(const struct swings *w, double cycles, const struct cycle *m, double *cycle)
{
    struct levels *l = w->l;
    double sign = w->of_durations ? -1 : 1;

    for (size_t j = 0, i = 0; j < l->n; j++) {
        double n = 0, sum = 0;

        for (; i < w->n && w->from_ns + (int64_t)i * w->width_ns < l->at_ns[j] + l->width_ns; i++) {
            double mean = mean_of(m, slot_of(w, cycles, i), 1);
            sum += isfinite(mean) ? mean : 0;
            n++;
        }
        cycle[j] = n > 0 ? sign * log(fmax(1 + sum / n, CHANCE)) : 0;
        l->x[j] -= cycle[j];
    }
}

/* Whether it is the load that swings: in a closed loop, in which equal requests take as long as
 * ever, the number of requests in flight is that of the threads that do not pause, and goes with
 * the rate. */
static bool is_of_load(const struct levels *l, const double *cycle)
{
    const struct course *c = l->s->c;
    double in_flight[LEVELS_POINTS], mean = 0, both = 0, squares = 0;

    if (c->open_loop || c->load.under_way == NULL)
        return false;
    for (size_t j = 0; j < l->n; j++) {
        in_flight[j] = log(c->load.under_way[course_block(c, l->at_ns[j] + l->width_ns / 2)]);
        mean += cycle[j] / (double)l->n;
    }
    for (size_t j = 0; j < l->n; j++) {
        both += (cycle[j] - mean) * in_flight[j];
        squares += (cycle[j] - mean) * (cycle[j] - mean);
    }
    return 2 * both > squares; /* NAN: no */
}

bool swings_say(const struct levels *l, const double *cycle, bool of_durations, double least,
                double most, double period_ns, double p, struct err *e)
{
    const struct course *c = l->s->c;
    double swing = 1 - least / most;
    bool of_load = cycle != NULL && !of_durations && is_of_load(l, cycle);

    /* By seconds, pauses look like swings, and so do swings of what is due. */
    bool is_problem = c->has_requests && period_ns > 0 && swing >= PROBLEM_BEAT;
    struct finding f = of_load ? finding_of("load-change", FINDING_NOTICE, 0)
                               : finding_of("swings", is_problem, (most - least) / (most + least));

    f.ratio = 1 - swing;
    finding_figure(&f, of_durations ? "low_ns" : "low_per_s", least);
    finding_figure(&f, of_durations ? "high_ns" : "high_per_s", most);
    if (period_ns > 0) {
        f.period_ns = (int64_t)period_ns;
        finding_figure(&f, "period_ns", (double)f.period_ns);
        if (!isnan(p))
            finding_figure(&f, "p", p);
    }
    const char *every = period_ns > 0 ? "every " : "at no steady period",
               *what = of_load ? "The number of threads at work, and throughput with it, swings"
                       : of_durations ? "Response time swings"
                                      : "Throughput swings";
    struct units_text period = period_ns > 0 ? units_duration(f.period_ns) : (struct units_text){0};
    return findings_add(l->s->out, &f, e, "%s back and forth by %.0f %%, %s%s (%s to %s%s)", what,
                        100 * swing, every, period.s,
                        of_durations ? units_duration((int64_t)least).s : units_rate(least).s,
                        of_durations ? units_duration((int64_t)most).s : units_rate(most).s,
                        of_durations ? "" : " requests/s");
}

bool swings_find(struct levels *l, bool of_durations, struct err *e)
{
    struct swings *w;
    struct cycle mean;
    double range[2], cycle[LEVELS_POINTS], p = 1, cycles = 0;
    bool ok = true;

    if (!mem_cleared(&w, 1, e))
        return false;
    w->l = l;
    w->of_durations = of_durations;
    w->from_ns = l->at_ns[0];
    if (of_durations)
        fill_durations(w);
    else
        fill_rates(w);
    if (deviate(w)) {
        memcpy(w->f, w->y, sizeof w->y);
        stats_fourier(w->f, SPECTRUM);
        cycles = find_cycles(w, &p);
    }
    if (cycles > 0) {
        fold(w, cycles, &mean, range);
        if (1 - (1 + range[0]) / (1 + range[1]) >= LEVELS_PROBLEM_CHANGE) {
            take_out(w, cycles, &mean, cycle);
            ok = swings_say(l, cycle, of_durations, (1 + range[0]) * w->usual,
                            (1 + range[1]) * w->usual, (double)w->n * (double)w->width_ns / cycles,
                            p, e);
        }
    }
    free(w);
    return ok;
}
