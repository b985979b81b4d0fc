/* Fills courses by seconds of the clock, from sources that have sums but no single requests. */
#ifndef S3_ANALYZE_FINDINGS_COURSE_SECONDS_H
#define S3_ANALYZE_FINDINGS_COURSE_SECONDS_H

#include "analyze/findings/course.h"

/* Sets up bins for n whole seconds from first_s on, in long runs several seconds per bin, and
 * allocates their counters. False: out of memory. */
bool course_seconds_grid(struct course *c, int64_t first_s, size_t n, struct err *e);

/* Allocates n hosts, clients or operations, and their busy_ns, if seconds are known and not too
 * many. The caller fills in the parties. False: out of memory. */
bool course_seconds_parties(const struct course *c, struct course_parties *p, size_t n,
                            bool are_seconds_known, struct err *e);

/* How many requests failed with one kind of error, and when it first and last came. */
struct course_share {
    int64_t n, first_ns, last_ns;
    double rate;
};

/* Distributes errors over bins. shares has the number and the time range of each message of c (n =
 * 0: none), `failed` the number of errors in each bin. Adds to by_bin of the messages so that both
 * sums are kept: exact where messages do not overlap in time, else an estimate. False: out of
 * memory. */
bool course_seconds_errors(struct course *c, const uint32_t *failed, struct course_share *shares,
                           struct err *e);

#endif
