#include "analyze/stats/stats.h"

#include "libcommon/mem.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

#define N_TERMS      3
#define N_BOOTSTRAP  999
#define N_REWEIGHT   5
#define LEAST_LEVELS 4

/* N / X = (1 + sigma (N - 1) + kappa N (N - 1)) / lambda is linear in 1, N - 1 and N (N - 1): a sum
 * of three terms whose weights are fitted. */
struct fit {
    double term[N_TERMS];
    bool used[N_TERMS]; /* a negative one is left out */
};

static double term_of(size_t i, double n)
{
    return i == 0 ? 1 : i == 1 ? n - 1 : n * (n - 1);
}

static double fitted(const struct fit *f, double n)
{
    double y = 0;

    for (size_t i = 0; i < N_TERMS; i++)
        y += f->term[i] * term_of(i, n);
    return y;
}

/* Least squares with the terms that are used; errors are relative to the fit. */
static bool solve(struct fit *f, const double *level, const double *y, size_t n)
{
    size_t place[N_TERMS], n_used = 0;
    double chi2;

    for (size_t i = 0; i < N_TERMS; i++)
        if (f->used[i])
            place[n_used++] = i;
    gsl_matrix *x = gsl_matrix_alloc(n, n_used), *cov = gsl_matrix_alloc(n_used, n_used);
    gsl_vector *v = gsl_vector_alloc(n), *w = gsl_vector_alloc(n), *c = gsl_vector_alloc(n_used);
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(n, n_used);
    bool ok = x != NULL && cov != NULL && v != NULL && w != NULL && c != NULL && work != NULL;

    for (int pass = 0; ok && pass < N_REWEIGHT; pass++) {
        for (size_t k = 0; k < n; k++) {
            double expected = pass == 0 ? y[k] : fitted(f, level[k]);
            gsl_vector_set(v, k, y[k]);
            gsl_vector_set(w, k, 1 / (expected * expected));
            for (size_t i = 0; i < n_used; i++)
                gsl_matrix_set(x, k, i, term_of(place[i], level[k]));
        }
        ok = gsl_multifit_wlinear(x, w, v, c, cov, &chi2, work) == 0;
        for (size_t i = 0; i < N_TERMS; i++)
            f->term[i] = 0;
        for (size_t i = 0; ok && i < n_used; i++)
            f->term[place[i]] = gsl_vector_get(c, i);
        for (size_t k = 0; ok && k < n; k++)
            ok = fitted(f, level[k]) > 0;
    }
    gsl_matrix_free(x);
    gsl_matrix_free(cov);
    gsl_vector_free(v);
    gsl_vector_free(w);
    gsl_vector_free(c);
    gsl_multifit_linear_free(work);
    return ok;
}

/* Fits the law without negative terms: throughput does not rise faster than requests in flight. */
static bool solve_positive(struct fit *f, const double *level, const double *y, size_t n)
{
    *f = (struct fit){.used = {true, true, true}};
    for (;;) {
        size_t worst = 0;

        if (!solve(f, level, y, n))
            return false;
        for (size_t i = 1; i < N_TERMS; i++)
            if (f->term[i] < 0 && (worst == 0 || f->term[i] < f->term[worst]))
                worst = i;
        if (worst == 0)
            return f->term[0] > 0;
        f->used[worst] = false;
    }
}

enum figure { LAMBDA, SIGMA, KAPPA, PEAK, N_FIGURES };

static void figures_of(const struct fit *f, double *v)
{
    v[LAMBDA] = 1 / f->term[0];
    v[SIGMA] = f->term[1] / f->term[0];
    v[KAPPA] = f->term[2] / f->term[0];
    v[PEAK] = v[KAPPA] > 0 ? sqrt(fmax(1 - v[SIGMA], 0) / v[KAPPA]) : INFINITY;
}

/* Lack-of-fit F test: the scatter of the levels' means about the curve against the scatter of runs
 * at one level. NaN: unknown. */
static double lack_of_fit(const struct fit *f, const double *level, const double *y, size_t n,
                          size_t n_levels)
{
    double all = 0, pure = 0;

    for (size_t k = 0; k < n; k++) {
        double mean = 0, at = 0, expected = fitted(f, level[k]);
        for (size_t i = 0; i < n; i++)
            if (level[i] == level[k]) {
                mean += y[i];
                at++;
            }
        all += pow((y[k] - expected) / expected, 2);
        pure += pow((y[k] - mean / at) / expected, 2);
    }
    double df = (double)n_levels - N_TERMS, df_pure = (double)n - (double)n_levels;
    if (df <= 0 || df_pure <= 0 || pure <= 0)
        return NAN;
    return gsl_cdf_fdist_Q(fmax(all - pure, 0) / df / (pure / df_pure), df, df_pure);
}

static size_t count_levels(const double *level, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        bool first = true;
        for (size_t k = 0; k < i; k++)
            first &= level[k] != level[i];
        count += first;
    }
    return count;
}

/* Bootstrap of the residuals (Efron and Tibshirani 1993), which are scaled up to the size of the
 * errors and drawn with replacement. The limits are the 2.5 % and 97.5 % quantiles of the
 * figures. */
static bool bootstrap(const struct fit *f, const double *level, const double *y, size_t n,
                      uint64_t seed, struct stats_usl *out, struct err *e)
{
    double *found = NULL, *residual = NULL, *other = NULL;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    size_t n_found = 0;
    bool ok = mem_new(&found, N_BOOTSTRAP * N_FIGURES, e) && mem_new(&residual, n, e) &&
              mem_new(&other, n, e) && (rng != NULL || mem_none(e));

    if (ok)
        gsl_rng_set(rng, (unsigned long)(seed & 0xffffffff));
    for (size_t k = 0; ok && k < n; k++)
        residual[k] = (y[k] / fitted(f, level[k]) - 1) * sqrt((double)n / (double)(n - N_TERMS));
    for (size_t b = 0; ok && b < N_BOOTSTRAP; b++) {
        struct fit again;
        double v[N_FIGURES];

        for (size_t k = 0; k < n; k++)
            other[k] = fitted(f, level[k]) * fmax(1 + residual[gsl_rng_uniform_int(rng, n)], .01);
        if (!solve_positive(&again, level, other, n))
            continue;
        figures_of(&again, v);
        for (size_t i = 0; i < N_FIGURES; i++)
            found[i * N_BOOTSTRAP + n_found] = v[i];
        n_found++;
    }
    double *const lo[] = {&out->lambda_lo, &out->sigma_lo, &out->kappa_lo, &out->peak_lo};
    double *const hi[] = {&out->lambda_hi, &out->sigma_hi, &out->kappa_hi, &out->peak_hi};
    ok = ok && (n_found > N_BOOTSTRAP / 2 || err_set(e, "the curve cannot be fitted"));
    for (size_t i = 0; ok && i < N_FIGURES; i++) {
        gsl_sort(found + i * N_BOOTSTRAP, 1, n_found);
        *lo[i] = found[i * N_BOOTSTRAP + n_found * 25 / 1000];
        *hi[i] = found[i * N_BOOTSTRAP + n_found * 975 / 1000];
    }
    gsl_rng_free(rng);
    free(found);
    free(residual);
    free(other);
    return ok;
}

bool stats_usl(const double *level, const double *per_s, size_t n, uint64_t seed,
               struct stats_usl *out, struct err *e)
{
    size_t n_levels = count_levels(level, n);
    struct fit f;
    double *y, v[N_FIGURES];

    *out = (struct stats_usl){.why = n_levels < LEAST_LEVELS ? "runs at fewer than 4 levels"
                                                             : "fewer than 5 runs"};
    if (n_levels < LEAST_LEVELS || n <= N_TERMS + 1)
        return true;
    if (!mem_new(&y, n, e))
        return false;
    for (size_t k = 0; k < n; k++)
        y[k] = level[k] / per_s[k];
    bool ok = true;
    out->why = "no curve of the law fits";
    if (solve_positive(&f, level, y, n)) {
        figures_of(&f, v);
        out->ok = true;
        out->why = "";
        out->lambda = v[LAMBDA];
        out->sigma = v[SIGMA];
        out->kappa = v[KAPPA];
        out->peak = v[PEAK];
        out->lack_p = lack_of_fit(&f, level, y, n, n_levels);
        ok = bootstrap(&f, level, y, n, seed, out, e);
    }
    free(y);
    return ok;
}

double stats_usl_at(const struct stats_usl *u, double n)
{
    return u->lambda * n / (1 + u->sigma * (n - 1) + u->kappa * n * (n - 1));
}
