/* Simulates what the statistics promise (docs/how-the-numbers-are-made.md, sections 7 and 8): how
 * often `cmp` raises a false alarm between runs of one configuration, how often a 95 % interval
 * covers the true value, and how often an effect of the size printed as MDE is found. The figures
 * are the same every time.
 *
 *   stats [REPETITIONS]     5,000 are the default
 *
 * A run has 300 segments whose speed is an autoregressive time series with innovations of some
 * shape, and 40 requests in each, which are slow if the segment is slow. Runs of one configuration
 * differ by a factor with a standard deviation of 5 %.
 *
 * A second table is about families: 3 to 8 runs a side of four operations, of which one becomes
 * slower in one half of the repetitions, with several kinds of noise between runs. Runs of one
 * operation, and figures of one run, resemble each other. Matrices of 4 to 30 cells, each of which
 * has runs of its own, are judged as one family, too.
 *
 * A third table is about slow noise: healthy runs of 10 to 60 s whose throughput has a standard
 * deviation of 15 %, correlated for up to 10 s. It shows how often the interval covers the true
 * value, how often it is marked as unreliable, and how often the run has a problem.
 *
 * A fourth table is about percentiles of such runs: how often their intervals cover the true value
 * or are marked, and how often an assertion whose limit is the true value is decided.
 *
 * A fifth table is about runs in turns: 16 runs whose logs scatter by 1 %, in several orders and
 * with several kinds of drift. It shows how often a difference is claimed where there is none, and
 * how often one is found, by the test that their order chooses, by all pairs, by whole blocks of
 * two pairs, and by Welch's. A sixth shows how many runs it takes.
 *
 * The exit status is 1 if a figure of a table is outside its limits. */
#include "analyze/stats/stats.h"
#include "analyze/findings/course.h"
#include "analyze/findings/finding.h"
#include "analyze/stats/picker.h"
#include "analyze/summary/estimate/confidence.h"
#include "analyze/tools/slo/slo.h"
#include "libcommon/mem.h"
#include "libcommon/splitmix.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_SEGMENTS   300
#define N_EACH       40 /* requests a segment */
#define N_REQUESTS   (N_SEGMENTS * N_EACH)
#define N_RUNS       5 /* a side */
#define RUN_CV       .05
#define MOST_METRICS 90
#define NOISE_SD     .2886751345948129 /* of the innovations, whatever their shape */
#define N_TRUTH      1000000 /* segments of the long run that the true quantiles are from */
#define WARM_UP      100

enum shape { UNIFORM, GAUSSIAN, LOGNORMAL, N_SHAPES };
static const char *const shape_names[] = {"uniform", "Gaussian", "lognormal"};
static const double rhos[] = {0, .4, .8};
#define N_RHOS 3

static const struct stats_ratio ratios[] = {{1, 2}, {99, 100}};

/* ---- Random numbers ---- */

struct rng {
    uint64_t state;
};

static double uniform(struct rng *r)
{
    uint64_t z = splitmix_spread(r->state += SPLITMIX_STEP);

    return ((double)(z >> 11) + .5) * 0x1p-53;
}

static double normal(struct rng *r)
{
    double radius = sqrt(-2 * log(uniform(r)));
    return radius * cos(2 * M_PI * uniform(r));
}

/* Returns an innovation with mean 0 and standard deviation NOISE_SD. */
static double innovation(struct rng *r, enum shape shape)
{
    const double sigma = .75, mean = exp(sigma * sigma / 2);
    switch (shape) {
    case UNIFORM:
        return uniform(r) - .5;
    case LOGNORMAL:
        return NOISE_SD * (exp(sigma * normal(r)) - mean) / (mean * sqrt(expm1(sigma * sigma)));
    default:
        return NOISE_SD * normal(r);
    }
}

/* ---- Runs ---- */

struct cell {
    enum shape shape;
    double rho;
    int64_t truth[2]; /* quantiles */
    long n_repetitions;
    /* Results: numbers of repetitions, and of those that could be judged. */
    long group_alarms, single_alarms;
    long covered_mean, covered[2], had[2];
    long group_found, single_found, single_tried;
    bool failed;
};

struct run {
    double speed[N_SEGMENTS];
    int64_t latency[N_REQUESTS]; /* of segment j: N_EACH from j * N_EACH on */
    int64_t found[N_REQUESTS];   /* for picker_select */
    double mean;
    int64_t quantile[2];
};

static int64_t latency_of(struct rng *r, double speed)
{
    return (int64_t)(1e8 / speed * (1 + uniform(r)));
}

/* Simulates a run that is faster than others by `factor`. */
static void run_make(struct run *run, struct rng *r, const struct cell *c, double factor)
{
    double z = 0, sum = 0;
    for (int i = 0; i < WARM_UP; i++)
        z = c->rho * z + innovation(r, c->shape);
    for (int j = 0; j < N_SEGMENTS; j++) {
        z = c->rho * z + innovation(r, c->shape);
        run->speed[j] = (100 + 10 * z) * factor;
        sum += run->speed[j];
        for (int i = 0; i < N_EACH; i++)
            run->latency[j * N_EACH + i] = latency_of(r, run->speed[j]);
    }
    run->mean = sum / N_SEGMENTS;
    const size_t ranks[] = {stats_rank(N_REQUESTS, ratios[0]) - 1,
                            stats_rank(N_REQUESTS, ratios[1]) - 1};
    memcpy(run->found, run->latency, sizeof run->found);
    picker_select(run->found, N_REQUESTS, ranks, 2, run->quantile);
}

static double run_factor(struct rng *r)
{
    return exp(RUN_CV * normal(r));
}

/* Computes the confidence intervals of one run. */
static bool run_intervals(struct run *run, struct stats_ci *mean, struct stats_ci quantile[2],
                          struct err *e)
{
    if (!stats_mean(run->mean, run->speed, N_SEGMENTS, N_REQUESTS, mean, e))
        return false;
    for (int q = 0; q < 2; q++) {
        int64_t above[N_SEGMENTS] = {0}, count[N_SEGMENTS], values[5];
        for (int i = 0; i < N_REQUESTS; i++)
            above[i / N_EACH] += run->latency[i] > run->quantile[q];
        for (int j = 0; j < N_SEGMENTS; j++)
            count[j] = N_EACH;
        struct stats_quantile plan;
        size_t ranks[5];
        if (!stats_quantile(ratios[q], above, count, N_SEGMENTS, mean, &plan, e))
            return false;
        stats_quantile_ranks(&plan, ranks);
        memcpy(run->found, run->latency, sizeof run->found);
        picker_select(run->found, N_REQUESTS, ranks, 5, values);
        stats_quantile_ci(&plan, values, &quantile[q]);
    }
    return true;
}

/* Finds the true quantiles, from a very long run. */
static bool find_truth(struct cell *c, struct rng *r)
{
    size_t n = (size_t)N_TRUTH * N_EACH;
    int64_t *v = malloc(n * sizeof *v);
    double z = 0;
    for (size_t i = 0; v != NULL && i < n; i++) {
        if (i % N_EACH == 0)
            z = c->rho * z + innovation(r, c->shape);
        v[i] = latency_of(r, 100 + 10 * z);
    }
    const size_t ranks[] = {stats_rank(n, ratios[0]) - 1, stats_rank(n, ratios[1]) - 1};
    if (v != NULL)
        picker_select(v, n, ranks, 2, c->truth);
    free(v);
    return v != NULL;
}

/* ---- Counting results ---- */

/* Judges throughput, p50 and p99 of one operation or several as `cmp` does. */
static bool judge_all(struct stats_cmp *cmp, int n, enum stats_verdict *verdict, struct err *e)
{
    static const double delta[] = {.05, .05, .10};
    double p[MOST_METRICS];
    bool beyond;
    for (int m = 0; m < n; m++)
        p[m] = cmp[m].ok ? cmp[m].p : NAN;
    if (!stats_holm(p, (size_t)n, e))
        return false;
    for (int m = 0; m < n; m++) {
        if (!stats_is_same(&cmp[m], delta[m % 3]))
            stats_adjust(&cmp[m], NULL, NULL, p[m]);
        verdict[m] =
            stats_verdict(&cmp[m], (struct stats_question){m % 3 == 0, delta[m % 3]}, &beyond);
    }
    return true;
}

/* Whether `cmp` reports a change in any of three metrics: throughput, p50, p99. */
static bool any_claim(struct stats_cmp cmp[3], bool *alarm, struct err *e)
{
    enum stats_verdict v[3];
    *alarm = false;
    if (!judge_all(cmp, 3, v, e))
        return false;
    for (int m = 0; m < 3; m++)
        *alarm |= v[m] == STATS_BETTER || v[m] == STATS_WORSE;
    return true;
}

/* Compares five runs with five: counts false alarms, and whether a throughput change of the MDE is
 * found when the p-values of all three metrics are adjusted. */
static bool repeat_groups(struct cell *c, struct run *run, struct rng *r, double mde_sds,
                          struct err *e)
{
    double value[3][2][N_RUNS];
    struct stats_cmp cmp[3];
    bool alarm;
    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < N_RUNS; i++) {
            run_make(run, r, c, run_factor(r));
            value[0][s][i] = run->mean;
            value[1][s][i] = (double)run->quantile[0];
            value[2][s][i] = (double)run->quantile[1];
        }
    }
    for (int m = 0; m < 3; m++)
        if (!stats_cmp_groups(value[m][0], N_RUNS, value[m][1], N_RUNS, false, &cmp[m], e))
            return false;
    if (!any_claim(cmp, &alarm, e))
        return false;
    c->group_alarms += alarm;

    /* The effect is the printed MDE, in pooled standard deviations. */
    double effect = exp(mde_sds * cmp[0].sd);
    for (int i = 0; i < N_RUNS; i++)
        value[0][1][i] *= effect;
    if (!stats_cmp_groups(value[0][0], N_RUNS, value[0][1], N_RUNS, false, &cmp[0], e))
        return false;
    double p[3] = {cmp[0].p, cmp[1].p, cmp[2].p};
    if (!stats_holm(p, 3, e))
        return false;
    c->group_found += p[0] < .05;
    return true;
}

/* Compares one run with one, with the run CV given: counts the same results, and how often the
 * intervals of a run contain the true values. */
static bool repeat_single(struct cell *c, struct run *run, struct rng *r, struct err *e)
{
    const struct stats_noise noise = {STATS_NOISE_CV, RUN_CV, 0};
    struct stats_ci mean[2], quantile[2][2];
    struct stats_cmp cmp[3];
    bool alarm;
    for (int s = 0; s < 2; s++) {
        run_make(run, r, c, run_factor(r));
        if (!run_intervals(run, &mean[s], quantile[s], e))
            return false;
    }
    stats_cmp_single(STATS_MEANS, &mean[0], &mean[1], noise, &cmp[0]);
    for (int q = 0; q < 2; q++)
        stats_cmp_single(STATS_QUANTILES, &quantile[0][q], &quantile[1][q], noise, &cmp[1 + q]);
    if (!any_claim(cmp, &alarm, e))
        return false;
    c->single_alarms += alarm;
    if (cmp[0].ok) {
        double effect = 1 + stats_mde_single(&cmp[0]);
        struct stats_ci larger = mean[1];
        larger.value *= effect;
        larger.se *= effect;
        larger.lo *= effect;
        larger.hi *= effect;
        stats_cmp_single(STATS_MEANS, &mean[0], &larger, noise, &cmp[0]);
        c->single_found += cmp[0].p < .05;
        c->single_tried++;
    }

    run_make(run, r, c, 1);
    if (!run_intervals(run, &mean[0], quantile[0], e))
        return false;
    c->covered_mean += mean[0].lo <= 100 && 100 <= mean[0].hi;
    for (int q = 0; q < 2; q++) {
        const struct stats_ci *ci = &quantile[0][q];
        c->had[q] += ci->ok;
        c->covered[q] += ci->ok && ci->lo <= (double)c->truth[q] && (double)c->truth[q] <= ci->hi;
    }
    return true;
}

static bool cell_run(struct cell *c, uint64_t seed, double mde_sds)
{
    struct rng r = {seed};
    struct err e = {0};
    struct run *run = malloc(sizeof *run);
    bool ok = run != NULL && find_truth(c, &r);
    for (long i = 0; ok && i < c->n_repetitions; i++)
        ok = repeat_groups(c, run, &r, mde_sds, &e) && repeat_single(c, run, &r, &e);
    if (!ok)
        fprintf(stderr, "stats: %s\n", e.msg[0] != '\0' ? e.msg : "out of memory");
    free(run);
    return ok;
}

/* ---- Families ---- */

#define MOST_RUNS 8
#define SLOWER    1 /* the operation that becomes slower */

static const int runs_a_side[] = {3, 4, 5, 6, 8};
#define N_SIDES 5

/* Matrices: six runs a side that scatter by 1 %, and a cell that becomes slower by 10 %. Without a
 * change they scatter by 5 %: with 1 % nearly all cells are the same within 5 %. */
static const int cells[] = {4, 12, 30};
#define N_MATRICES  3
#define MATRIX_RUNS 6
#define MATRIX_CV   .01
#define UNCHANGED   5 /* times that */

/* Noise between runs: Gaussian; skewed; one run of ten slower by five standard deviations; twice
 * the scatter after the change. */
enum between { EVEN, SKEWED, OUTLIERS, UNEQUAL, N_BETWEEN };
static const char *const between_names[] = {"Gaussian", "lognormal", "outliers", "unequal"};

/* Operations of one run, or cells: then each has its own runs. */
struct family {
    enum between between;
    int n_runs, n_ops;
    bool is_cells;
    double cv, effect; /* effect: of the logs of all figures of one operation */
    long n_repetitions, alarms, covered, found, contradictions;
    bool failed;
};

static double between_runs(struct rng *r, enum between b)
{
    if (b == SKEWED)
        return innovation(r, LOGNORMAL) / NOISE_SD;
    return normal(r) + (b == OUTLIERS && uniform(r) < .1 ? 5 : 0);
}

/* Fills the values of a run: by operation, then throughput, p50, p99. */
static void family_run(double *v, size_t stride, struct rng *r, const struct family *x,
                       double scale, double slower)
{
    double run = between_runs(r, x->between), op = 0;
    for (int m = 0; m < 3 * x->n_ops; m++) {
        run = x->is_cells && m % 3 == 0 && m > 0 ? between_runs(r, x->between) : run;
        op = m % 3 == 0 ? between_runs(r, x->between) : op;
        double sds = .7 * run + .5 * op + .5 * between_runs(r, x->between);
        double theta = scale * x->cv * sds + (m / 3 == SLOWER ? slower : 0);
        v[(size_t)m * stride] = exp(m % 3 == 0 ? -theta : theta);
    }
}

static bool family_repeat(struct family *x, struct rng *r, double slower, struct err *e)
{
    double value[2][MOST_METRICS][MOST_RUNS];
    struct stats_cmp cmp[MOST_METRICS];
    enum stats_verdict v[MOST_METRICS];
    size_t n = (size_t)x->n_runs;
    double scale = x->is_cells && slower == 0 ? UNCHANGED : 1;
    bool alarm = false;
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < n; i++)
            family_run(&value[s][0][i], MOST_RUNS, r, x,
                       s == 1 && x->between == UNEQUAL ? 2 * scale : scale, s == 1 ? slower : 0);
    for (int m = 0; m < 3 * x->n_ops; m++)
        if (!stats_cmp_groups(value[0][m], n, value[1][m], n, false, &cmp[m], e))
            return false;
    if (!judge_all(cmp, 3 * x->n_ops, v, e))
        return false;
    for (int m = 0; m < 3 * x->n_ops; m++) {
        bool changed = v[m] == STATS_BETTER || v[m] == STATS_WORSE;
        bool leaves_zero_out = cmp[m].lo > 0 || cmp[m].hi < 0;
        alarm |= changed;
        x->contradictions += v[m] != STATS_SAME && changed != leaves_zero_out;
    }
    const struct stats_cmp *c = &cmp[3 * SLOWER];
    if (slower == 0) {
        x->alarms += alarm;
    } else {
        x->found += v[3 * SLOWER] == STATS_WORSE;
        x->covered += c->lo <= -slower && -slower <= c->hi;
    }
    return true;
}

static bool family_simulate(struct family *x, uint64_t seed)
{
    struct rng r = {seed};
    struct err e = {0};
    bool ok = true;
    for (long i = 0; ok && i < x->n_repetitions; i++)
        ok = family_repeat(x, &r, 0, &e) && family_repeat(x, &r, x->effect, &e);
    if (!ok)
        fprintf(stderr, "stats: %s\n", e.msg);
    return ok;
}

/* ---- Slow noise ---- */

#define BIN_NS      INT64_C(50000000)
#define MOST_BINS   1200
#define RATE        1000.0 /* requests a second */
#define SLOW_SD     .15    /* of the logarithm of the rate */
#define PROBLEM_PCT 6      /* with one length and one correlation; with all together: */
#define ALL_PCT     5

static const double lengths_s[] = {10, 20, 30, 60}, lasts_s[] = {0, .3, 1, 2, 5, 10};
#define N_LENGTHS 4
#define N_LASTS   6

struct slow {
    double length_s, lasts_s;
    long n_repetitions;
    long covered, marked, either, problems;
    bool failed;
};

/* Returns the number of requests that end in a closed loop: it varies less than in a Poisson
 * process. */
static double count_of(struct rng *r, double expected)
{
    return fmax(floor(expected + sqrt(expected) / 2 * normal(r) + uniform(r)), 0);
}

static void slow_make(struct rng *r, const struct slow *x, uint32_t *ok, size_t n)
{
    double keeps = x->lasts_s > 0 ? exp(-(double)BIN_NS / 1e9 / x->lasts_s) : 0, z = normal(r);
    for (size_t i = 0; i < n; i++) {
        z = keeps * z + sqrt(1 - keeps * keeps) * normal(r);
        ok[i] = (uint32_t)count_of(r, RATE * exp(SLOW_SD * z) * (double)BIN_NS / 1e9);
    }
}

static bool slow_interval(struct slow *x, const struct course *c, struct err *e)
{
    double rate[MOST_BINS] = {0}, truth = RATE * exp(SLOW_SD * SLOW_SD / 2);
    int64_t width_ns = stats_segment_width_ns(c->end_ns - c->start_ns);
    size_t width = (size_t)(width_ns / BIN_NS), n = c->n_bins / width;
    struct statistics of = {.change = NULL};
    struct stats_ci *ci = &of.objects.mean;
    for (size_t i = 0; i < n * width; i++)
        rate[i / width] += c->ok[i] / ((double)width_ns / 1e9);
    double mean = (double)c->n / x->length_s;
    if (!stats_mean(mean, rate, n, c->n, ci, e))
        return false;
    bool covered = ci->lo <= truth && truth <= ci->hi, marked = *statistics_doubt(&of, ci) != '\0';
    x->covered += covered;
    x->marked += marked;
    x->either += covered || marked;
    return true;
}

static bool slow_findings(struct slow *x, const struct course *c, struct err *e)
{
    struct findings found = {0};
    bool ok = findings_find(&found, c, ROLE_BENCHMARK, e);
    x->problems += findings_have_problem(&found);
    findings_free(&found);
    return ok;
}

static bool slow_repeat(struct slow *x, struct rng *r, struct err *e)
{
    struct course c;
    size_t n = (size_t)(x->length_s * 1e9 / (double)BIN_NS);
    bool ok = course_init(&c, 1, e) && mem_cleared(&c.ok, n, e) && mem_cleared(&c.failed, n, e) &&
              mem_cleared(&c.timed_out, n, e);
    if (ok) {
        slow_make(r, x, c.ok, n);
        c.n_bins = n;
        c.bin_ns = BIN_NS;
        c.shortest_ns = 3 * BIN_NS;
        c.bins_ns = c.start_ns = 0;
        c.end_ns = (int64_t)n * BIN_NS;
        c.full_until_ns = c.end_ns - BIN_NS;
        c.n_threads = 32;
        c.median_ns[0] = 30e6;
        c.p90_ns[0] = 50e6;
        for (size_t i = 0; i < n; i++)
            c.n += c.ok[i];
        c.ops[0] = (struct course_op){"GET", c.n};
        ok = slow_interval(x, &c, e) && slow_findings(x, &c, e);
    }
    course_fini(&c);
    return ok;
}

/* ---- Percentiles in slow noise ---- */

#define CONNECTIONS   8
#define MEDIAN_NS     3e7 /* of a request, if the store is as fast as usual */
#define SIGMA         .4  /* of the logarithm of a duration, at one speed */
#define MOST_REQUESTS 40000
#define N_OF_TIMES    3
#define DECIDED_PCT   8 /* at the limit, with one length and one correlation; with all together: */
#define ALL_DECIDED   5
#define LEAST_LASTS                                                                                \
    3 /* a run that is not so many times as long cannot know the noise: not limited */

static const uint32_t of_times_ppm[N_OF_TIMES] = {500000, 900000, 990000};
static const double of_times_z[N_OF_TIMES] = {0, 1.2815515655446004, 2.3263478740408408};

struct slow_times {
    double length_s, lasts_s;
    long n_repetitions;
    long covered[N_OF_TIMES], marked[N_OF_TIMES], either[N_OF_TIMES], decided[N_OF_TIMES];
    bool failed;
};

struct requests_made {
    int64_t end_ns[MOST_REQUESTS], ns[MOST_REQUESTS], found[MOST_REQUESTS];
    double speed[MOST_BINS + 1];
    size_t n;
};

/* Makes the requests of a closed loop of CONNECTIONS. */
static void times_make(struct requests_made *r, const struct slow_times *x, struct rng *g)
{
    double keeps = x->lasts_s > 0 ? exp(-(double)BIN_NS / 1e9 / x->lasts_s) : 0, z = normal(g);
    size_t n_bins = (size_t)(x->length_s * 1e9 / (double)BIN_NS);

    for (size_t i = 0; i <= n_bins; i++) {
        z = keeps * z + sqrt(1 - keeps * keeps) * normal(g);
        r->speed[i] = exp(x->lasts_s > 0 ? SLOW_SD * z : 0);
    }
    r->n = 0;
    for (int k = 0; k < CONNECTIONS; k++) {
        double at_ns = uniform(g) * MEDIAN_NS;
        while (at_ns < x->length_s * 1e9 && r->n < MOST_REQUESTS) {
            double ns = MEDIAN_NS * exp(SIGMA * normal(g)) / r->speed[(size_t)(at_ns / BIN_NS)];
            at_ns += ns;
            r->end_ns[r->n] = (int64_t)at_ns;
            r->ns[r->n] = (int64_t)ns;
            r->n += at_ns < x->length_s * 1e9;
        }
    }
}

/* Returns the true percentile q. A fast store does more requests, so that the logarithm of the
 * speed has the mean SLOW_SD^2 over requests. */
static double times_truth(const struct slow_times *x, int q)
{
    double sd = x->lasts_s > 0 ? SLOW_SD : 0;

    return MEDIAN_NS * exp(of_times_z[q] * sqrt(sd * sd + SIGMA * SIGMA) - sd * sd);
}

/* Judges percentile q of the run at its true value. */
static bool times_judge(struct slow_times *x, int q, struct requests_made *r,
                        const struct statistics *of, struct err *e)
{
    int64_t above[MOST_BINS] = {0}, beyond[MOST_BINS] = {0}, all[MOST_BINS] = {0}, values[5], value;
    double truth = times_truth(x, q);
    const struct slo_assertion limit = {
        .text = "", .figure = SLO_TIME, .ppm = of_times_ppm[q], .limit = truth};
    const struct stats_ratio p = {of_times_ppm[q], SLO_PPM};
    struct statistics_percentile found = {.n = (int64_t)r->n};
    struct stats_quantile plan;
    size_t rank = stats_rank(r->n, p) - 1, ranks[5];

    memcpy(r->found, r->ns, r->n * sizeof *r->ns);
    picker_select(r->found, r->n, &rank, 1, &value);
    for (size_t i = 0; i < r->n; i++) {
        size_t j = (size_t)(r->end_ns[i] / of->segment_ns);
        j = j < of->n_segments ? j : of->n_segments - 1;
        all[j]++;
        above[j] += r->ns[i] > value;
        beyond[j] += (double)r->ns[i] > truth;
    }
    if (!stats_quantile(p, above, all, of->n_segments, &of->objects.mean, &plan, e) ||
        !stats_error_rate(NAN, beyond, all, of->n_segments, &found.above, e))
        return false;
    stats_quantile_ranks(&plan, ranks);
    memcpy(r->found, r->ns, r->n * sizeof *r->ns);
    picker_select(r->found, r->n, ranks, 5, values);
    struct stats_ci *ci = &found.q.ci;
    stats_quantile_ci(&plan, values, ci);
    found.q.deff = plan.deff;
    const char *doubt = statistics_doubt(of, ci);
    struct slo_answer a = {.of = &limit, .measure = slo_measure_percentile(&found, doubt, &limit)};
    slo_judge(&a);
    bool covered = !ci->ok || (ci->lo <= truth && truth <= ci->hi);
    x->covered[q] += covered;
    x->marked[q] += *doubt != '\0';
    x->either[q] += covered || *doubt != '\0';
    x->decided[q] += a.verdict != SLO_UNDECIDED;
    return true;
}

static bool times_repeat(struct slow_times *x, struct requests_made *r, struct rng *g,
                         struct err *e)
{
    double rate[MOST_BINS] = {0};
    int64_t length_ns = (int64_t)(x->length_s * 1e9);
    struct statistics of = {.segment_ns = stats_segment_width_ns(length_ns)};

    of.n_segments = (size_t)(length_ns / of.segment_ns);
    times_make(r, x, g);
    for (size_t i = 0; i < r->n; i++)
        rate[r->end_ns[i] / of.segment_ns] += 1e9 / (double)of.segment_ns;
    bool ok = stats_mean((double)r->n / x->length_s, rate, of.n_segments, (int64_t)r->n,
                         &of.objects.mean, e);
    for (int q = 0; ok && q < N_OF_TIMES; q++)
        ok = times_judge(x, q, r, &of, e);
    return ok;
}

static bool times_run(struct slow_times *x, uint64_t seed)
{
    struct rng g = {seed};
    struct err e = {0};
    struct requests_made *r = malloc(sizeof *r);
    bool ok = r != NULL;

    for (long i = 0; ok && i < x->n_repetitions; i++)
        ok = times_repeat(x, r, &g, &e);
    if (!ok)
        fprintf(stderr, "stats: %s\n", r == NULL ? "out of memory" : e.msg);
    free(r);
    return ok;
}

static bool slow_run(struct slow *x, uint64_t seed)
{
    struct rng r = {seed};
    struct err e = {0};
    bool ok = true;
    for (long i = 0; ok && i < x->n_repetitions; i++)
        ok = slow_repeat(x, &r, &e);
    if (!ok)
        fprintf(stderr, "stats: %s\n", e.msg);
    return ok;
}

/* ---- Runs in turns ---- */

#define N_TURNS      16
#define TURNS_SD     .01
#define MOST_TURNS   200 /* runs, in the table of how many it takes */
#define FEWEST_SIDES 3   /* runs of a side there, at least */

enum order { ABBA, BLOCKS, RANDOM, ABAB, N_ORDERS };
static const char *const order_names[] = {"ABBA", "ABBA, BAAB", "AB, BA", "AB"};

/* Noise beside that of single runs: none; a line of 5 or 15 % over all runs; a random walk; runs
 * that resemble the one before. */
enum drift { STILL, LINE_5, LINE_15, WALK, ALIKE, N_DRIFTS };
static const char *const drift_names[] = {"none", "line, 5 %", "line, 15 %", "random walk",
                                          "runs alike, .6"};

static const double turns_effects[] = {0, .015, .03};
#define N_EFFECTS 3

/* The test that the order chooses, and others. */
enum test { CHOSEN, PAIRS, WHOLE_BLOCKS, WELCH, N_TESTS };

struct turns {
    enum order order;
    enum drift drift;
    long n_repetitions, claims[N_TESTS][N_EFFECTS];
    bool failed;
};

/* Fills n runs. In blocks and in pairs the order is drawn. */
static void turns_make(struct stats_turn *v, size_t n, struct rng *r, enum order order,
                       enum drift drift, double sd)
{
    double walk = 0, last = normal(r);
    bool flip = false;

    for (size_t i = 0; i < n; i++) {
        double k = (double)i / (double)(n - 1), z = normal(r);
        if (i % 4 == 0)
            flip = order == BLOCKS && uniform(r) < .5;
        if (i % 2 == 0 && order == RANDOM)
            flip = uniform(r) < .5;
        bool second = order == ABBA || order == BLOCKS ? i % 4 == 1 || i % 4 == 2 : i % 2 == 1;
        walk += drift == WALK ? .005 * normal(r) : 0;
        last = drift == ALIKE ? .6 * last + .8 * z : z;
        double line = drift == LINE_5 ? .05 * k : drift == LINE_15 ? .15 * k : 0;
        v[i] = (struct stats_turn){(int64_t)i, (int64_t)i, sd * last + line + walk, second != flip};
    }
}

/* Compares the runs by each test. */
static bool turns_judge(const struct stats_turn *made, size_t n, double effect,
                        struct stats_cmp cmp[N_TESTS], struct err *e)
{
    struct stats_turn v[MOST_TURNS];
    double side[2][MOST_TURNS], change[MOST_TURNS], mean[MOST_TURNS];
    size_t n_of[2] = {0, 0}, m;

    for (size_t i = 0; i < n; i++) {
        v[i] = made[i];
        v[i].value += v[i].is_after ? effect : 0;
        side[v[i].is_after][n_of[v[i].is_after]++] = exp(v[i].value);
    }
    bool in_turns = stats_pair(v, n, change, mean, &m) == STATS_IN_TURNS;
    if (!stats_cmp_pairs(change, m, false, &cmp[PAIRS], e) ||
        !stats_cmp_groups(side[0], n_of[0], side[1], n_of[1], false, &cmp[WELCH], e))
        return false;
    cmp[CHOSEN] = cmp[in_turns ? PAIRS : WELCH];
    for (size_t i = 0; i < m / 2; i++)
        change[i] = (change[2 * i] + change[2 * i + 1]) / 2;
    return m < 4 || stats_cmp_pairs(change, m / 2, false, &cmp[WHOLE_BLOCKS], e);
}

static bool turns_run(struct turns *x, uint64_t seed)
{
    struct rng r = {seed};
    struct err e = {0};
    struct stats_cmp cmp[N_TESTS];
    bool ok = true;

    for (long i = 0; ok && i < x->n_repetitions; i++) {
        struct stats_turn v[N_TURNS];
        turns_make(v, N_TURNS, &r, x->order, x->drift, TURNS_SD);
        for (int k = 0; ok && k < N_EFFECTS; k++) {
            ok = turns_judge(v, N_TURNS, turns_effects[k], cmp, &e);
            for (int test = 0; ok && test < N_TESTS; test++)
                x->claims[test][k] += cmp[test].p < .05;
        }
    }
    if (!ok)
        fprintf(stderr, "stats: %s\n", e.msg);
    return ok;
}

/* Returns how many runs of a side it takes to find a change in 95 % of cases, if the p-values of
 * throughput, p50 and p99 are adjusted. */
static size_t turns_needed(enum test test, enum drift drift, double sd, double change, long n_each)
{
    for (size_t n = FEWEST_SIDES; n < MOST_TURNS / 2; n++) {
        struct rng r = {2000 + n};
        struct stats_cmp cmp[N_TESTS];
        struct err e;
        long found = 0;
        for (long i = 0; i < n_each; i++) {
            struct stats_turn v[MOST_TURNS];
            turns_make(v, 2 * n, &r, BLOCKS, drift, sd);
            found += turns_judge(v, 2 * n, log1p(change), cmp, &e) && cmp[test].p < .05 / 3;
        }
        if (100 * found >= 95 * n_each)
            return n;
    }
    return 0;
}

/* ---- The tables ---- */

#define N_CELLS    (N_SHAPES * N_RHOS)
#define N_SLOW     (N_LENGTHS * N_LASTS)
#define N_MIXES    (N_BETWEEN * N_SIDES)
#define N_FAMILIES (N_MIXES + N_BETWEEN * N_MATRICES)
#define N_TAKEN    (N_ORDERS * N_DRIFTS)

struct work {
    struct cell cells[N_CELLS];
    struct family families[N_FAMILIES];
    struct slow slow[N_SLOW];
    struct slow_times times[N_SLOW];
    struct turns turns[N_TAKEN];
    double mde_sds;
    atomic_int next;
};

static void *work(void *arg)
{
    struct work *w = arg;
    int i;
    while ((i = atomic_fetch_add(&w->next, 1)) < N_CELLS + 2 * N_SLOW + N_FAMILIES + N_TAKEN) {
        int family = i - N_CELLS - N_SLOW, times = family - N_FAMILIES, turns = times - N_SLOW;
        if (turns >= 0)
            w->turns[turns].failed = !turns_run(&w->turns[turns], 1000 + (uint64_t)turns);
        else if (times >= 0)
            w->times[times].failed = !times_run(&w->times[times], 1000 + (uint64_t)times);
        else if (family >= 0)
            w->families[family].failed =
                !family_simulate(&w->families[family], 1000 + (uint64_t)family);
        else if (i < N_CELLS)
            w->cells[i].failed = !cell_run(&w->cells[i], 1000 + (uint64_t)i, w->mde_sds);
        else
            w->slow[i - N_CELLS].failed = !slow_run(&w->slow[i - N_CELLS], 1000 + (uint64_t)i);
    }
    return NULL;
}

/* Prints a share in percent, and marks it if it is outside its limits. */
static bool put(long n, long of, double least, double most)
{
    double pct = of > 0 ? 100 * (double)n / (double)of : NAN;
    bool inside = pct >= least && pct <= most;
    printf(" %9.1f%s", pct, inside ? " " : "!");
    return inside;
}

static bool put_cell(const struct cell *c)
{
    long n = c->n_repetitions;
    printf("%-9s %.1f ", shape_names[c->shape], c->rho);
    bool ok = put(c->group_alarms, n, 0, 6);
    ok &= put(c->single_alarms, n, 0, 6);
    ok &= put(c->covered_mean, n, 91, 97);
    ok &= put(c->covered[0], c->had[0], 91, 97);
    ok &= put(c->covered[1], c->had[1], 91, 97);
    ok &= put(c->group_found, n, 75, 85);
    ok &= put(c->single_found, c->single_tried, 75, 85);
    printf("\n");
    return ok;
}

static bool put_families(const struct family *families)
{
    bool ok = true;
    printf("\nfour operations, 12 comparisons: %ld repetitions, %%\n"
           "between   runs  false alarms    covers     found  contradicts\n",
           families[0].n_repetitions);
    for (const struct family *x = families; x < families + N_FAMILIES; x++) {
        if (x == families + N_MIXES)
            printf("\ncells, three comparisons each, %d runs a side: %ld repetitions, %%\n"
                   "between  cells  false alarms    covers     found  contradicts\n",
                   MATRIX_RUNS, x->n_repetitions);
        printf("%-9s %4d    ", between_names[x->between], x->is_cells ? x->n_ops : x->n_runs);
        ok &= !x->failed && put(x->alarms, x->n_repetitions, 0, 6.5);
        ok &= put(x->covered, x->n_repetitions, 94, 100);
        /* Of a mix it is shown, not limited. */
        ok &= put(x->found, x->n_repetitions, x->is_cells ? 95 : 0, 100);
        ok &= put(x->contradictions, x->n_repetitions, 0, 0);
        printf("\n");
    }
    return ok;
}

static bool put_slow(const struct slow *slow)
{
    bool ok = true;
    long n = 0, problems = 0;
    printf("\nslow noise: %ld runs, %%\n"
           "run  correlated   covers    marked    either   problem\n",
           slow[0].n_repetitions);
    for (const struct slow *x = slow; x < slow + N_SLOW; x++) {
        bool fast = x->lasts_s < 1; /* the interval is right, so marks are needless */
        printf("%2.0f s %8.1f s", x->length_s, x->lasts_s);
        ok &= !x->failed && put(x->covered, x->n_repetitions, fast ? 91 : 0, 100);
        ok &= put(x->marked, x->n_repetitions, 0, fast ? 25 : 100);
        ok &= put(x->either, x->n_repetitions, 91, 100);
        ok &= put(x->problems, x->n_repetitions, 0, PROBLEM_PCT);
        printf("\n");
        n += fast ? 0 : x->n_repetitions;
        problems += fast ? 0 : x->problems;
    }
    printf("problems of all from 1 s on");
    ok &= put(problems, n, 0, ALL_PCT);
    printf("\n");
    return ok;
}

static bool put_times(const struct slow_times *times)
{
    bool ok = true;
    long n = 0, decided[N_OF_TIMES] = {0};
    printf(
        "\npercentiles in slow noise: %ld runs, %%\n"
        "                  covers or marked: p50, p90, p99     decided at the limit: p50, p90, p99"
        "\nrun  correlated\n",
        times[0].n_repetitions);
    for (const struct slow_times *x = times; x < times + N_SLOW; x++) {
        printf("%2.0f s %8.1f s", x->length_s, x->lasts_s);
        bool limited = x->length_s >= LEAST_LASTS * x->lasts_s;
        ok &= !x->failed;
        for (int q = 0; q < N_OF_TIMES; q++)
            ok &= put(x->either[q], x->n_repetitions, limited ? 91 : 0, 100);
        for (int q = 0; q < N_OF_TIMES; q++) {
            ok &= put(x->decided[q], x->n_repetitions, 0, limited ? DECIDED_PCT : 100);
            decided[q] += limited ? x->decided[q] : 0;
        }
        n += limited ? x->n_repetitions : 0;
        printf("\n");
    }
    printf("%-47s", "decided of all that are long enough");
    for (int q = 0; q < N_OF_TIMES; q++)
        ok &= put(decided[q], n, 0, ALL_DECIDED);
    printf("\n");
    return ok;
}

static bool put_turns(const struct turns *turns)
{
    bool ok = true;
    printf("\n16 runs in turns, scatter 1 %%: %ld repetitions; false claims, 1.5 %% found, 3 %% "
           "found, %%\n"
           "order       drift           test by order                    pairs               "
           "   whole blocks           Welch\n",
           turns[0].n_repetitions);
    for (const struct turns *x = turns; x < turns + N_TAKEN; x++) {
        printf("%-11s %-15s", order_names[x->order], drift_names[x->drift]);
        ok &= !x->failed;
        for (int test = 0; test < N_TESTS; test++) {
            const long *n = x->claims[test];
            bool limited = test == CHOSEN && x->order != ABAB && x->drift <= LINE_5;
            /* Runs alike, in fixed ABBA order: the two changes of a block resemble each other. */
            ok &= put(n[0], x->n_repetitions, 0,
                      test != CHOSEN      ? 100
                      : x->drift == ALIKE ? 8
                                          : 6.5);
            ok &= put(n[1], x->n_repetitions, 0, 100);
            if (test == CHOSEN)
                ok &= put(n[2], x->n_repetitions, limited ? 95 : 0, 100);
        }
        printf("\n");
    }
    return ok;
}

static void put_needed(long n_each)
{
    static const double sds[] = {.01, .03, .05}, changes[] = {.05, .10};

    printf("\nruns of a side that find a change in 95 %% of cases; three metrics are judged\n"
           "                     no drift              drift of 15 %% over the runs\n"
           "scatter  change      in turns  else        in turns  else\n");
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 2; k++) {
            printf("%5.0f %%  %4.0f %%  ", 100 * sds[i], 100 * changes[k]);
            for (int drift = 0; drift < 2; drift++)
                for (int welch = 0; welch < 2; welch++)
                    printf("%10zu", turns_needed(welch ? WELCH : CHOSEN, drift ? LINE_15 : STILL,
                                                 sds[i], changes[k], n_each));
            printf("\n");
        }
}

int main(int argc, char **argv)
{
    struct work w = {.next = 0};
    struct err e = {0};
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 5000;
    if (n <= 0 || argc > 2) {
        fprintf(stderr, "usage: stats [REPETITIONS]\n");
        return EXIT_USAGE;
    }
    stats_init();
    if (!stats_mde_groups(N_RUNS, N_RUNS, 3, &w.mde_sds, &e)) {
        fprintf(stderr, "stats: %s\n", e.msg);
        return EXIT_FAILED;
    }
    for (int i = 0; i < N_SLOW; i++)
        w.slow[i] = (struct slow){.length_s = lengths_s[i / N_LASTS],
                                  .lasts_s = lasts_s[i % N_LASTS],
                                  .n_repetitions = (n + 1) / 2};
    for (int i = 0; i < N_SLOW; i++)
        w.times[i] = (struct slow_times){.length_s = w.slow[i].length_s,
                                         .lasts_s = w.slow[i].lasts_s,
                                         .n_repetitions = (n + 4) / 5};
    for (int i = 0; i < N_MIXES; i++)
        w.families[i] = (struct family){.between = (enum between)(i / N_SIDES),
                                        .n_runs = runs_a_side[i % N_SIDES],
                                        .n_ops = 4,
                                        .cv = RUN_CV,
                                        .effect = 3 * RUN_CV,
                                        .n_repetitions = n};
    for (int i = 0; i < N_TAKEN; i++)
        w.turns[i] = (struct turns){.order = (enum order)(i / N_DRIFTS),
                                    .drift = (enum drift)(i % N_DRIFTS),
                                    .n_repetitions = 2 * n};
    for (int i = 0; i < N_FAMILIES - N_MIXES; i++)
        w.families[N_MIXES + i] = (struct family){.between = (enum between)(i / N_MATRICES),
                                                  .n_runs = MATRIX_RUNS,
                                                  .n_ops = cells[i % N_MATRICES],
                                                  .is_cells = true,
                                                  .cv = MATRIX_CV,
                                                  .effect = -log(.9),
                                                  .n_repetitions = (n + 4) / 5};
    for (int i = 0; i < N_CELLS; i++)
        w.cells[i] = (struct cell){
            .shape = (enum shape)(i / N_RHOS), .rho = rhos[i % N_RHOS], .n_repetitions = n};

    pthread_t other;
    bool has_other =
        sysconf(_SC_NPROCESSORS_ONLN) > 1 && pthread_create(&other, NULL, work, &w) == 0;
    work(&w);
    if (has_other)
        pthread_join(other, NULL);

    printf("%ld repetitions, %%           false alarms      95%% CI covers the truth       MDE is "
           "found\n",
           n);
    printf("noise     rho     5 and 5   1 and 1       mean       p50       p99    5 and 5   1 and 1"
           "\n");
    bool ok = true;
    for (int i = 0; i < N_CELLS; i++)
        ok &= !w.cells[i].failed && put_cell(&w.cells[i]);
    printf(
        "limits            0..6      0..6     91..97    91..97    91..97     75..85    75..85\n");
    ok &= put_families(w.families);
    ok &= put_slow(w.slow);
    ok &= put_times(w.times);
    ok &= put_turns(w.turns);
    put_needed(n);
    return ok ? EXIT_DONE : EXIT_FAILED;
}
