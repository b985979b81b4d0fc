#include "analyze/stats/stats.h"

#include "analyze/stats/ranks.h"
#include "analyze/stats/stats_internal.h"
#include "libcommon/mem.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

double stats_select(double *v, size_t n, size_t k)
{
    return gsl_stats_select(v, 1, n, k);
}

/* Coefficient of variation: standard deviation (n-1) over mean. NaN for n < 2. */
static double cv(const double *x, size_t n)
{
    return n < 2 ? NAN : gsl_stats_sd(x, 1, n) / gsl_stats_mean(x, 1, n);
}

bool stats_friedman(const double *x, size_t n_blocks, size_t k, double *q, double *p, struct err *e)
{
    double *sum = NULL, all_ties = 0;
    uint64_t *ranks2 = NULL;
    bool ok = mem_cleared(&sum, k, e) && mem_new(&ranks2, k, e);

    for (size_t i = 0; ok && i < n_blocks; i++) {
        double ties;
        ok = ranks_of(x + i * k, k, ranks2, &ties, e);
        for (size_t h = 0; ok && h < k; h++)
            sum[h] += (double)ranks2[h] / 2;
        all_ties += ok ? ties : 0;
    }
    if (!ok)
        goto done;
    double b = (double)n_blocks, hosts = (double)k, squares = 0;
    for (size_t h = 0; h < k; h++) {
        double off = sum[h] - b * (hosts + 1) / 2;
        squares += off * off;
    }
    double scale = k > 1 ? b * hosts * (hosts + 1) - all_ties / (hosts - 1) : 0;
    *q = scale > 0 ? 12 * squares / scale : 0;
    *p = scale > 0 ? gsl_cdf_chisq_Q(*q, hosts - 1) : 1;
done:
    free(sum);
    free(ranks2);
    return ok;
}

/* Finds the largest batch length that stats_bse chooses for a host's series minus the mean of all
 * hosts. */
static bool host_batch(const double *x, size_t n_hosts, size_t n, size_t *m, struct err *e)
{
    double *mean = NULL, *off = NULL;
    bool ok = mem_cleared(&mean, n, e) && mem_new(&off, n, e);

    for (size_t h = 0; ok && h < n_hosts; h++)
        for (size_t j = 0; j < n; j++)
            mean[j] += x[h * n + j] / (double)n_hosts;
    *m = 1;
    for (size_t h = 0; ok && h < n_hosts; h++) {
        for (size_t j = 0; j < n; j++)
            off[j] = x[h * n + j] - mean[j];
        struct stats_bse bse;
        ok = stats_bse(off, n, &bse, e);
        if (ok && bse.m > *m)
            *m = bse.m;
    }
    free(mean);
    free(off);
    return ok;
}

bool stats_hosts(const double *x, size_t n_hosts, size_t n_segments, struct stats_hosts *out,
                 struct err *e)
{
    *out = (struct stats_hosts){.p = 1, .cv_frac = NAN};
    if (n_hosts < 2 || n_segments < STATS_MIN_SEGMENTS)
        return true;
    if (!host_batch(x, n_hosts, n_segments, &out->m, e))
        return false;
    out->b = n_segments / out->m;
    double *mean = NULL, *block = NULL; /* row = batch, column = host */
    bool ok = mem_new(&mean, n_hosts, e) && mem_cleared(&block, out->b * n_hosts, e);
    if (!ok)
        goto done;
    for (size_t h = 0; h < n_hosts; h++) {
        const double *series = x + h * n_segments;
        mean[h] = gsl_stats_mean(series, 1, n_segments);
        stats_batch_means(series, n_segments, out->m, out->b, block + h, n_hosts);
    }
    double all = gsl_stats_mean(mean, 1, n_hosts);
    for (size_t h = 0; h < n_hosts && all > 0; h++)
        out->max_deviation_frac = fmax(out->max_deviation_frac, fabs(mean[h] / all - 1));
    out->cv_frac = cv(mean, n_hosts);
    out->df = (double)n_hosts - 1;
    ok = stats_friedman(block, out->b, n_hosts, &out->q, &out->p, e);
    out->ok = ok;
    out->reported = ok && out->p < .01 && out->max_deviation_frac >= .05;
done:
    free(mean);
    free(block);
    return ok;
}

/* Ratios of the median and the mean absolute deviation to the standard deviation of a normal
 * distribution: its quartile, and sqrt(2/pi). */
#define MEDIAN_TO_SD .6744897501960817
#define MEAN_TO_SD   .7978845608028654

bool stats_outliers(const double *rates, size_t n, struct stats_outlier *out, struct err *e)
{
    double *sorted;
    if (!mem_new(&sorted, n, e))
        return false;
    size_t n_positive = 0;
    for (size_t i = 0; i < n; i++)
        if (rates[i] > 0)
            sorted[n_positive++] = log(rates[i]);
    double median = 0, mad = 0, mean_dev = 0;
    if (n_positive > 0) {
        median = stats_sort_median(sorted, n_positive);
        for (size_t i = 0; i < n_positive; i++) {
            sorted[i] = fabs(sorted[i] - median);
            mean_dev += sorted[i] / (double)n_positive;
        }
        mad = stats_sort_median(sorted, n_positive);
    }
    for (size_t i = 0; i < n; i++) {
        double off = rates[i] > 0 ? log(rates[i]) - median : n_positive > 0 ? -INFINITY : 0;
        double z = off == 0 || isinf(off) ? off
                   : mad > 0              ? MEDIAN_TO_SD * off / mad
                                          : MEAN_TO_SD * off / mean_dev;
        bool far = fabs(expm1(off)) >= .10;

        out[i] = (struct stats_outlier){z, n >= 5 && fabs(z) > 3.5 && far};
    }
    free(sorted);
    return true;
}
