#include "analyze/stats/stats.h"

#include "analyze/stats/stats_internal.h"
#include "libcommon/mem.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_version.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void stats_init(void)
{
    gsl_set_error_handler_off();
}

const char *stats_version_gsl(void)
{
    return gsl_version;
}

int64_t stats_segment_width_ns(int64_t window_ns)
{
    static const int64_t widths_ms[] = {10000, 5000, 2000, 1000, 500, 200, 100, 50, 20, 10};
    const size_t n = sizeof widths_ms / sizeof *widths_ms;

    for (size_t i = 0; i < n; i++) {
        int64_t width = widths_ms[i] * 1000000;
        if (window_ns / width >= 120)
            return width;
    }
    return widths_ms[n - 1] * 1000000;
}

void stats_batch_means(const double *x, size_t n, size_t m, size_t b, double *y, size_t stride)
{
    const double *first = x + (n - b * m);
    for (size_t j = 0; j < b; j++)
        y[j * stride] = m > 1 ? gsl_stats_mean(first + j * m, 1, m) : first[j];
}

/* Like stats_bse, but batches have at least least_m points, if there are 10 of them. */
static bool bse_from(const double *x, size_t n, size_t least_m, struct stats_bse *out,
                     struct err *e)
{
    *out = (struct stats_bse){.m = 1, .b = n};
    if (n < 2)
        return true;
    if (least_m > n / 10)
        least_m = n / 10;
    double *y;
    if (!mem_new(&y, n, e))
        return false;
    double v;
    for (size_t m = least_m > 1 ? least_m : 1;;) {
        size_t b = n / m;
        stats_batch_means(x, n, m, b, y, 1);
        v = gsl_stats_tss_m(y, 1, b, gsl_stats_mean(y, 1, b));
        out->m = m;
        out->b = b;
        out->c = 0;
        if (v == 0)
            break;
        double jumps = 0;
        for (size_t j = 0; j + 1 < b; j++)
            jumps += (y[j + 1] - y[j]) * (y[j + 1] - y[j]);
        out->c = 1 - jumps / (2 * v);
        double z = out->c / sqrt(((double)b - 2) / ((double)b * (double)b - 1));
        if (z < 1.2815515655) /* one-sided 10 %: no correlation left between batches */
            break;
        size_t longer = (size_t)ceil((double)m * sqrt(2));
        if (longer < m + 1)
            longer = m + 1;
        if (n / longer < 10)
            longer = n / 10;
        if (longer <= m)
            break;
        m = longer;
    }
    free(y);
    double b = (double)out->b, r = fmin(fmax(out->c, 0), .9);
    out->df = b - 1;
    out->se = sqrt(v / (b * (b - 1)) * (1 + r) / (1 - r));
    out->lrv = (double)n * out->se * out->se;
    return true;
}

bool stats_bse(const double *x, size_t n, struct stats_bse *out, struct err *e)
{
    return bse_from(x, n, 1, out, e);
}

/* value +- t * se at both levels. */
static bool t_limits(double value, double se, double df, size_t m, struct stats_ci *out,
                     struct err *e)
{
    double half = stats_t_quantile(.975, df) * se, half90 = stats_t_quantile(.95, df) * se;
    if (!isfinite(half) || !isfinite(half90))
        return err_set(e, "no quantile of the t distribution with %g degrees of freedom", df);
    *out = (struct stats_ci){.ok = true,
                             .why = "",
                             .value = value,
                             .lo = value - half,
                             .hi = value + half,
                             .lo90 = value - half90,
                             .hi90 = value + half90,
                             .se = se,
                             .df = df,
                             .m = m};
    return true;
}

bool stats_mean(double mean, const double *rate, size_t n, int64_t n_requests, struct stats_ci *out,
                struct err *e)
{
    *out = stats_no_ci(mean, stats_too_few(n, (uint64_t)n_requests));
    if (*out->why != '\0')
        return true;
    struct stats_bse bse;
    if (!stats_bse(rate, n, &bse, e) || !t_limits(mean, bse.se, bse.df, bse.m, out, e))
        return false;
    out->lo = fmax(out->lo, 0);
    out->lo90 = fmax(out->lo90, 0);
    out->stretches = stats_stretches(rate, n);
    return true;
}

void stats_take_failures(double *rate, const int64_t *errors, const int64_t *n_requests, size_t n)
{
    double mean = 0, mean_share = 0, with_share = 0, of_share = 0, share = 1;

    /* A segment in which no request ended has the share of the one before it. */
    for (size_t j = 0; j < n; j++) {
        share = n_requests[j] > 0 ? 1 - (double)errors[j] / (double)n_requests[j] : share;
        double off = share - mean_share, k = (double)j + 1;

        mean_share += off / k;
        with_share += off * (rate[j] - mean) * (k - 1) / k;
        of_share += off * (share - mean_share);
        mean += (rate[j] - mean) / k;
    }
    double slope = of_share > 0 ? fmax(with_share / of_share, 0) : 0;
    share = 1;
    for (size_t j = 0; j < n; j++) {
        share = n_requests[j] > 0 ? 1 - (double)errors[j] / (double)n_requests[j] : share;
        rate[j] -= slope * (share - mean_share);
    }
}

/* Fills the CI of a ratio: sum[j] of what the n_j[j] requests that end in segment j add up to, by
 * stats_bse_counts with batches of at least least_m segments. ratio NaN: that of the segments. */
static bool fill_ratio(double ratio, const int64_t *sum, const int64_t *n_j, size_t n_segments,
                       size_t least_m, struct stats_ci *out, struct err *e)
{
    double n = 0, all = 0, stretches;
    struct stats_bse bse;

    for (size_t j = 0; j < n_segments; j++) {
        n += (double)n_j[j];
        all += (double)sum[j];
    }
    if (isnan(ratio) && n > 0)
        ratio = all / n;
    *out = stats_no_ci(ratio, stats_too_few(n_segments, (uint64_t)n));
    if (*out->why != '\0')
        return true;
    if (!stats_bse_counts(sum, n_j, n_segments, least_m, &bse, &stretches, e) ||
        !t_limits(ratio, bse.se / (n / (double)n_segments), bse.df, bse.m, out, e))
        return false;
    out->lo = fmax(out->lo, 0);
    out->lo90 = fmax(out->lo90, 0);
    out->stretches = stretches;
    return true;
}

bool stats_mean_of_requests(double mean, const int64_t *sum, const int64_t *n_requests,
                            size_t n_segments, const struct stats_ci *rate, struct stats_ci *out,
                            struct err *e)
{
    bool has_rate = rate != NULL && rate->m > 0;
    bool ok = fill_ratio(mean, sum, n_requests, n_segments, has_rate ? rate->m : 1, out, e);

    if (has_rate)
        out->stretches = fmin(out->stretches, rate->stretches);
    return ok;
}

bool stats_error_rate(double frac, const int64_t *errors, const int64_t *n_requests,
                      size_t n_segments, struct stats_ci *out, struct err *e)
{
    if (!fill_ratio(frac, errors, n_requests, n_segments, 1, out, e))
        return false;
    out->stretches = 0; /* failures that come in bursts have an interval of their own: Wilson's */
    if (!out->ok)
        return true;
    out->hi = fmin(out->hi, 1);
    out->hi90 = fmin(out->hi90, 1);
    return true;
}

void stats_wilson(double frac, double n, double se, double df, double *lo, double *hi)
{
    const double z = 1.959964;
    double variance = frac * (1 - frac) / n;

    if (se * se > variance && variance > 0) {
        double shrink = z / stats_t_quantile(.975, df);
        n *= variance / (se * se) * (isfinite(shrink) ? shrink * shrink : 1);
    }
    double middle = (frac + z * z / (2 * n)) / (1 + z * z / n);
    double half = z / (1 + z * z / n) * sqrt(frac * (1 - frac) / n + z * z / (4 * n * n));
    *lo = frac > 0 ? fmax(middle - half, 0) : 0;
    *hi = frac < 1 ? fmin(middle + half, 1) : 1;
}

void stats_widen_few(struct stats_ci *ci, const int64_t *errors, const int64_t *n_requests,
                     size_t n)
{
    double ok = 0, all = 0, lo, hi;
    size_t n_with = 0;

    for (size_t j = 0; j < n; j++) {
        ok += (double)(n_requests[j] - errors[j]);
        all += (double)n_requests[j];
        n_with += n_requests[j] > errors[j];
    }
    if (!ci->ok || ok == 0 || ok == all || *stats_too_few(n_with, (uint64_t)ok) == '\0')
        return;
    stats_wilson(ok / all, all, 0, INFINITY, &lo, &hi);
    ci->se = fmax(ci->se, ci->value * sqrt((1 - ok / all) / ok));
    ci->lo = fmin(ci->lo, ci->value * lo * all / ok);
    ci->lo90 = fmin(ci->lo90, ci->value * lo * all / ok);
    ci->hi = fmax(ci->hi, ci->value * hi * all / ok);
    ci->hi90 = fmax(ci->hi90, ci->value * hi * all / ok);
}

bool stats_bse_counts(const int64_t *y, const int64_t *n_j, size_t n_segments, size_t least_m,
                      struct stats_bse *out, double *stretches, struct err *e)
{
    double *residual;
    if (!mem_new(&residual, n_segments, e))
        return false;
    __int128 n = 0, n_y = 0;
    for (size_t j = 0; j < n_segments; j++) {
        n += n_j[j];
        n_y += y[j];
    }
    /* y_j - (sum y / N) n_j over the common denominator: exactly 0 where it should be. */
    for (size_t j = 0; j < n_segments; j++)
        residual[j] = n > 0 ? (double)(y[j] * n - n_y * n_j[j]) / (double)n : 0;
    bool ok = bse_from(residual, n_segments, least_m, out, e);
    *stretches = stats_stretches(residual, n_segments);
    free(residual);
    return ok;
}

double stats_sort_median(double *v, size_t n)
{
    gsl_sort(v, 1, n);
    return gsl_stats_median_from_sorted_data(v, 1, n);
}

double stats_select(double *v, size_t n, size_t k)
{
    return gsl_stats_select(v, 1, n, k);
}

#define MOST_POINTS 240 /* longer series are averaged to so many means, which keep slow noise */

double stats_stretches(const double *x, size_t n)
{
    double off[MOST_POINTS] = {0}, at_lag[2] = {0}, variance = 0, sum = 0, most = 0;
    size_t m = (n + MOST_POINTS - 1) / MOST_POINTS, b = n / (m > 0 ? m : 1);

    if (n == 0)
        return 0;
    stats_batch_means(x, n, m, b, off, 1);
    double mean = gsl_stats_mean(off, 1, b);
    for (size_t i = 0; i < b; i++) {
        off[i] -= mean;
        variance += off[i] * off[i];
    }
    for (size_t k = 1; k + 1 < b; k += 2) {
        for (size_t j = 0; j < 2; j++) {
            at_lag[j] = 0;
            for (size_t i = 0; i + k + j < b; i++)
                at_lag[j] += off[i] * off[i + k + j];
        }
        if (at_lag[0] + at_lag[1] <= 0)
            break;
        sum += at_lag[0] + at_lag[1];
        most = fmax(most, fmax(at_lag[0], at_lag[1]));
    }
    return 2 * sum > variance ? (double)b / (1 + 2 * sum / most) : (double)b;
}

/* ---- Distributions ---- */

double stats_t_quantile(double p, double df)
{
    return isinf(df) ? gsl_cdf_ugaussian_Pinv(p) : gsl_cdf_tdist_Pinv(p, df);
}

double stats_dist_t_upper(double t, double df)
{
    return isinf(df) ? gsl_cdf_ugaussian_Q(t) : gsl_cdf_tdist_Q(t, df);
}

double stats_dist_t_two_sided(double t, double df)
{
    double p = 2 * stats_dist_t_upper(fabs(t), df);
    return p > 1 ? 1 : p;
}

double stats_poisson_upper(double k, double mean)
{
    return k < 1 ? 1 : mean > 0 ? gsl_cdf_poisson_Q((unsigned)k - 1, mean) : 0;
}

double stats_binomial_upper(double k, double n, double p)
{
    return k < 1 ? 1 : gsl_cdf_binomial_Q((unsigned)k - 1, p, (unsigned)n);
}
