/* Simulates what assertions and plans of several runs promise (docs/limits.md): how often an
 * assertion exactly at the limit is decided, whether the interval of a capacity search contains the
 * true rate, how often A/B of equal sides reports a difference, and how many runs it takes.
 *
 *   plans                assertions and A/B
 *   plans searches       searches for a capacity
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

#define MOST_RUNS  25  /* of a search, or of a side */
#define LEAST      368 /* requests that p99 takes */
#define N_SEGMENTS 150

#define N_AT_LIMIT 2000
#define N_PLANS    4000
#define N_SEARCHES 100

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
    double waited; /* share of the time that s3load stood still */
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
        a.measure = (struct slo_measure){true,         ci.value, ci.lo, ci.hi, SLO_GUARD, 0,
                                         (double)r->n, 0,        "",    0,     0,         false};
    }
    slo_judge(&a);
    free(v);
    return a;
}

/* ---- Servers ---- */

enum model { MM1, MM4, MG1, HARD, IDLE, FLAT, N_MODELS };
static const char *const model_names[] = {"M/M/1",
                                          "M/M/4",
                                          "M/G/1, lognormal service",
                                          "hard limit of rate",
                                          "M/M/1, limit near idle",
                                          "no queue, slower than limit"};

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

/* ---- Noise of the machine ----
 *
 * Others take the CPU of s3load: it stands still now and then, and sends and reads late. For most
 * of the time that is rare. In an episode it stands still for a tenth of the time. Time goes on
 * from run to run. */

#define EPISODE_S 20 /* means */
#define QUIET_S   160

static bool noisy;
static double clock_s, change_s; /* time of the search; when the next episode begins or ends */
static bool episode;

struct stall {
    double begin_s, end_s;
};

/* Returns the time at which s3load goes on, after the first stall that ends later. */
static double resumed(const struct stall *v, size_t n, double t)
{
    size_t lo = 0, hi = n;

    while (lo < hi) {
        size_t middle = (lo + hi) / 2;
        if (v[middle].end_s <= t)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < n && v[lo].begin_s < t ? v[lo].end_s : t;
}

#define MOST_STALLS 4000

/* Makes the stalls of a run. Returns their share of its time. */
static double stalls_make(struct stall v[static MOST_STALLS], size_t *n, double duration_s)
{
    double at_s = 0, sum_s = 0;

    *n = 0;
    while (noisy && *n < MOST_STALLS) {
        at_s += exponential(episode ? .09 : 5);
        while (clock_s + at_s > change_s) {
            episode = !episode;
            change_s += exponential(episode ? EPISODE_S : QUIET_S);
        }
        double end_s = at_s + exponential(.01);
        if (at_s >= duration_s)
            break;
        v[(*n)++] = (struct stall){at_s, end_s};
        sum_s += end_s - at_s;
        at_s = end_s;
    }
    clock_s += duration_s;
    return sum_s / duration_s;
}

/* Simulates a run that sends `rate` requests a second, at random times (HARD: evenly, as s3load
 * does). */
static void run_make(struct run *r, enum model m, double rate, double duration_s)
{
    static struct stall stalls[MOST_STALLS];
    double free_s[4] = {0}, at_s = 0;
    size_t n_servers = m == MM4 ? 4 : 1, most = (size_t)(rate * duration_s * 1.2) + 1000, n_stalls;

    r->waited = stalls_make(stalls, &n_stalls, duration_s);
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
        double sent_s = resumed(stalls, n_stalls, at_s);
        free_s[k] = m == FLAT ? sent_s : fmax(sent_s, free_s[k]) + service_s(m);
        double extra_s = m == HARD   ? exponential(SERVICE_S)
                         : m == FLAT ? .021 * exp(.02 * normal())
                                     : 0;
        double end_s = resumed(stalls, n_stalls, free_s[k] + extra_s);
        r->ns[r->n] = (end_s - at_s) * 1e9;
        r->end_s[r->n++] = fmin(end_s, duration_s);
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
    if (m == FLAT)
        return 0;
    if (m == MM1 || m == IDLE)
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

static const double limits_ns[] = {23e6, 12e6, 23e6, 40e6, 4.8e6, 20e6}; /* of p99 */

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

/* How searches on a server ended. */
struct ends {
    long n_confirmed, n_wrong, n_undecided, runs, most;
    double widths;
};

/* Makes the run of a point, with its level. False: it does not count, as in
 * analyze/tools/plan/runs.c:take_why_not. */
static bool counts(enum model m, double run_s, struct plan_point *to)
{
    struct run r;

    run_make(&r, m, to->level, run_s);
    const struct slo_answer a = judge(&r, limits_ns[m], 990000);
    bool waited = r.waited > .01;
    run_free(&r);
    to->margin = a.margin;
    to->excess = a.measure.value / limits_ns[m] - 1;
    return a.verdict == SLO_MET || !waited;
}

static void search_once(enum model m, double run_s, long seed, double truth, struct ends *to)
{
    const struct plan_capacity c = {75 + (double)(seed % 70), .05, (LEAST + 1) / run_s, MOST_RUNS,
                                    (uint64_t)seed};
    struct plan_point v[MOST_RUNS];
    size_t n = 0, n_disturbed = 0;

    state = 1000003u * (uint64_t)seed + (uint64_t)m;
    episode = uniform() < .1;
    clock_s = 0;
    change_s = exponential(episode ? EPISODE_S : QUIET_S);
    for (struct plan_next next;
         n_disturbed < MOST_RUNS && !(next = plan_capacity_next(&c, v, n)).done;) {
        v[n] = (struct plan_point){.level = next.level};
        *(counts(m, run_s, &v[n]) ? &n : &n_disturbed) += 1;
    }
    struct plan_interval x = plan_capacity_found(v, n);
    bool flat = x.flat_to > 0;
    to->n_confirmed += x.confirmed;
    to->n_wrong += x.met > truth || (x.missed != 0 && truth > x.missed) || (flat && truth > 0);
    to->n_undecided += !x.confirmed && !flat;
    to->widths += x.confirmed ? x.missed / x.met - 1 : 0;
    to->runs += (long)n;
    to->most = (long)n > to->most ? (long)n : to->most;
}

/* At most 5 % may be wrong. Where the limit is sharp, at most 5 % may be undecided. */
static bool search_all(enum model m, double run_s, bool with_noise)
{
    bool sharp = m == HARD || m == FLAT;
    double truth = truth_of(m, limits_ns[m]), all = N_SEARCHES / 100.;
    struct ends x = {0};

    noisy = with_noise;
    for (long seed = 0; seed < N_SEARCHES; seed++)
        search_once(m, run_s, seed, truth, &x);
    noisy = false;
    double wrong = (double)x.n_wrong / all, undecided = (double)x.n_undecided / all;
    bool ok = wrong <= 5 && (!sharp || undecided <= 5);
    printf("%-28s %7.1f %4.0f s  %-5s %6.1f %9.1f %6.1f %5.1f %4ld%s\n", model_names[m], truth,
           run_s, with_noise ? "noise" : "", wrong, undecided,
           100 * x.widths / fmax((double)x.n_confirmed, 1), (double)x.runs / N_SEARCHES, x.most,
           ok ? "" : "  !");
    fflush(stdout);
    return ok;
}

static bool searches(void)
{
    bool ok = true;

    printf("%-28s %7s %6s  %-5s %6s %9s %6s %5s %4s\n", "searches for a capacity", "truth",
           "runs of", "", "wrong%", "undecided%", "wide%", "runs", "most");
    for (int i = 0; i < 4 * N_MODELS; i++) {
        ok &= search_all((enum model)(i % N_MODELS), i < 2 * N_MODELS ? RUN_S : 5,
                         i / N_MODELS % 2 > 0);
    }
    return ok;
}

/* ---- Assertions at the limit ---- */

static bool at_the_limit(const char *name, double rho, uint32_t ppm)
{
    const size_t n_each = 60, n = n_each * N_SEGMENTS;
    struct run r = {malloc(n * sizeof(double)), malloc(n * sizeof(double)), 0, N_SEGMENTS, 0};
    /* The logs of durations are normal with this standard deviation. */
    double sigma = sqrt(.15 * .15 + .3 * .3);
    double truth = 1e6 * exp(sigma * (ppm == 500000 ? 0 : ppm == 990000 ? 2.3263479 : 1.2815516));
    long decided = 0;
    char what[80];

    /* Requests of a segment share its speed; z, which sets it, is an autoregressive time series. */
    for (long k = 0; k < N_AT_LIMIT; k++) {
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
    return put(what, 100. * (double)decided / N_AT_LIMIT, 0, 5);
}

/* Errors come in bursts, and are 0.5 % of the requests. */
static bool errors_at_the_limit(double burst)
{
    const double frac = .005;
    long decided = 0;
    char what[80];

    for (long k = 0; k < N_AT_LIMIT; k++) {
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
    return put(what, 100. * (double)decided / N_AT_LIMIT, 0, 5);
}

/* ---- A/B ---- */

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Times may rise by `drift` over 16 runs. Puts the share of plans that claim a difference, and the
 * median of the runs of a side. */
static bool ab(const char *what, double change, double scatter, double drift, bool claims_it,
               double most_runs)
{
    const struct plan_gate gate = {.limit = log(1.05)};
    static int each[N_PLANS];
    long claims = 0;
    char line[80];

    for (long k = 0; k < N_PLANS; k++) {
        struct plan_point v[2 * MOST_RUNS];
        double metric[2 * MOST_RUNS];
        size_t n = 0;
        for (struct plan_next next; !(next = plan_ab_next(&gate, 1, 20, (uint64_t)k, v, n)).done;
             n++) {
            metric[n] = next.level * log1p(change) + scatter * normal() + drift * (double)n / 16;
            v[n] = (struct plan_point){.level = next.level, .metric = &metric[n]};
        }
        struct plan_judged x = plan_ab_judge(&gate, 1, 0, v, n);
        claims += x.answer == SLO_MISSED || x.lo > 0 || x.hi < 0;
        each[k] = (int)n / 2;
    }
    qsort(each, N_PLANS, sizeof *each, by_value);
    snprintf(line, sizeof line, "  %s: claims, %%", what);
    bool ok = put(line, 100. * (double)claims / N_PLANS, claims_it ? 95 : 0, claims_it ? 100 : 5);
    return put("    runs a side, median", each[N_PLANS / 2], 1, most_runs) && ok;
}

static bool ab_all(void)
{
    printf("A/B, gate 5 %%, %d plans\n", N_PLANS);
    state = 5;
    bool ok = ab("equal sides, scatter 3 %", 0, .03, 0, false, 10);
    ok &= ab("equal sides, scatter 10 %", 0, .10, 0, false, 20);
    ok &= ab("equal, scatter 1 %, drift 15 %", 0, .01, .15, false, 6);
    ok &= ab("10 % slower, scatter 3 %", .10, .03, 0, true, 6);
    return ab("6 % slower, scatter 1 %, drift 15 %", .06, .01, .15, true, 6) && ok;
}

/* Half the width of an interval of the mean of n changes that holds at all n together with
 * probability 1 - alpha: the likelihood ratio of t is mixed over effects of N(0, 1 / prior)
 * standard deviations (T. L. Lai, Annals of Statistics 4, 1976, p. 265). The prior is the one of
 * .01 to 3 that takes the fewest runs. */
static double anytime_half(const double *change, size_t n, double alpha)
{
    const double prior = .3, m = (double)n;
    double sum = 0, squares = 0;

    for (size_t i = 0; i < n; i++)
        sum += change[i];
    for (size_t i = 0; i < n; i++)
        squares += (change[i] - sum / m) * (change[i] - sum / m);
    double q = 1 - pow(alpha * sqrt(prior / (m + prior)), 2 / m),
           rest = m * m - q * (m + prior) * m;
    return rest > 0 ? sqrt(q * (m + prior) * squares / rest) : INFINITY;
}

/* Puts how many runs of a side A/B takes as it is, and with a test after each pair that is valid at
 * any time. */
static void ab_or_anytime(double change, double scatter)
{
    const struct plan_gate gate = {.limit = log(1.05)};
    long each[2] = {0, 0}, undecided[2] = {0, 0};

    for (long k = 0; k < N_PLANS; k++) {
        struct plan_point v[2 * MOST_RUNS];
        double metric[2 * MOST_RUNS], changes[MOST_RUNS];
        bool done[2] = {false, false};
        for (size_t i = 0; i < 20; i++) {
            double sum = 0;
            for (size_t j = 2 * i; j < 2 * i + 2; j++) {
                v[j] = (struct plan_point){.level = (double)((j + i) % 2), .metric = &metric[j]};
                metric[j] = v[j].level * log1p(change) + scatter * normal();
            }
            changes[i] = (v[2 * i].level > 0 ? 1 : -1) * (metric[2 * i] - metric[2 * i + 1]);
            for (size_t j = 0; j <= i; j++)
                sum += changes[j];
            double theta = sum / (double)(i + 1), half = anytime_half(changes, i + 1, .05);
            bool now[2] = {i % 2 == 1 && plan_ab_answer(&gate, 1, v, 2 * i + 2) != SLO_UNDECIDED,
                           theta + half < gate.limit || (theta > gate.limit && theta > half)};
            for (size_t test = 0; test < 2; test++) {
                each[test] += !done[test];
                done[test] |= now[test];
            }
        }
        for (size_t test = 0; test < 2; test++)
            undecided[test] += !done[test];
    }
    printf("  %2.0f %% slower, scatter %2.0f %%:", 100 * change, 100 * scatter);
    for (size_t test = 0; test < 2; test++)
        printf("   %s %5.2f runs a side, undecided %4.1f %%", test ? "at any time" : "as it is",
               (double)each[test] / N_PLANS, 100. * (double)undecided[test] / N_PLANS);
    printf("\n");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    bool ok = true;

    stats_init();
    if (strcmp(what, "trials") == 0)
        return trials();
    if (strcmp(what, "searches") == 0)
        return searches() ? 0 : 1;
    printf("assertions exactly at the limit, %d runs\n", N_AT_LIMIT);
    state = 11;
    for (double rho = 0; rho < .9; rho += .4) {
        ok &= at_the_limit("p50", rho, 500000);
        ok &= at_the_limit("p90", rho, 900000);
        ok &= at_the_limit("p99", rho, 990000);
    }
    ok &= errors_at_the_limit(1);
    ok &= errors_at_the_limit(10);
    ok &= ab_all();
    printf("A/B, means\n");
    for (size_t i = 0; i < 6; i++)
        ab_or_anytime(i % 2 ? .1 : 0, i / 2 == 0 ? .01 : i / 2 == 1 ? .03 : .05);
    return ok ? 0 : 1;
}
