#include "analyze/stats/stats.h"

#include "analyze/stats/stats_internal.h"
#include "libcommon/mem.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fft_real.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* sum t(t-1)(2t+5) over groups of t equal values, in ascending v. */
static double kendall_ties(const double *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && v[next] == v[i]; next++)
            ;
        double t = (double)(next - i);
        sum += t * (t - 1) * (2 * t + 5);
    }
    return sum;
}

bool stats_trend(const double *x, size_t n, struct stats_trend *out, struct err *e)
{
    *out = (struct stats_trend){.p = 1};
    if (n < 2)
        return true;
    size_t n_pairs = n * (n - 1) / 2;
    double *slopes = NULL, *sorted = NULL;
    bool ok = mem_new(&slopes, n_pairs, e) && mem_new(&sorted, n, e);
    if (!ok)
        goto done;
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++) {
            out->s += (x[j] > x[i]) - (x[j] < x[i]);
            slopes[k++] = (x[j] - x[i]) / (double)(j - i);
        }
    }
    memcpy(sorted, x, n * sizeof *sorted);
    gsl_sort(sorted, 1, n);
    double b = (double)n;
    out->v = (b * (b - 1) * (2 * b + 5) - kendall_ties(sorted, n)) / 18;
    if (out->v > 0 && out->s != 0) {
        double z = (double)(out->s - (out->s > 0) + (out->s < 0)) / sqrt(out->v);
        out->p = 2 * gsl_cdf_ugaussian_Q(fabs(z));
    }
    out->slope = stats_sort_median(slopes, n_pairs);
done:
    free(slopes);
    free(sorted);
    return ok;
}

/* Finds the batch length that stats_bse chooses for x minus its straight line. */
static bool detrended_batch(const double *x, size_t n, size_t *m, struct err *e)
{
    struct stats_bse bse = {0};
    double *t = NULL, *residual = NULL, base, slope, variance[4];
    bool ok = mem_new(&t, n, e) && mem_new(&residual, n, e);

    for (size_t i = 0; ok && i < n; i++)
        t[i] = (double)i;
    if (ok)
        gsl_fit_linear(t, 1, x, 1, n, &base, &slope, &variance[0], &variance[1], &variance[2],
                       &variance[3]);
    for (size_t i = 0; ok && i < n; i++)
        residual[i] = x[i] - (base + slope * t[i]);
    ok = ok && stats_bse(residual, n, &bse, e);
    *m = bse.m;
    free(t);
    free(residual);
    return ok;
}

bool stats_drift(const double *x, size_t n, struct stats_drift *out, struct err *e)
{
    *out = (struct stats_drift){.p = 1};
    if (n < STATS_MIN_SEGMENTS)
        return true;
    size_t m = 1;
    if (!detrended_batch(x, n, &m, e))
        return false;
    double batch[20];
    size_t b = n / m < 20 ? n / m : 20, length = n / b;
    stats_batch_means(x, n, length, b, batch, 1);
    struct stats_trend trend;
    if (!stats_trend(batch, b, &trend, e))
        return false;
    double median = stats_sort_median(batch, b);
    *out = (struct stats_drift){.ok = trend.v > 0,
                                .m = m,
                                .b = b,
                                .s = trend.s,
                                .v = trend.v,
                                .p = trend.p,
                                .slope = trend.slope};
    /* Clip at -100 %: a straight line may fall below 0, a rate cannot. */
    out->change_frac = median != 0 ? fmax(trend.slope * (double)b / median, -1) : 0;
    out->reported = out->ok && out->p < .01 && fabs(out->change_frac) >= .05;
    return true;
}

bool stats_partition(const double *x, size_t n, size_t least, double beta, size_t *cuts,
                     size_t *n_cuts, double *cost, struct err *e)
{
    *n_cuts = 0;
    double *sum = NULL, *square = NULL;
    double *best = NULL; /* by t: least cost of the first t points */
    size_t *from = NULL; /* by t: where the last part begins */
    bool ok = mem_cleared(&sum, n + 1, e) && mem_cleared(&square, n + 1, e) &&
              mem_cleared(&best, n + 1, e) && mem_cleared(&from, n + 1, e);
    if (!ok)
        goto done;
    double centre = gsl_stats_mean(x, 1, n); /* subtracted, so that sums stay small and precise */
    for (size_t i = 0; i < n; i++) {
        double v = x[i] - centre;
        sum[i + 1] = sum[i] + v;
        square[i + 1] = square[i] + v * v;
    }
    for (size_t t = 1; t <= n; t++) {
        best[t] = fmax(square[t] - sum[t] * sum[t] / (double)t, 0);
        for (size_t s = least; s + least <= t; s++) {
            double part = sum[t] - sum[s];
            double sse = square[t] - square[s] - part * part / (double)(t - s);
            double total = best[s] + beta + fmax(sse, 0);

            if (total < best[t]) {
                best[t] = total;
                from[t] = s;
            }
        }
    }
    *cost = best[n];
    for (size_t t = from[n]; t > 0; t = from[t])
        cuts[(*n_cuts)++] = t;
    for (size_t i = 0; i < *n_cuts / 2; i++) {
        size_t other = *n_cuts - 1 - i, swap = cuts[i];
        cuts[i] = cuts[other];
        cuts[other] = swap;
    }
done:
    free(sum);
    free(square);
    free(best);
    free(from);
    return ok;
}

double stats_trimmed_square_jump(const double *x, size_t n, size_t k, size_t pct, double *buffer)
{
    size_t n_jumps = n - k, n_kept = n_jumps * pct / 100;
    double z = gsl_cdf_ugaussian_Pinv(.5 + (double)pct / 200);
    double kept = 1 - 2 * z * gsl_ran_ugaussian_pdf(z) / ((double)pct / 100);

    for (size_t i = 0; i < n_jumps; i++)
        buffer[i] = (x[i + k] - x[i]) * (x[i + k] - x[i]);
    gsl_sort(buffer, 1, n_jumps);
    return gsl_stats_mean(buffer, 1, n_kept) / kept;
}

void stats_fourier(double *v, size_t n)
{
    gsl_fft_real_radix2_transform(v, 1, n);
}
