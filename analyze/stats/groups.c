#include "analyze/stats/stats.h"

#include "analyze/stats/exactdist.h"
#include "analyze/stats/stats_internal.h"
#include "libcommon/mem.h"
#include "libcommon/splitmix.h"

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The smallest detectable effect is simulated. The cost of a draw grows with its pairs of runs, so
 * large groups get fewer draws, but enough for the 80 % quantile. */
#define DRAWN_PAIRS 10000000
#define MOST_DRAWS  10000
#define LEAST_DRAWS 400

static bool is_exact(size_t n_a, size_t n_b)
{
    return n_a <= EXACTDIST_MAX && n_b <= EXACTDIST_MAX;
}

/* Standard deviation of U without ties. */
static double u_sd(size_t n_a, size_t n_b)
{
    return sqrt((double)n_a * (double)n_b / 12 * (double)(n_a + n_b + 1));
}

bool stats_mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b,
                        struct stats_mann_whitney *out, struct err *e)
{
    size_t n = n_a + n_b;
    double *both = NULL, ties;
    uint64_t *ranks2 = NULL;
    bool ok = mem_new(&both, n, e) && mem_new(&ranks2, n, e);

    if (ok) {
        memcpy(both, a, n_a * sizeof *a);
        memcpy(both + n_a, b, n_b * sizeof *b);
        ok = exactdist_ranks(both, n, ranks2, &ties, e);
    }
    if (!ok)
        goto done;
    uint64_t sum2 = 0;
    for (size_t i = 0; i < n_a; i++)
        sum2 += ranks2[i];
    out->u = (double)(sum2 - (uint64_t)n_a * (n_a + 1)) / 2;
    out->exact = is_exact(n_a, n_b);
    if (out->exact) {
        ok = exactdist_mann_whitney(ranks2, n_a, n_b, &out->p_le, &out->p_ge, e);
    } else {
        double nm = (double)n_a * (double)n_b, all = (double)n;
        double sd = sqrt(nm / 12 * (all + 1 - ties / (all * (all - 1))));
        double off = out->u - nm / 2;

        out->p_le = sd > 0 ? gsl_cdf_ugaussian_P((off + .5) / sd) : 1;
        out->p_ge = sd > 0 ? gsl_cdf_ugaussian_Q((off - .5) / sd) : 1;
    }
    out->p = fmin(1, 2 * fmin(out->p_le, out->p_ge));
done:
    free(both);
    free(ranks2);
    return ok;
}

/* Smallest k with P(U <= k) >= prob, without ties. cdf: from u_cdf; NULL: U is normal. */
static size_t u_quantile(double prob, size_t n_a, size_t n_b, const double *cdf)
{
    if (cdf == NULL) {
        double k = (double)n_a * (double)n_b / 2 + gsl_cdf_ugaussian_Pinv(prob) * u_sd(n_a, n_b);
        return (size_t)fmax(0, ceil(k - .5));
    }
    size_t k = 0;
    while (cdf[k] < prob - 10 * DBL_EPSILON) /* a probability equal to prob counts */
        k++;
    return k;
}

/* Sets *cdf to the distribution of U, owned by the caller, or to NULL where it is normal. */
static bool u_cdf(size_t n_a, size_t n_b, double **cdf, struct err *e)
{
    *cdf = NULL;
    if (!is_exact(n_a, n_b))
        return true;
    if (mem_new(cdf, n_a * n_b + 1, e) && exactdist_wilcoxon_cdf(n_a, n_b, *cdf, e))
        return true;
    free(*cdf);
    *cdf = NULL;
    return false;
}

bool stats_hodges_lehmann(const double *a, size_t n_a, const double *b, size_t n_b,
                          struct stats_hodges_lehmann *out, struct err *e)
{
    double *cdf;
    if (!u_cdf(n_a, n_b, &cdf, e))
        return false;
    size_t n = n_a * n_b;
    double *diff;
    if (!mem_new(&diff, n, e)) {
        free(cdf);
        return false;
    }
    for (size_t i = 0; i < n_a; i++)
        for (size_t j = 0; j < n_b; j++)
            diff[i * n_b + j] = b[j] - a[i];
    out->shift = stats_sort_median(diff, n);
    size_t k = u_quantile(.025, n_a, n_b, cdf), k90 = u_quantile(.05, n_a, n_b, cdf);
    k = k < 1 ? 1 : k;
    k90 = k90 < 1 ? 1 : k90;
    out->lo = diff[k - 1];
    out->hi = diff[n - k];
    out->lo90 = diff[k90 - 1];
    out->hi90 = diff[n - k90];
    free(diff);
    free(cdf);
    return true;
}

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
 * is a single run, the error of predicting one more run of the other group. */
static void difference_error(double sd_a, size_t n_a, double sd_b, size_t n_b, double *se,
                             double *df)
{
    if (n_a == 1 || n_b == 1) {
        size_t n = n_a > n_b ? n_a : n_b;
        *se = fmax(sd_a, sd_b) * sqrt(1 + 1 / (double)n);
        *df = (double)n - 1;
        return;
    }
    double v;
    stats_welch(sd_a * sd_a / (double)n_a, (double)(n_a - 1), sd_b * sd_b / (double)n_b,
                (double)(n_b - 1), 0, &v, df);
    *se = sqrt(v);
}

static bool cmp_by_t(const double *a, size_t n_a, const double *b, size_t n_b,
                     struct stats_cmp *out, struct err *e)
{
    double sd_a = sd_of(a, n_a), sd_b = sd_of(b, n_b);
    out->theta = gsl_stats_mean(b, 1, n_b) - gsl_stats_mean(a, 1, n_a);
    if (sd_a == 0 && sd_b == 0) {
        out->why = "no variation between runs";
        return true;
    }
    difference_error(sd_a, n_a, sd_b, n_b, &out->se, &out->df);
    stats_t_test(out);
    if (isnan(out->p) || isnan(out->lo) || isnan(out->lo90))
        return err_set(e, "no t distribution with %g degrees of freedom", out->df);
    out->ok = true;
    return true;
}

static bool cmp_by_ranks(const double *a, size_t n_a, const double *b, size_t n_b,
                         struct stats_cmp *out, struct err *e)
{
    struct stats_mann_whitney test;
    struct stats_hodges_lehmann hl;

    if (!stats_mann_whitney(a, n_a, b, n_b, &test, e) ||
        !stats_hodges_lehmann(a, n_a, b, n_b, &hl, e))
        return false;
    out->p = test.p;
    out->t = test.u;
    out->theta = hl.shift;
    out->lo = hl.lo;
    out->hi = hl.hi;
    out->lo90 = hl.lo90;
    out->hi90 = hl.hi90;
    out->ok = true;
    return true;
}

static enum stats_method group_method(size_t n_a, size_t n_b)
{
    size_t n = n_a < n_b ? n_a : n_b;
    return n == 1 ? STATS_ONE_MANY : n <= 3 ? STATS_WELCH : STATS_MANN_WHITNEY;
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
        ok = out->method == STATS_MANN_WHITNEY ? cmp_by_ranks(x, n_a, y, n_b, out, e)
                                               : cmp_by_t(x, n_a, y, n_b, out, e);
    }
    free(x);
    free(y);
    return ok;
}

bool stats_p_worse_groups(const struct stats_cmp *c, const double *a, const double *b, double limit,
                          bool up_is_better, double *p, struct err *e)
{
    *p = stats_p_worse(c, limit, up_is_better);
    if (!c->ok || c->method != STATS_MANN_WHITNEY)
        return true;
    bool usable = true;
    double *x = NULL, *y = NULL;
    bool ok = transformed(a, c->n_a, c->is_difference, &x, &usable, e) &&
              transformed(b, c->n_b, c->is_difference, &y, &usable, e);
    if (ok) {
        for (size_t i = 0; i < c->n_b; i++)
            y[i] -= limit;
        struct stats_mann_whitney test;
        ok = stats_mann_whitney(x, c->n_a, y, c->n_b, &test, e);
        if (ok)
            *p = up_is_better ? test.p_ge : test.p_le; /* U is large where `before` is larger */
    }
    free(x);
    free(y);
    return ok;
}

/* Returns the next of a fixed sequence of standard normal values. */
static double next_normal(uint64_t *state)
{
    uint64_t z = splitmix_spread(*state += SPLITMIX_STEP);

    return gsl_cdf_ugaussian_Pinv(((double)(z >> 11) + .5) * 0x1p-53);
}

/* Smallest U of the upper tail whose two-sided p is below alpha; n_a * n_b + 1: none. */
static size_t u_critical(size_t n_a, size_t n_b, const double *cdf, double alpha)
{
    size_t nm = n_a * n_b;
    if (cdf == NULL) {
        double z = gsl_cdf_ugaussian_Qinv(alpha / 2);
        return (size_t)fmin((double)nm + 1, floor((double)nm / 2 + .5 + z * u_sd(n_a, n_b)) + 1);
    }
    size_t tail = 0; /* P(U >= nm - k) = cdf[k] */
    while (tail <= nm && 2 * cdf[tail] < alpha)
        tail++;
    return nm + 1 - tail;
}

/* Returns the smallest shift of y that the test of x against y detects. The test statistic grows
 * with the shift, so all larger shifts are detected too. `critical` (from u_critical) is for
 * Mann-Whitney; `diff` has room for n_x * n_y values. */
static double found_from(const double *x, size_t n_x, const double *y, size_t n_y,
                         enum stats_method method, size_t critical, double alpha, double *diff)
{
    if (method == STATS_MANN_WHITNEY) {
        for (size_t i = 0; i < n_x; i++)
            for (size_t j = 0; j < n_y; j++)
                diff[i * n_y + j] = x[i] - y[j];
        return gsl_stats_select(diff, 1, n_x * n_y, critical - 1);
    }
    double se, df;
    difference_error(sd_of(x, n_x), n_x, sd_of(y, n_y), n_y, &se, &df);
    double needed = stats_t_quantile(1 - alpha / 2, df) * se;
    return needed - (gsl_stats_mean(y, 1, n_y) - gsl_stats_mean(x, 1, n_x));
}

bool stats_mde_groups(size_t n_a, size_t n_b, size_t n_family, double *factor, struct err *e)
{
    *factor = INFINITY;
    if (n_a == 0 || n_b == 0 || (n_a < 3 && n_b < 3 && (n_a == 1 || n_b == 1)))
        return true;
    /* Holm's first step: the level that a metric must reach if it alone changes. */
    double alpha = .05 / (double)(n_family > 0 ? n_family : 1);
    enum stats_method method = group_method(n_a, n_b);
    size_t n_pairs = n_a * n_b, critical = 0;
    if (method == STATS_MANN_WHITNEY) {
        double *cdf;
        if (!u_cdf(n_a, n_b, &cdf, e))
            return false;
        critical = u_critical(n_a, n_b, cdf, alpha);
        free(cdf);
        if (critical > n_pairs)
            return true;
    }
    size_t n_draws = DRAWN_PAIRS / n_pairs;
    n_draws = n_draws > MOST_DRAWS ? MOST_DRAWS : n_draws < LEAST_DRAWS ? LEAST_DRAWS : n_draws;
    double *values = NULL;
    double *diff = NULL, *found = NULL;
    bool ok =
        mem_new(&values, n_a + n_b, e) && mem_new(&diff, n_pairs, e) && mem_new(&found, n_draws, e);
    if (!ok)
        goto done;
    uint64_t state = 1;
    for (size_t r = 0; r < n_draws; r++) {
        for (size_t i = 0; i < n_a + n_b; i++)
            values[i] = next_normal(&state);
        found[r] = found_from(values, n_a, values + n_a, n_b, method, critical, alpha, diff);
    }
    gsl_sort(found, 1, n_draws);
    *factor = found[n_draws * 4 / 5];
done:
    free(values);
    free(diff);
    free(found);
    return ok;
}
