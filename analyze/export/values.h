/* The figures of an operation as the formats name them, in one struct, so that each format is a
 * table of names and offsets. */
#ifndef S3_ANALYZE_EXPORT_VALUES_H
#define S3_ANALYZE_EXPORT_VALUES_H

#include "analyze/model/model.h"

#include <stddef.h>
#include <stdio.h>

/* NaN: not known. Times are of the successful requests in the active range. */
struct values {
    double n_requests, n_errors, n_objects, n_bytes;
    double error_frac, bytes_per_s, objects_per_s;
    double n_timed, mean_ns, p50_ns, p90_ns, p99_ns, slowest_ns, sum_s;
    double ttfb_n, ttfb_p50_ns, ttfb_p90_ns, ttfb_p99_ns, ttfb_sum_s;
};

struct values values_of(const struct operation *op);

static inline double values_at(const struct values *v, size_t offset)
{
    return *(const double *)((const char *)v + offset);
}

/* The name of an operation where letters, digits, '_', '.' and '-' alone may stand: others become
 * '_'. */
struct values_name {
    char s[64];
};
struct values_name values_name(const char *op);

/* Writes a text as it may be shown (libcommon/visible.h), with a backslash before each character of
 * `special`. False: out of memory. */
bool values_put_text(FILE *f, const char *text, const char *special, struct err *e);

#endif
