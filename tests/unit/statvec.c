#include "tests/unit/statvec.h"

#include "libcommon/hist.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

int statvec_setup(void **state)
{
    (void)state;
    stats_init();
    return 0;
}

void statvec_assert_close(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("got %.12g, want %.12g", got, want);
}

double statvec_pm(uint64_t *u)
{
    *u = 16807 * *u % 2147483647;
    return (double)*u / 2147483647;
}

void statvec_ar(double *x, size_t n, double rho, uint64_t seed)
{
    double z = 0;
    for (size_t i = 0; i < n; i++) {
        z = rho * z + statvec_pm(&seed) - .5;
        x[i] = 100 + 10 * z;
    }
}

double statvec_mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

struct stats_ratio statvec_percent(const char *text)
{
    struct stats_ratio p = {0, 100};
    bool in_fraction = false;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '.') {
            in_fraction = true;
            continue;
        }
        p.num = 10 * p.num + (uint64_t)(*c - '0');
        p.den *= in_fraction ? 10 : 1;
    }
    return p;
}

double statvec_residual_life(const int64_t *d, size_t n, struct stats_ratio p)
{
    uint64_t *count = calloc(HIST_N_INDEXES, sizeof *count);
    uint64_t *excess = calloc(HIST_N_INDEXES, sizeof *excess);
    int64_t *kept = malloc((n + 1) * sizeof *kept);
    size_t n_kept = 0;
    assert_true(count != NULL && excess != NULL && kept != NULL);
    for (size_t i = 0; i < n; i++) {
        size_t bucket = hist_index(d[i]);
        count[bucket]++;
        excess[bucket] += (uint64_t)(d[i] - hist_lower(bucket));
    }
    struct stats_residual r;
    stats_residual_find(count, excess, HIST_N_INDEXES, p, &r);
    for (size_t i = 0; i < n; i++)
        if (hist_index(d[i]) == r.bucket)
            kept[n_kept++] = d[i];
    double x = stats_residual_solve(&r, kept, n_kept);
    free(count);
    free(excess);
    free(kept);
    return x;
}

double statvec_residual_frac(const int64_t *d, size_t n, int64_t x)
{
    __int128 part = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        part += d[i] < x ? d[i] : x;
        all += d[i];
    }
    return (double)part / (double)all;
}
