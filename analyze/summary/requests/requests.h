/* Request statistics of one operation (section 5 of docs/how-the-numbers-are-made.md). */
#ifndef S3_ANALYZE_SUMMARY_REQUESTS_REQUESTS_H
#define S3_ANALYZE_SUMMARY_REQUESTS_REQUESTS_H

#include "analyze/summary/requests/sample.h"
#include "analyze/summary/sets/set.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Request statistics of one operation while they are computed. The pieces may run at the same
 * time. */
struct requests_work {
    struct operation *op;
    const struct set *s;
    struct rows rows;
    struct parts hosts, clients;
    struct host_requests
        *by_host; /* the operation's, by key of the set; NULL: a single host, or brief */
    bool brief;   /* ANALYSIS_BRIEF */
};

/* Decides what to compute, and makes room for it. Returns false if out of memory. */
bool requests_work_init(struct requests_work *w, struct operation *op, const struct set *s,
                        enum analysis_depth depth, struct err *e);
/* The pieces, each called with a struct requests_work. They return false if out of memory. Times of
 * all requests together are those of the statistics.
 * requests_times: durations and TTFBs of each host and of each client, if there are several;
 * requests_access: of first and last accesses, single size only; requests_sizes: all figures of
 * several sizes, with those of the hosts. */
bool requests_times(void *work, struct err *e);
bool requests_access(void *work, struct err *e);
bool requests_sizes(void *work, struct err *e);
/* Names the hosts, and drops those without requests. */
void requests_work_finish(struct requests_work *w);
void requests_free(struct requests *r);
/* Joins neighbouring size classes into buckets. Fills of_class with the bucket of each class that
 * has requests, and edges: bucket b holds the sizes in [edges[b], edges[b + 1]). Returns the number
 * of buckets. */
size_t requests_join_classes(const int64_t *n_by_class, int64_t n, uint8_t *of_class,
                             int64_t *edges);

#endif
