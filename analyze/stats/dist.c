#include "analyze/stats/stats_internal.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

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
