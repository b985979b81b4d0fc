/* The statistics of s3analyze: pure functions over plain arrays. Sections are those
 * of docs/how-the-numbers-are-made.md. They know nothing of captures.
 *
 * A function that returns bool returns false only if it could not compute (out of memory, a failure
 * inside GSL) and then fills *e. Data that cannot carry an answer is no failure: the result
 * then has ok == false and `why` says what is missing (a constant string, never NULL).
 *
 * "Segments" are the statistical segments of section 7, in order of time. p-values and
 * probabilities are fractions; theta and its limits are natural logs of after/before, unless
 * is_difference. */
#ifndef S3_ANALYZE_STATS_STATS_H
#define S3_ANALYZE_STATS_STATS_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Switches GSL's aborting error handler off. Call once, before any thread starts. */
void stats_init(void);

/* The version of the GNU Scientific Library; only this folder includes its headers. */
const char *stats_version_gsl(void);

/* ---- Section 7: one run ---- */

#define STATS_MIN_SEGMENTS 20
#define STATS_MIN_REQUESTS 30

/* Returns the length of the statistical segments of a window, in ns: the longest of 10 ms .. 10 s
 * that gives at least 120 segments, else 10 ms. There are window_ns / length segments. */
int64_t stats_segment_width_ns(int64_t window_ns);

/* Section 7, adaptive batch means. */
struct stats_bse {
    size_t m, b; /* length and number of the batches of the last step */
    double c;    /* lag-1 correlation of the batch means, estimated */
    double se;   /* standard error of the mean of x */
    double df;   /* b - 1 */
    double lrv;  /* long-run variance, n * se^2 */
};

/* Estimates the standard error of the mean of x[0..n-1]: batches grow until their means are no
 * longer correlated. With n < 2, se, df and lrv are 0. O(n log n). */
bool stats_bse(const double *x, size_t n, struct stats_bse *out, struct err *e);

/* An estimate with its confidence intervals: 95 % and, for tests of equivalence, 90 %. */
struct stats_ci {
    bool ok;
    const char *why; /* if not ok; `value` may be valid even then */
    double value;
    double lo, hi;     /* 95 %; -inf or +inf: no limit on that side */
    double lo90, hi90; /* 90 % */
    double se, df;     /* of a mean or rate; NaN for quantiles */
    size_t m;          /* batch length, in segments */
    double stretches;  /* of a mean or quantile: stats_stretches; 0: not known, or no matter */
    /* The value is known only to bounds, which are so far below and above it; 0: it is exact. The
     * limits contain them. */
    double below, above;
};

/* Section 7: CI of the mean over the window. `mean` = total/|W|, rate[0..n-1] = the segments'
 * amounts per second (same unit), n_requests = completed requests in the window. Lower limits
 * are cut off at 0. */
bool stats_mean(double mean, const double *rate, size_t n, int64_t n_requests, struct stats_ci *out,
                struct err *e);

/* Takes out of rate[0..n-1] what failures explain: the mean stays, and the scatter is that of the
 * residuals of a regression on the share of successful requests (a control variate: Law and Kelton,
 * Simulation Modeling and Analysis, 3rd edition, section 11.4). errors[j] of the n_requests[j]
 * requests that end in segment j failed. A store that fails for half of a run then has an interval
 * about what it delivered, not one from nothing to all. Without failures nothing changes. */
void stats_take_failures(double *rate, const int64_t *errors, const int64_t *n_requests, size_t n);

/* Widens the CI of such a rate if too few requests succeeded, or in too few segments: their number
 * is by chance, too. It then holds the rates that Wilson's interval of the share of successes
 * allows. */
void stats_widen_few(struct stats_ci *ci, const int64_t *errors, const int64_t *n_requests,
                     size_t n);

/* Fills the CI of `frac`, the fraction of failed requests, by stats_bse_counts: errors[j] of the
 * n_requests[j] requests that end in segment j failed. frac NaN: the fraction in the segments.
 * Limits are clipped to [0, 1]. */
bool stats_error_rate(double frac, const int64_t *errors, const int64_t *n_requests,
                      size_t n_segments, struct stats_ci *out, struct err *e);

/* Fills the CI of the mean over requests of what they took, by stats_bse_counts: sum[j] is what the
 * n_requests[j] requests that end in segment j took together. mean NaN: that of the segments. rate:
 * as for stats_quantile. Lower limits are cut off at 0. */
bool stats_mean_of_requests(double mean, const int64_t *sum, const int64_t *n_requests,
                            size_t n_segments, const struct stats_ci *rate, struct stats_ci *out,
                            struct err *e);

/* Wilson's 95 % interval of the fraction `frac` of n trials (E. B. Wilson, JASA 22, 1927, p. 209);
 * n > 0, 0 <= frac <= 1. Unlike stats_error_rate it has a width where nothing failed. Trials that
 * depend on each other count as fewer, as for quantiles (section 7): n is divided by the design
 * effect, se^2 / (frac (1 - frac) / n), and by (t / z)^2 for df degrees of freedom. se 0 or NaN:
 * trials are independent. */
void stats_wilson(double frac, double n, double se, double df, double *lo, double *hi);

/* The standard deviation of a normal distribution over its median absolute deviation. */
#define STATS_MAD_TO_SD 1.4826

/* Returns the p-quantile of the t distribution; df may be infinite. NaN: GSL fails. */
double stats_t_quantile(double p, double df);

/* Return the probability of k or more: of a Poisson distribution; of n tries, each with probability
 * p. */
double stats_poisson_upper(double k, double mean);
double stats_binomial_upper(double k, double n, double p);

/* Returns how many independent stretches a series has (section 7, slow noise): its length over the
 * correlation time of its slow part. Without slow noise: n, or the number of the means that it is
 * averaged to (at most 240). */
double stats_stretches(const double *x, size_t n);

#define STATS_FEW_STRETCHES 13 /* with fewer a CI is unreliable (make bench-stats) */

/* Section 7: drift. */
struct stats_drift {
    bool ok; /* enough segments, and not all batches alike */
    size_t m, b;
    int64_t s;          /* Mann-Kendall */
    double v, p;        /* its variance under ties; two-sided p */
    double slope;       /* Theil-Sen, per batch */
    double change_frac; /* slope * b / median of the batch means: over the whole window */
    bool reported;      /* p < .01 and |change_frac| >= 5 % */
};
bool stats_drift(const double *x, size_t n, struct stats_drift *out, struct err *e);

/* Mann-Kendall S with its variance and two-sided p, and the Theil-Sen slope, of x[0..n-1]. p is 1
 * where all values are equal. O(n^2). */
struct stats_trend {
    int64_t s;
    double v, p, slope;
};
bool stats_trend(const double *x, size_t n, struct stats_trend *out, struct err *e);

/* Fourier transform of n values, in place; n is a power of two. v[k] and v[n - k] become the real
 * and the imaginary part of k cycles; v[0] and v[n / 2] have real parts alone. */
void stats_fourier(double *v, size_t n);

/* Cuts x into parts of at least `least` points so that the sum of (x - mean of its part)^2 plus
 * beta per cut is least: exact, O(n^2). *cost is that sum. cuts: room for n/least + 1 indexes,
 * ascending. least >= 1, n >= 1. */
bool stats_partition(const double *x, size_t n, size_t least, double beta, size_t *cuts,
                     size_t *n_cuts, double *cost, struct err *e);

/* Returns a trimmed mean of (x[i+k] - x[i])^2, which jumps and spikes do not change: the mean of
 * the smallest `pct` percent, scaled to the mean of all under normal noise. 0 < pct < 100, n > k;
 * `buffer` has room for n values. */
double stats_trimmed_square_jump(const double *x, size_t n, size_t k, size_t pct, double *buffer);

/* ---- Section 13: changes between runs ---- */

/* Probability of at least one false change in an archive whose runs do not change. */
#define STATS_CHANGES_ALPHA .042
/* Least number of runs in a level. */
#define STATS_CHANGES_LEAST 3

struct stats_change {
    size_t series, at;    /* the first run of the new level */
    double before, after; /* the levels: means of outlier-free values between changes */
    double strength;      /* sum of squares that the change explains, over the variance of the
                             noise */
    double p;             /* p-value: share of random orders of the runs with a change as strong
                             anywhere */
};
struct stats_changes {
    struct stats_change *v; /* by series, then by run */
    size_t n, cap;
    double *last_z; /* by series: how far the last run's value is from its level, in standard
                       deviations of the noise; NaN: the last run has no value, or too few runs
                       have one */
};

/* Finds changes of level in n_series time series over the same n runs. x[s * n + i] is the value of
 * run i in series s; NaN: the run has none. A permutation test: all series are put in the same
 * random order, so that correlated series cost no power. Deterministic. O(n_series * n * log n *
 * 999 + n_series * n^2). The caller calls stats_changes_free in any case. */
bool stats_changes(const double *x, size_t n_series, size_t n, struct stats_changes *out,
                   struct err *e);
void stats_changes_free(struct stats_changes *c);

/* ---- Section 7: latency ---- */

/* A probability as an exact ratio, 0 < num < den. */
struct stats_ratio {
    uint64_t num, den;
};

/* 1-based rank of the type-1 quantile of n >= 1 values: max(1, ceil(n p)), in 128-bit integers. */
uint64_t stats_rank(uint64_t n, struct stats_ratio p);

/* Smallest k with P(X <= k) >= prob for X ~ Bin(n, p). */
uint64_t stats_binomial_quantile(double prob, uint64_t n, double p);

/* Finds the 1-based ranks of a CI: the p-quantile lies in [x_l, x_u) with confidence `level`, where
 * x are n independent values in ascending order. l = 0: -inf, u = n + 1: +inf. */
void stats_binomial_ranks(uint64_t n, double p, double level, uint64_t *l, uint64_t *u);

/* 1-based ranks of a CI's limits; 0: no limit on that side. */
struct stats_ranks {
    uint64_t lo, hi;
};

/* The ranks of a quantile and of its CI; stats_quantile_ci looks up the CI itself. */
struct stats_quantile {
    bool ok;
    const char *why;
    uint64_t n;    /* requests */
    uint64_t rank; /* of the quantile itself */
    size_t m;
    double df, deff;
    double stretches; /* as in struct stats_ci */
    uint64_t n_e;     /* effective number of requests, at 95 % */
    struct stats_ranks r95, r90;
    bool can_gate; /* n_e(1-p) >= 30 */
};

/* Finds the ranks of a quantile's CI from the effective number of requests (section 7). n_exceed[j]
 * = requests that end in segment j with a latency above the quantile (the value of rank
 * stats_rank(sum n_requests, p)), n_requests[j] = all requests with such a latency that end there.
 * rate: the mean rate over the same segments (stats_mean), NULL or m 0: not known. Noise that
 * lasts shows in a rate sooner than in the few requests above a high quantile, so batches are no
 * shorter than those of the rate, and `stretches` is no larger than its. n_segments >= 1. */
bool stats_quantile(struct stats_ratio p, const int64_t *n_exceed, const int64_t *n_requests,
                    size_t n_segments, const struct stats_ci *rate, struct stats_quantile *out,
                    struct err *e);

/* Fills the five 0-based ranks to look up for q: value, 95 % limits, 90 % limits. Where there is no
 * limit, or q is not ok, the rank is that of the value. */
void stats_quantile_ranks(const struct stats_quantile *q, size_t ranks[5]);

/* Fills the CI from the values at the ranks of stats_quantile_ranks. */
void stats_quantile_ci(const struct stats_quantile *q, const int64_t values[5],
                       struct stats_ci *out);

/* Fills the median of the segments x[0..n-1] with its CI, by stats_quantile. */
bool stats_median_segment(const double *x, size_t n, struct stats_ci *out, struct err *e);

/* Correction for coordinated omission (--co-interval T): each latency v counts as v, v-T, v-2T ...
 * while >= T. stats_co_count returns the number of values after it (UINT64_MAX if more),
 * stats_co_value the value of a 1-based rank among them, exactly and without making the list.
 * interval >= 1, latencies >= 0, n >= 1. */
uint64_t stats_co_count(const int64_t *v, size_t n, int64_t interval);
int64_t stats_co_value(const int64_t *v, size_t n, int64_t interval, uint64_t rank);

/* ---- Section 8: comparisons; a = before, b = after ---- */

/* How the noise between whole runs is known: not at all, given as a CV, or measured from earlier
 * runs. */
enum stats_noise_kind { STATS_NOISE_UNKNOWN, STATS_NOISE_CV, STATS_NOISE_HISTORY };

struct stats_noise {
    enum stats_noise_kind kind;
    double sigma;     /* standard deviation of the log of the metric; 0 if unknown */
    size_t n_history; /* runs behind it (STATS_NOISE_HISTORY) */
};

/* Standard deviation (n-1) of the logs of n >= 3 positive values; false: fewer, or not positive. */
bool stats_history_sigma(const double *values, size_t n, double *sigma);

enum stats_method {
    STATS_MEANS,      /* single runs: t on the logs, by within-run errors */
    STATS_QUANTILES,  /* single runs: MOVER */
    STATS_DIFFERENCE, /* single runs: difference of two fractions */
    STATS_ONE_MANY,   /* one run against n >= 3 */
    STATS_WELCH,      /* 2 and more a side */
    STATS_PAIRS,      /* pairs of runs that were taken in turns */
};

struct stats_cmp {
    bool ok;
    const char *why;
    enum stats_method method;
    bool is_difference;        /* theta = after - before instead of ln(after/before) */
    size_t n_a, n_b;           /* runs */
    double theta;              /* the effect */
    double lo, hi, lo90, hi90; /* of theta */
    double p;                  /* two-sided; below .05 if 0 is not within lo .. hi */
    double t;                  /* test statistic: t, or z (STATS_QUANTILES) */
    double se, df;             /* of theta; df inf: normal; se 0: the runs do not vary */
    double sd;                 /* of the logs, pooled; of differences of pairs; NaN: single runs */
    struct stats_noise noise;  /* single runs */
    double break_even; /* largest sigma_run with p < .05 or alpha; NaN where sigma_run is known */
};

/* Compares two single runs (section 8) by STATS_MEANS (a and b from stats_mean), STATS_QUANTILES
 * (from stats_quantile_ci) or STATS_DIFFERENCE (error rates, from stats_error_rate; the standard
 * deviation of their run noise is sigma * rate). */
void stats_cmp_single(enum stats_method method, const struct stats_ci *a, const struct stats_ci *b,
                      struct stats_noise noise, struct stats_cmp *out);

/* Compares two groups of runs, one value a run: one run against n >= 3 by the error of predicting
 * one more, else by the t test of Welch (Biometrika 34, 1947, p. 28). Takes the logs of the values;
 * the values themselves if is_difference. Runs that do not vary at all are compared by their
 * order. */
bool stats_cmp_groups(const double *a, size_t n_a, const double *b, size_t n_b, bool is_difference,
                      struct stats_cmp *out, struct err *e);

/* A run of one of two sides. */
struct stats_turn {
    int64_t start, end; /* in any unit */
    double value;       /* a log, unless changes are differences */
    bool is_after;
};

enum stats_order {
    STATS_ANY_ORDER,
    STATS_IN_TURNS,    /* in pairs; each order in at least a quarter of them */
    STATS_FIXED_ORDER, /* in pairs; nearly all have the same side first */
    STATS_APART,       /* first all runs of one side, then all of the other */
};

/* Sorts the n runs by start, and pairs each with the next one if that is of the other side. Fills
 * the change, after - before, and the mean of each pair; both have room for n / 2. Returns the
 * order of the runs, which no value decides: STATS_ANY_ORDER if runs overlap, with fewer than four
 * pairs, or if more than an eighth of the runs has no pair. */
enum stats_order stats_pair(struct stats_turn *v, size_t n, double *change, double *mean,
                            size_t *n_pairs);

/* Tests the mean change of pairs by t with n_pairs - 1 degrees of freedom. In ABBA order a steady
 * drift adds to one change what it takes from the next: the mean stays, the interval widens. */
bool stats_cmp_pairs(const double *change, size_t n_pairs, bool is_difference,
                     struct stats_cmp *out, struct err *e);

/* Makes the intervals of a t test wider by `slack` on each side: by so much theta may be off, as
 * values are known only to bounds. p and se become those of the wider intervals. */
void stats_loosen(struct stats_cmp *c, double slack);

/* Makes the 95 % interval of theta one of 1 - alpha; alpha <= .05. */
void stats_widen(struct stats_cmp *c, double alpha);

/* Widens the interval, from 95 % on, by as much as an adjustment for many tests made p larger: with
 * alpha = .05 p / p_adjusted it leaves 0 out exactly if p_adjusted < .05. Nothing changes where
 * p_adjusted is not above p, or NaN. The break-even of single runs a and b, otherwise NULL, becomes
 * the sigma_run at which p reaches alpha. */
void stats_adjust(struct stats_cmp *c, const struct stats_ci *a, const struct stats_ci *b,
                  double p_adjusted);

/* Replaces the p-values by Holm's adjusted ones. NaN stays NaN and does not count as a test. */
bool stats_holm(double *p, size_t n, struct err *e);

enum stats_verdict {
    STATS_NOT_ENOUGH_DATA,
    STATS_SAME,            /* within delta */
    STATS_SAME_WITHIN_RUN, /* within delta, by within-run noise alone */
    STATS_BETTER,          /* "faster" */
    STATS_WORSE,           /* "slower" */
    STATS_DIFFERS,         /* a change only if runs repeat within the break-even CV */
    STATS_INCONCLUSIVE,
    STATS_NOT_JUDGED, /* for callers: the figure is shown, but means nothing here */
};

struct stats_question {
    bool up_is_better;
    double delta; /* region of equivalence (ln(1-delta), ln(1+delta)); of a difference, +-delta; 0:
                     none */
};

/* Whether the 90 % interval lies within the region of equivalence: two one-sided tests at 5 %
 * (Schuirmann, J. Pharmacokin. Biopharm. 15, 1987, p. 657). */
bool stats_is_same(const struct stats_cmp *c, double delta);

/* Returns the verdict, by the first rule of section 8 that applies. It depends on the intervals
 * alone, so that it cannot contradict them: adjust them first. *beyond: the verdict is a change,
 * and the whole 95 % interval lies beyond the region, ">= delta". */
enum stats_verdict stats_verdict(const struct stats_cmp *c, struct stats_question q, bool *beyond);

/* Smallest detectable effect of a comparison of single runs, as a fraction: exp(2.8 SE) - 1 (of a
 * difference, 2.8 SE). */
double stats_mde_single(const struct stats_cmp *c);

/* Smallest detectable effect of groups: the effect, in pooled standard deviations (of the logs),
 * that the test of stats_cmp_groups finds in 80 % of cases at p < .05 in a Holm family of n_family;
 * infinite where that cannot be. n_a 0: of n_b pairs, in standard deviations of their changes. A
 * deterministic simulation with normal values. The MDE is exp(factor * sd) - 1. It depends on its
 * arguments only: keep it for further metrics. */
bool stats_mde_groups(size_t n_a, size_t n_b, size_t n_family, double *factor, struct err *e);

/* Returns the one-sided p-value of "not worse than the limit"; a small one means worse. The limit
 * is one on theta. NaN: c is not ok. */
double stats_p_worse(const struct stats_cmp *c, double limit, bool up_is_better);

/* One gated metric. */
struct stats_gate {
    const struct stats_cmp *cmp;
    bool passes;    /* stats_gate_passes, unless more is known */
    double p_worse; /* stats_p_worse */
};

/* Limit on theta for an allowed worsening (fraction): ln(1-g) where up is better, else ln(1+g). */
double stats_gate_limit(double worsening, bool up_is_better);

/* The 90 % CI lies on the good side of the limit (stats_gate_limit). */
bool stats_gate_passes(const struct stats_cmp *c, double limit, bool up_is_better);

/* Exit code of the gate: EXIT_DONE if every metric passes, EXIT_FAILED if any Holm-adjusted p_worse
 * is < .025, else EXIT_UNDECIDED; EXIT_UNDECIDED in any case where run noise is unknown. *code is
 * set if true is returned. */
bool stats_gate_decide(const struct stats_gate *g, size_t n, enum exit_code *code, struct err *e);

/* Effect sizes of two samples, without p: Kolmogorov-Smirnov D = max |F_a - F_b| and
 * P(b < a) + P(b = a)/2. The samples, neither of them empty, are counts per bucket of two
 * histograms with the same buckets. */
struct stats_effect {
    double ks_d, p_b_less;
};
void stats_effect_counts(const uint64_t *a, const uint64_t *b, size_t n_buckets,
                         struct stats_effect *out);

/* One side of a comparison of several runs: the median c and the "+-" of its order-statistic CI
 * from lo to hi, max(hi/c-1, 1-lo/c); spread inf for n < 6. n >= 1. */
struct stats_center {
    double median, spread_frac;
};
bool stats_center(const double *values, size_t n, struct stats_center *out, struct err *e);

/* ---- Order statistics ---- */

/* Median of n >= 1 values, which get sorted; the middle two averaged. */
double stats_sort_median(double *v, size_t n);

/* The value of 0-based rank k among v[0..n-1], which is reordered; k < n. O(n). */
double stats_select(double *v, size_t n, size_t k);

#endif
