/* Courses by seconds of the clock: of sources that have sums, and no single requests. */
#ifndef S3_ANALYZE_FINDINGS_COURSE_SECONDS_H
#define S3_ANALYZE_FINDINGS_COURSE_SECONDS_H

#include "analyze/findings/course.h"

/* Makes the bins, of n whole seconds from first_s on; of long runs, several seconds a bin. The
 * course has its operations and its start and end. False: out of memory. */
bool course_seconds_grid(struct course *c, int64_t first_s, size_t n, struct err *e);

/* Makes room for n hosts, clients or operations, and for how busy they were by bin, if it is known
 * and not too much. The caller fills in who they are. False: out of memory. */
bool course_seconds_parties(const struct course *c, struct course_parties *p, size_t n,
                            bool are_seconds_known, struct err *e);

/* How many requests failed with one kind of error, and when it first and last came. */
struct course_share {
    int64_t n, first_ns, last_ns;
    double rate;
};

/* Spreads the errors of some requests, by message (as many as c has; n = 0: none), over the bins in
 * which `failed` of them did, so that both sums are kept: exact where they do not overlap in time,
 * else as likely as any. False: out of memory. */
bool course_seconds_errors(struct course *c, const uint32_t *failed, struct course_share *shares,
                           struct err *e);

#endif
