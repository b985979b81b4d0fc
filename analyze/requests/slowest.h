/* The slowest requests of a run, one by one. */
#ifndef S3_ANALYZE_REQUESTS_SLOWEST_H
#define S3_ANALYZE_REQUESTS_SLOWEST_H

#include "analyze/model/model.h"

#include <stddef.h>
#include <stdint.h>

#define ANALYSIS_SLOWEST 20

/* Strings are borrowed from the dataset. */
struct slow_request {
    const char *op, *host, *client;
    const char *error; /* normalised; "": it succeeded */
    const char *key;   /* NULL: not known, or none */
    uint32_t thread;
    int64_t start_ns, dur_ns, bytes;
};

/* Fills v with the slowest requests of an operation (`index` as in analysis_series), slowest first,
 * and returns how many there are, at most ANALYSIS_SLOWEST. All requests that were not left out by
 * times or a drop take part, failed ones too, in the active range or not. Costs the rows. */
size_t analysis_slowest(const struct analysis *a, int index, struct slow_request *v);

#endif
