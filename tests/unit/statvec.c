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
