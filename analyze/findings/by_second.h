/* Findings of a run of which only the throughput by second is known: stalls, errors, changes of
 * level, hosts that are loaded unevenly. */
#ifndef S3_ANALYZE_FINDINGS_BY_SECOND_H
#define S3_ANALYZE_FINDINGS_BY_SECOND_H

#include "analyze/findings/finding.h"

/* Seconds one after another; requests that failed are apart. */
struct by_second {
    const char *op; /* borrowed; NULL: all together */
    int64_t start_ns;
    size_t n;
    uint32_t *ok, *failed;        /* requests in each second */
    int64_t n_requests, n_errors; /* of the whole run */
    const char *first_error;      /* borrowed; NULL: not known */
};

/* Appends what it finds to *out, unranked. False: out of memory. */
bool by_second_find(struct findings *out, const struct by_second *s, struct err *e);

/* The hosts' shares of the requests; names are borrowed. */
bool by_second_find_uneven(struct findings *out, const char *const *hosts,
                           const int64_t *n_requests, size_t n_hosts, struct err *e);

#endif
