#include "analyze/stats/stats.h"

#include "analyze/stats/stats_internal.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/splitmix.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The smallest detectable effect is simulated. Large groups get fewer draws, but enough for the
 * effect that 80 % of them find. */
#define DRAWN_VALUES 1000000
#define MOST_DRAWS   10000
#define LEAST_DRAWS  400

/* Copies the values, as logs unless is_difference. Clears *usable if a value has no finite log, or
 * is not finite itself. */
static bool transformed(const double *v, size_t n, bool is_difference, double **out, bool *usable,
                        struct err *e)
{
    if (!mem_new(out, n, e))
        return false;
    for (size_t i = 0; i < n; i++) {
        *usable = *usable && (is_difference ? isfinite(v[i]) : v[i] > 0 && isfinite(v[i]));
        (*out)[i] = is_difference ? v[i] : log(v[i]);
    }
    return true;
}

static double sd_of(const double *v, size_t n)
{
    return n > 1 ? gsl_stats_sd(v, 1, n) : 0;
}

static double pooled_sd(double sd_a, size_t n_a, double sd_b, size_t n_b)
{
    double sum = (double)(n_a - 1) * sd_a * sd_a + (double)(n_b - 1) * sd_b * sd_b;
    return sqrt(sum / (double)(n_a + n_b - 2));
}

/* Standard error and degrees of freedom of the difference of two groups' means: Welch, or where one
 * is a single run, the error of predicting one more run of the other group. n_a 0: of one mean. */
static void difference_error(double sd_a, size_t n_a, double sd_b, size_t n_b, double *se,
                             double *df)
{
    if (n_a == 1 || n_b == 1) {
        size_t n = n_a > n_b ? n_a : n_b;
        *se = fmax(sd_a, sd_b) * sqrt(1 + 1 / (double)n);
        *df = (double)n - 1;
        return;
    }
    double v, v_a = n_a > 0 ? sd_a * sd_a / (double)n_a : 0;
    stats_welch(v_a, (double)(n_a - 1), sd_b * sd_b / (double)n_b, (double)(n_b - 1), 0, &v, df);
    *se = sqrt(v);
}

/* Compares sides without any variation by Fisher's permutation test (The Design of Experiments,
 * 1935, chapter 3): at most two of the ways to choose the runs of a side, or of each pair, give a
 * difference as large. */
static void cmp_by_order(struct stats_cmp *c)
{
    double n_ways = c->method == STATS_PAIRS
                        ? ldexp(1, (int)c->n_a)
                        : gsl_sf_choose((unsigned)(c->n_a + c->n_b), (unsigned)c->n_a);

    c->se = 0;
    c->df = INFINITY;
    c->p = c->theta == 0 ? 1 : fmin(1, 2 / n_ways);
    c->t = c->theta == 0 ? 0 : copysign(INFINITY, c->theta);
    c->ok = true;
    stats_widen(c, .1);
    c->lo90 = c->lo;
    c->hi90 = c->hi;
    stats_widen(c, .05);
}

static bool cmp_by_t(const double *a, size_t n_a, const double *b, size_t n_b,
                     struct stats_cmp *out, struct err *e)
{
    double sd_a = sd_of(a, n_a), sd_b = sd_of(b, n_b);
    out->theta = gsl_stats_mean(b, 1, n_b) - gsl_stats_mean(a, 1, n_a);
    if (sd_a == 0 && sd_b == 0) {
        cmp_by_order(out);
        return true;
    }
    difference_error(sd_a, n_a, sd_b, n_b, &out->se, &out->df);
    stats_t_test(out);
    if (isnan(out->p) || isnan(out->lo) || isnan(out->lo90))
        return err_set(e, "no t distribution with %g degrees of freedom", out->df);
    out->ok = true;
    return true;
}

static enum stats_method group_method(size_t n_a, size_t n_b)
{
    size_t n = n_a < n_b ? n_a : n_b;
    return n == 1 ? STATS_ONE_MANY : STATS_WELCH;
}

bool stats_cmp_groups(const double *a, size_t n_a, const double *b, size_t n_b, bool is_difference,
                      struct stats_cmp *out, struct err *e)
{
    *out = stats_no_cmp(group_method(n_a, n_b), n_a, n_b, is_difference);
    if (n_a == 0 || n_b == 0)
        out->why = "no runs on one side";
    else if (out->method == STATS_ONE_MANY && n_a < 3 && n_b < 3)
        out->why = "one run needs at least 3 on the other side";
    if (*out->why != '\0')
        return true;
    bool usable = true;
    double *x = NULL, *y = NULL;
    bool ok = transformed(a, n_a, is_difference, &x, &usable, e) &&
              transformed(b, n_b, is_difference, &y, &usable, e);
    if (ok && !usable) {
        out->why = is_difference ? "a run has no value" : "a value is not positive";
    } else if (ok) {
        out->sd = pooled_sd(sd_of(x, n_a), n_a, sd_of(y, n_b), n_b);
        ok = cmp_by_t(x, n_a, y, n_b, out, e);
    }
    free(x);
    free(y);
    return ok;
}

/* docs/how-the-numbers-are-made.md, section 8, shows what other limits would do. */
#define LEAST_PAIRS 4
#define MOST_SHARE  4 /* one of so many pairs has the rarer order */
#define MOST_LEFT   8 /* one of so many runs may have no pair */

static int by_start(const void *a, const void *b)
{
    return int64_order(((const struct stats_turn *)a)->start,
                       ((const struct stats_turn *)b)->start);
}

enum stats_order stats_pair(struct stats_turn *v, size_t n, double *change, double *mean,
                            size_t *n_pairs)
{
    size_t m = 0, n_reversed = 0, n_changes = 0, next = 0; /* next: the first without a pair */
    bool overlap = false;

    qsort(v, n, sizeof *v, by_start);
    for (size_t i = 1; i < n; i++) {
        overlap |= v[i].start < v[i - 1].end;
        if (v[i].is_after == v[i - 1].is_after)
            continue;
        n_changes += v[i].start > v[i - 1].start ? 1 : 2; /* at once: which is first is not known */
        if (i - 1 < next)
            continue;
        change[m] = (v[i].value - v[i - 1].value) * (v[i].is_after ? 1 : -1);
        mean[m++] = (v[i].value + v[i - 1].value) / 2;
        n_reversed += v[i - 1].is_after;
        next = i + 1;
    }
    *n_pairs = m;
    if (n_changes == 1)
        return STATS_APART;
    if (overlap || m < LEAST_PAIRS || MOST_LEFT * (n - 2 * m) > n)
        return STATS_ANY_ORDER;
    size_t rarer = n_reversed < m - n_reversed ? n_reversed : m - n_reversed;
    return MOST_SHARE * rarer >= m ? STATS_IN_TURNS : STATS_FIXED_ORDER;
}

bool stats_cmp_pairs(const double *change, size_t n_pairs, bool is_difference,
                     struct stats_cmp *out, struct err *e)
{
    *out = stats_no_cmp(STATS_PAIRS, n_pairs, n_pairs, is_difference);
    out->sd = sd_of(change, n_pairs);
    return !isfinite(out->sd) || cmp_by_t(NULL, 0, change, n_pairs, out, e);
}

/* Returns the next of a fixed sequence of standard normal values. */
static double next_normal(uint64_t *state)
{
    uint64_t z = splitmix_spread(*state += SPLITMIX_STEP);

    return gsl_cdf_ugaussian_Pinv(((double)(z >> 11) + .5) * 0x1p-53);
}

/* Returns the smallest shift of y that the test of x against y detects. The test statistic grows
 * with the shift, so all larger shifts are detected too. */
static double found_from(const double *x, size_t n_x, const double *y, size_t n_y, double alpha)
{
    double se, df;
    difference_error(sd_of(x, n_x), n_x, sd_of(y, n_y), n_y, &se, &df);
    double needed = stats_t_quantile(1 - alpha / 2, df) * se;
    return needed - (gsl_stats_mean(y, 1, n_y) - gsl_stats_mean(x, 1, n_x));
}

bool stats_mde_groups(size_t n_a, size_t n_b, size_t n_family, double *factor, struct err *e)
{
    *factor = INFINITY;
    if (n_b == 0 || (n_a < 3 && n_b < 3 && (n_a == 1 || n_b == 1)))
        return true;
    /* Holm's first step: the level that a metric must reach if it alone changes. */
    double alpha = .05 / (double)(n_family > 0 ? n_family : 1);
    size_t n = n_a + n_b, n_draws = DRAWN_VALUES / n;
    n_draws = n_draws > MOST_DRAWS ? MOST_DRAWS : n_draws < LEAST_DRAWS ? LEAST_DRAWS : n_draws;
    double *values = NULL, *found = NULL;
    bool ok = mem_new(&values, n, e) && mem_new(&found, n_draws, e);
    uint64_t state = 1;

    for (size_t r = 0; ok && r < n_draws; r++) {
        for (size_t i = 0; i < n; i++)
            values[i] = next_normal(&state);
        found[r] = found_from(values, n_a, values + n_a, n_b, alpha);
    }
    if (ok) {
        gsl_sort(found, 1, n_draws);
        *factor = found[n_draws * 4 / 5];
    }
    free(values);
    free(found);
    return ok;
}

/* ---- Sizes of effects ---- */

void stats_effect_counts(const uint64_t *a, const uint64_t *b, size_t n_buckets,
                         struct stats_effect *out)
{
    uint64_t n_a = 0, n_b = 0, passed_a = 0, passed_b = 0;
    unsigned __int128 b_less2 = 0; /* twice the pairs with b < a, ties counted once */
    double ks_d = 0;

    for (size_t i = 0; i < n_buckets; i++) {
        n_a += a[i];
        n_b += b[i];
    }
    for (size_t i = 0; i < n_buckets; i++) {
        if (a[i] == 0 && b[i] == 0)
            continue;
        b_less2 += (unsigned __int128)a[i] * (2 * passed_b + b[i]);
        passed_a += a[i];
        passed_b += b[i];
        ks_d = fmax(ks_d, fabs((double)passed_a / (double)n_a - (double)passed_b / (double)n_b));
    }
    *out = (struct stats_effect){ks_d, (double)b_less2 / 2 / ((double)n_a * (double)n_b)};
}

bool stats_center(const double *values, size_t n, struct stats_center *out, struct err *e)
{
    double *sorted;
    if (!mem_new(&sorted, n, e))
        return false;
    memcpy(sorted, values, n * sizeof *sorted);
    double c = stats_sort_median(sorted, n);
    uint64_t l, u;
    stats_binomial_ranks(n, .5, .95, &l, &u);
    *out = (struct stats_center){c, INFINITY};
    if (l >= 1 && u <= n && c > 0)
        out->spread_frac = fmax(sorted[u - 1] / c - 1, 1 - sorted[l - 1] / c);
    free(sorted);
    return true;
}
