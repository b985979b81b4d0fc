/* The figures of an operation in one struct, so that each format is a table of names and
 * offsets. */
#ifndef S3_ANALYZE_EXPORT_VALUES_H
#define S3_ANALYZE_EXPORT_VALUES_H

#include "analyze/model/model.h"

#include <stddef.h>
#include <stdio.h>

/* Times of the successful requests in the active range. NaN: not known, or in no format. */
struct value_times {
    double n, mean_ns, p50_ns, p90_ns, p99_ns, slowest_ns, sum_s;
};

/* The figures of an operation; NaN: not known. */
struct values {
    double n_requests, n_errors, n_objects, n_bytes;
    double error_frac, bytes_per_s, objects_per_s;
    struct value_times durations, ttfb;
};

struct values values_of(const struct operation *op);

static inline double values_at(const struct values *v, size_t offset)
{
    return *(const double *)((const char *)v + offset);
}

/* Writes the name of an operation for formats with few characters: letters, digits, '_', '.' and
 * '-' stay; others become %XX, as in URLs, so that names stay different. */
void values_put_name(FILE *f, const char *op);

/* Writes a text without unsafe characters (libcommon/visible.h), with a backslash before each
 * character of `special`. False: out of memory. */
bool values_put_text(FILE *f, const char *text, const char *special, struct err *e);

#endif
