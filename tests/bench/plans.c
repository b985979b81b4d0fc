/* Simulates what assertions and plans of several runs promise (docs/limits.md): how often an
 * assertion exactly at the limit is decided, whether the interval of a capacity search contains the
 * true rate, how often A/B of equal sides reports a difference, and how many runs it takes.
 *
 *   plans [SEARCHES]     200 are the default
 *   plans trials         runs of the simulated servers for others to judge (tests/bench/search)
 *
 * The exit status is 1 if a figure is outside its limits. */
#include "analyze/stats/picker.h"
#include "analyze/stats/stats.h"
#include "analyze/tools/plan/decide.h"
#include "analyze/tools/slo/slo.h"
#include "libcommon/err.h"
#include "libcommon/splitmix.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RUNS  64
#define N_SEGMENTS 150

static uint64_t state;

static double uniform(void)
{
    uint64_t z = splitmix_spread(state += SPLITMIX_STEP);

    return ((double)(z >> 11) + .5) * 0x1p-53;
}

static double exponential(double mean)
{
    return -mean * log(uniform());
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static bool put(const char *what, double pct, double least, double most)
{
    bool inside = pct >= least && pct <= most;
    printf("%-52s %7.2f%s  (%g to %g)\n", what, pct, inside ? " " : "!", least, most);
    return inside;
}

/* ---- A run: response times in the order of their ends ---- */

struct run {
    double *ns, *end_s; /* n of them, within duration_s */
    size_t n;
    double duration_s;
};

/* Judges "p99 < limit" on a run as s3analyze does. `ppm` is the percentile. */
static struct slo_answer judge(const struct run *r, double limit_ns, uint32_t ppm)
{
    int64_t n_above[N_SEGMENTS] = {0}, n_all[N_SEGMENTS] = {0};
    int64_t *v = malloc((r->n + 1) * sizeof *v), found[5];
    const struct slo_assertion of = {.text = "", .figure = SLO_TIME, .ppm = ppm, .limit = limit_ns};
    const struct stats_ratio p = {ppm, SLO_PPM};
    struct slo_answer a = {.of = &of, .measure = {.why = ""}};
    struct stats_quantile q;
    struct stats_ci ci;
    struct err e = {0};
    size_t rank, ranks[5];

    for (size_t i = 0; i < r->n; i++)
        v[i] = (int64_t)r->ns[i];
    rank = (size_t)stats_rank(r->n, p) - 1;
    int64_t quantile = 0;
    bool ok = r->n > 0;
    if (ok)
        picker_select(v, r->n, &rank, 1, &quantile);
    for (size_t i = 0; i < r->n; i++) {
        size_t j = (size_t)(r->end_s[i] / r->duration_s * N_SEGMENTS);
        j = j < N_SEGMENTS ? j : N_SEGMENTS - 1;
        n_all[j]++;
        n_above[j] += (int64_t)r->ns[i] > quantile;
    }
    ok = ok && stats_quantile(p, n_above, n_all, N_SEGMENTS, NULL, &q, &e);
    if (ok) {
        stats_quantile_ranks(&q, ranks);
        for (size_t i = 0; i < r->n; i++)
            v[i] = (int64_t)r->ns[i];
        picker_select(v, r->n, ranks, 5, found);
        stats_quantile_ci(&q, found, &ci);
        a.measure =
            (struct slo_measure){true, ci.value, ci.lo, ci.hi, SLO_GUARD, 0, (double)r->n, 0, ""};
    }
    slo_judge(&a);
    free(v);
    return a;
}

/* ---- Servers ---- */

enum model { MM1, MM4, MG1, HARD, N_MODELS };
static const char *const model_names[] = {"M/M/1", "M/M/4", "M/G/1, lognormal service",
                                          "hard limit of rate"};

#define SERVICE_S .001 /* mean service time of one server */

static double service_s(enum model m)
{
    const double sigma = .8;
    switch (m) {
    case MG1:
        return SERVICE_S * exp(sigma * normal() - sigma * sigma / 2);
    case HARD:
        return SERVICE_S;
    default:
        return exponential(SERVICE_S);
    }
}

/* Simulates a run that sends `rate` requests a second, at random times (HARD: evenly, as s3load
 * does). */
static void run_make(struct run *r, enum model m, double rate, double duration_s)
{
    double free_s[4] = {0}, at_s = 0;
    size_t n_servers = m == MM4 ? 4 : 1, most = (size_t)(rate * duration_s * 1.2) + 1000;

    r->ns = malloc(most * sizeof *r->ns);
    r->end_s = malloc(most * sizeof *r->end_s);
    r->n = 0;
    r->duration_s = duration_s;
    while (r->n < most) {
        at_s += m == HARD ? 1 / rate : exponential(1 / rate);
        if (at_s >= duration_s)
            break;
        size_t k = 0;
        for (size_t i = 1; i < n_servers; i++)
            k = free_s[i] < free_s[k] ? i : k;
        double begin_s = fmax(at_s, free_s[k]);
        free_s[k] = begin_s + service_s(m);
        double extra_s = m == HARD ? exponential(SERVICE_S) : 0;
        r->ns[r->n] = (free_s[k] + extra_s - at_s) * 1e9;
        r->end_s[r->n++] = fmin(free_s[k], duration_s);
    }
}

static void run_free(struct run *r)
{
    free(r->ns);
    free(r->end_s);
}

static double p99_of(enum model m, double rate, double duration_s)
{
    struct run r;
    run_make(&r, m, rate, duration_s);
    size_t rank = (size_t)stats_rank(r.n, (struct stats_ratio){99, 100}) - 1;
    int64_t *v = malloc(r.n * sizeof *v), value = 0;
    for (size_t i = 0; i < r.n; i++)
        v[i] = (int64_t)r.ns[i];
    picker_select(v, r.n, &rank, 1, &value);
    free(v);
    run_free(&r);
    return (double)value;
}

/* Returns the rate at which p99 is `limit_ns`: known for M/M/1 and the hard limit, else
 * simulated. */
static double truth_of(enum model m, double limit_ns)
{
    if (m == MM1)
        return 1 / SERVICE_S - log(100) / (limit_ns / 1e9);
    if (m == HARD)
        return 1 / SERVICE_S;
    double most = m == MM4 ? 4 / SERVICE_S : 1 / SERVICE_S, lo = most / 4, hi = most;
    for (int i = 0; i < 14; i++) {
        double rate = (lo + hi) / 2;
        state = 77;
        *(p99_of(m, rate, 4e6 / rate) < limit_ns ? &lo : &hi) = rate;
    }
    return (lo + hi) / 2;
}

/* ---- Capacity ---- */

#define RUN_S 30

static const double limits_ns[] = {23e6, 12e6, 23e6, 40e6}; /* of p99 */

/* Simulates a run for each line of standard input, "MODEL RATE SEED". Prints "REQUESTS ABOVE
 * TRUTH": how many requests there were, how many took longer than the limit, and the highest rate
 * that meets the limit. */
static int trials(void)
{
    double truth[N_MODELS], rate;
    unsigned m;
    uint64_t seed;

    for (int i = 0; i < N_MODELS; i++)
        truth[i] = truth_of((enum model)i, limits_ns[i]);
    while (scanf("%u %lf %" SCNu64, &m, &rate, &seed) == 3 && m < N_MODELS) {
        struct run r;
        size_t above = 0;

        state = seed;
        run_make(&r, (enum model)m, rate, RUN_S);
        for (size_t i = 0; i < r.n; i++)
            above += r.ns[i] > limits_ns[m];
        printf("%zu %zu %.9g\n", r.n, above, truth[m]);
        fflush(stdout);
        run_free(&r);
    }
    return 0;
}

static bool search_all(enum model m, long n_searches)
{
    double truth = truth_of(m, limits_ns[m]), widths = 0;
    long n_holds = 0, n_confirmed = 0, runs = 0, most = 0;
    char what[80];

    for (long s = 0; s < n_searches; s++) {
        const struct plan_capacity c = {70 + (double)(s % 70), .05, 25, (uint64_t)s};
        struct plan_point v[MOST_RUNS];
        size_t n = 0;

        state = 1000003u * (uint64_t)s + (uint64_t)m;
        for (struct plan_next next; !(next = plan_capacity_next(&c, v, n)).done; n++) {
            struct run r;
            run_make(&r, m, next.level, RUN_S);
            v[n] = (struct plan_point){.level = next.level,
                                       .margin = judge(&r, limits_ns[m], 990000).margin};
            run_free(&r);
        }
        struct plan_interval x = plan_capacity_found(v, n);
        n_confirmed += x.confirmed;
        n_holds += x.met <= truth && (x.missed == 0 || truth <= x.missed);
        widths += x.confirmed ? x.missed / x.met - 1 : 0;
        runs += (long)n;
        most = (long)n > most ? (long)n : most;
    }
    printf("%s: truth %.1f/s; intervals %.1f %% wide; %.1f runs on average\n", model_names[m],
           truth, 100 * widths / (double)(n_confirmed > 0 ? n_confirmed : 1),
           (double)runs / (double)n_searches);
    snprintf(what, sizeof what, "  the interval holds the truth, %%");
    bool ok = put(what, 100. * (double)n_holds / (double)n_searches, 93, 100);
    ok &= put("  confirmed within the runs allowed, %",
              100. * (double)n_confirmed / (double)n_searches, 80, 100);
    return put("  most runs of a search", (double)most, 0, 25) && ok;
}

/* ---- Assertions at the limit ---- */

static bool at_the_limit(const char *name, double rho, uint32_t ppm, long n_runs)
{
    const size_t n_each = 60, n = n_each * N_SEGMENTS;
    struct run r = {malloc(n * sizeof(double)), malloc(n * sizeof(double)), 0, N_SEGMENTS};
    /* The logs of durations are normal with this standard deviation. */
    double sigma = sqrt(.15 * .15 + .3 * .3);
    double truth = 1e6 * exp(sigma * (ppm == 500000 ? 0 : ppm == 990000 ? 2.3263479 : 1.2815516));
    long decided = 0;
    char what[80];

    /* Requests of a segment share its speed; z, which sets it, is an autoregressive time series. */
    for (long k = 0; k < n_runs; k++) {
        double z = normal();
        r.n = 0;
        for (size_t j = 0; j < N_SEGMENTS; j++) {
            z = rho * z + sqrt(1 - rho * rho) * normal();
            for (size_t i = 0; i < n_each; i++) {
                r.ns[r.n] = 1e6 * exp(.15 * z + .3 * normal());
                r.end_s[r.n++] = (double)j + .5;
            }
        }
        decided += judge(&r, truth, ppm).verdict != SLO_UNDECIDED;
    }
    run_free(&r);
    snprintf(what, sizeof what, "  %s, correlation %.1f, decided %%", name, rho);
    return put(what, 100. * (double)decided / (double)n_runs, 0, 5);
}

/* Errors come in bursts, and are 0.5 % of the requests. */
static bool errors_at_the_limit(double burst, long n_runs)
{
    const double frac = .005;
    long decided = 0;
    char what[80];

    for (long k = 0; k < n_runs; k++) {
        int64_t errors[N_SEGMENTS] = {0}, all[N_SEGMENTS], n_errors = 0;
        struct stats_ci ci;
        struct err e = {0};
        double lo = 0, hi = 1, n = 0;
        for (size_t j = 0; j < N_SEGMENTS; j++) {
            all[j] = 200;
            n += 200;
            for (double i = 0; i < 200 / burst; i++)
                errors[j] += uniform() < frac ? (int64_t)burst : 0;
            n_errors += errors[j];
        }
        if (stats_error_rate(NAN, errors, all, N_SEGMENTS, &ci, &e))
            stats_wilson((double)n_errors / n, n, ci.se, ci.df, &lo, &hi);
        double mean = (double)n_errors / n;
        decided += mean - SLO_GUARD * (mean - lo) > frac || mean + SLO_GUARD * (hi - mean) < frac;
    }
    snprintf(what, sizeof what, "  errors in bursts of %g, decided %%", burst);
    return put(what, 100. * (double)decided / (double)n_runs, 0, 5);
}

/* ---- A/B ---- */

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static bool ab(double change, double scatter, long n_plans, double *claims, double *median)
{
    const struct plan_gate gate = {.limit = log(1.05)};
    int *each = malloc((size_t)n_plans * sizeof *each);
    long worse = 0;

    for (long k = 0; k < n_plans; k++) {
        struct plan_point v[MOST_RUNS];
        double metric[MOST_RUNS];
        size_t n = 0;
        for (struct plan_next next; !(next = plan_ab_next(&gate, 1, 20, (uint64_t)k, v, n)).done;
             n++) {
            metric[n] = next.level * log1p(change) + scatter * normal();
            v[n] = (struct plan_point){.level = next.level, .metric = &metric[n]};
        }
        struct plan_judged x = plan_ab_judge(&gate, 1, 0, v, n);
        worse += x.answer == SLO_MISSED || x.lo > 0 || x.hi < 0;
        each[k] = (int)n / 2;
    }
    qsort(each, (size_t)n_plans, sizeof *each, by_value);
    *median = each[n_plans / 2];
    *claims = 100. * (double)worse / (double)n_plans;
    free(each);
    return true;
}

static bool ab_all(long n_plans)
{
    double claims, median;
    bool ok = true;

    printf("A/B, gate 5 %%, %ld plans\n", n_plans);
    state = 5;
    ab(0, .03, n_plans, &claims, &median);
    ok &= put("  equal sides, scatter 3 %: claims a difference, %", claims, 0, 5);
    ab(0, .10, n_plans, &claims, &median);
    ok &= put("  equal sides, scatter 10 %: claims a difference, %", claims, 0, 5);
    ab(.10, .03, n_plans, &claims, &median);
    ok &= put("  10 % slower, scatter 3 %: claims it, %", claims, 95, 100);
    ok &= put("  runs a side, median", median, 1, 6);
    return ok;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "trials") == 0)
        return trials();
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 200;
    bool ok = n > 0;

    stats_init();
    printf("assertions exactly at the limit, %ld runs\n", 10 * n);
    state = 11;
    for (double rho = 0; rho < .9; rho += .4) {
        ok &= at_the_limit("p50", rho, 500000, 10 * n);
        ok &= at_the_limit("p90", rho, 900000, 10 * n);
        ok &= at_the_limit("p99", rho, 990000, 10 * n);
    }
    ok &= errors_at_the_limit(1, 10 * n);
    ok &= errors_at_the_limit(10, 10 * n);
    ok &= ab_all(20 * n);
    for (int m = 0; m < N_MODELS; m++)
        ok &= search_all((enum model)m, n);
    return ok ? 0 : 1;
}
