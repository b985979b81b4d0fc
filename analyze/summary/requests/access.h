/* Finds the first and the last request of each object. */
#ifndef S3_ANALYZE_SUMMARY_REQUESTS_ACCESS_H
#define S3_ANALYZE_SUMMARY_REQUESTS_ACCESS_H

#include "analyze/summary/requests/sample.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* First and last row of each object, by size bucket: bucket b holds the sizes in [edge[b], edge[b +
 * 1]). */
struct access {
    size_t n_buckets;
    uint64_t *pair;                     /* first row in the low half, last row in the high half */
    size_t first[ANALYSIS_N_SIZES + 1]; /* pairs of bucket b: n[b] from pair[first[b]] on */
    size_t n[ANALYSIS_N_SIZES];         /* objects */
    bool repeated[ANALYSIS_N_SIZES];    /* some object was accessed more than once */
};

/* Finds the first and last rows among all successful requests of the table that have a key
 * and a size in a bucket. Returns false if out of memory. access_fini may be called in any case.
 * Memory: 12 bytes a row while it runs, then 8 bytes an object. */
bool access_init(struct access *a, const struct dataset *d, const struct table *t,
                 const int64_t *edges, size_t n_buckets, struct err *e);
void access_fini(struct access *a);

#endif
