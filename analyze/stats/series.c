#include "analyze/stats/stats.h"

#include "analyze/stats/stats_internal.h"
#include "libcommon/mem.h"

#include <gsl/gsl_cdf.h>
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

struct stats_line stats_fit_line(const double *y, size_t n)
{
    double count = (double)n, st = 0, sy = 0, stt = 0, sty = 0;
    for (size_t i = 0; i < n; i++) {
        double t = (double)i;
        st += t;
        sy += y[i];
        stt += t * t;
        sty += t * y[i];
    }
    double slope = (count * sty - st * sy) / (count * stt - st * st);
    return (struct stats_line){(sy - slope * st) / count, slope};
}

/* Finds the batch length that stats_bse chooses for x minus its straight line. */
static bool detrended_batch(const double *x, size_t n, size_t *m, struct err *e)
{
    struct stats_line line = stats_fit_line(x, n);
    struct stats_bse bse = {0};
    double *residual;

    if (!mem_new(&residual, n, e))
        return false;
    for (size_t i = 0; i < n; i++)
        residual[i] = x[i] - (line.base + line.slope * (double)i);
    bool ok = stats_bse(residual, n, &bse, e);
    *m = bse.m;
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

static double mean_of_five(const double *x, size_t i)
{
    return gsl_stats_mean(x + 5 * i, 1, 5);
}

/* Returns the smallest d that minimises g(d) = sum (z[i] - mean)^2 / (k-d)^2 over z[d..k-1], the
 * means of five points each. Running sums from the end: O(n) over all d. */
static size_t mser5_minimum(const double *x, size_t k)
{
    double mean = 0, sum = 0, best = INFINITY;
    size_t best_d = 0;

    for (size_t d = k; d-- > 0;) {
        double z = mean_of_five(x, d), n = (double)(k - d), off = z - mean;
        mean += off / n;
        sum += off * (z - mean);
        if (d + 5 <= k && sum / (n * n) <= best) {
            best = sum / (n * n);
            best_d = d;
        }
    }
    return best_d;
}

bool stats_warmup(const double *x, size_t n, struct stats_warmup *out, struct err *e)
{
    *out = (struct stats_warmup){.steady = true, .mean_rest = NAN};
    if (n == 0)
        return true;
    out->mean_rest = gsl_stats_mean(x, 1, n);
    size_t k = n / 5, d = k >= 5 ? mser5_minimum(x, k) : 0, cut = 5 * d;
    if (d == 0)
        return true;
    struct stats_bse rest;
    if (!stats_bse(x + cut, n - cut, &rest, e))
        return false;
    double mean_rest = gsl_stats_mean(x + cut, 1, n - cut);
    double difference = gsl_stats_mean(x, 1, cut) - mean_rest;
    double se = sqrt(rest.lrv / (double)cut + rest.se * rest.se);
    double limit = stats_t_quantile(.995, rest.df);
    if (!isfinite(limit))
        return err_set(e, "no quantile of the t distribution with %g degrees of freedom", rest.df);
    out->n_candidate = cut;
    out->df = rest.df;
    out->t = difference == 0 ? 0 : difference / se;
    if (fabs(difference) > limit * se) {
        out->n_cut = cut;
        out->mean_rest = mean_rest;
        out->steady = 2 * d <= k;
    }
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

/* Change points of a series of 10 .. 2,000 points. */
static bool find_shifts(const double *x, size_t n, struct stats_shifts *out, struct err *e)
{
    double *buffer = NULL;
    size_t *cuts = NULL;
    bool ok = mem_new(&buffer, n, e) && mem_new(&cuts, n, e);

    if (!ok)
        goto done;
    double v1 = stats_trimmed_square_jump(x, n, 1, 95, buffer);
    double v2 = stats_trimmed_square_jump(x, n, 2, 95, buffer);
    out->rho = v1 > 0 ? fmin(fmax(v2 / v1 - 1, 0), .9) : 0;
    out->lrv = v1 / (2 * (1 - out->rho)) * (1 + out->rho) / (1 - out->rho);
    out->beta = 4 * log((double)n) * out->lrv;
    size_t least = n / 20 > 5 ? n / 20 : 5, n_cuts;
    double cost;
    ok = stats_partition(x, n, least, out->beta, cuts, &n_cuts, &cost, e);
    size_t start = 0;
    for (size_t i = 0; ok && i < n_cuts; i++) {
        size_t cut = cuts[i], end = i + 1 < n_cuts ? cuts[i + 1] : n;
        double before = gsl_stats_mean(x + start, 1, cut - start);
        double after = gsl_stats_mean(x + cut, 1, end - cut);

        if (after != before && fabs(after - before) >= .05 * fabs(before) &&
            out->n < STATS_MAX_SHIFTS)
            out->v[out->n++] = (struct stats_shift){cut, before, after};
        start = cut;
    }
done:
    free(buffer);
    free(cuts);
    return ok;
}

bool stats_shifts(const double *x, size_t n, struct stats_shifts *out, struct err *e)
{
    *out = (struct stats_shifts){0};
    if (n < 10) /* no room for two parts of 5 */
        return true;
    size_t width = (n + 1999) / 2000, n_blocks = n / width;
    double *block;
    if (!mem_new(&block, n_blocks, e))
        return false;
    for (size_t i = 0; i < n_blocks; i++)
        block[i] = gsl_stats_mean(x + i * width, 1, width);
    bool ok = find_shifts(block, n_blocks, out, e);
    free(block);
    for (size_t i = 0; i < out->n; i++)
        out->v[i].at *= width;
    return ok;
}
