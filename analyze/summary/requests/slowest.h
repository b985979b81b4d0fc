/* The slowest single requests of a run. */
#ifndef S3_ANALYZE_SUMMARY_REQUESTS_SLOWEST_H
#define S3_ANALYZE_SUMMARY_REQUESTS_SLOWEST_H

#include "analyze/summary/model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ANALYSIS_SLOWEST 20

/* Strings are borrowed from the dataset or the analysis. */
struct slow_request {
    const char *op, *host, *client;
    const char *error; /* normalised; "": the request succeeded */
    const char *key;   /* NULL: unknown, or none */
    uint32_t thread;
    int64_t start_ns, dur_ns, bytes;
};

/* Fills v with the slowest requests of an operation (`index` as in analysis_series), slowest first.
 * Returns how many there are, at most ANALYSIS_SLOWEST. Takes all requests that no time option and
 * no drop has left out: failed ones too, inside and outside of the active range. Costs a pass over
 * the rows. */
size_t analysis_slowest(const struct analysis *a, int index, struct slow_request *v);

#endif
