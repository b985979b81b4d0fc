#include "analyze/stats/version.h"

#include <gsl/gsl_version.h>

const char *stats_version_gsl(void)
{
    return gsl_version;
}
