/* Version of GSL, which nothing but stats may include. */
#ifndef S3_ANALYZE_STATS_VERSION_H
#define S3_ANALYZE_STATS_VERSION_H

const char *stats_version_gsl(void);

#endif
