/* How many times slower a party is, from its single requests. */
#ifndef S3_ANALYZE_FINDINGS_SLOW_RATIO_H
#define S3_ANALYZE_FINDINGS_SLOW_RATIO_H

#include "analyze/findings/find.h"

/* A stretch in which a party is slow. */
struct slow_stretch {
    size_t party;
    struct periods periods;
    size_t first, last;    /* periods */
    const double *n;       /* by period: samples of the party; those without any are left out */
    struct strata of;      /* only requests of these strata count */
    const bool *is_faulty; /* by party: the others are compared with those that are not */
};

/* Sets *ratio to the party's median duration as a multiple of that of the others. Each duration
 * counts as a multiple of what is usual at the others at the time, so that sizes, operations, and
 * what slows all of them cancel. 0: the course has no single requests, or there is nobody to
 * compare with. Samples at most some 16,000 requests of each side. False: out of memory. */
bool slow_ratio(const struct search *s, const struct course_parties *p,
                const struct slow_stretch *g, double *ratio, struct err *e);

#endif
