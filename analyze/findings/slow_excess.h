/* How much longer the requests of each party take than those of the others, by time. */
#ifndef S3_ANALYZE_FINDINGS_SLOW_EXCESS_H
#define S3_ANALYZE_FINDINGS_SLOW_EXCESS_H

#include "analyze/findings/find.h"

/* The parties that are compared, and a cache of the excess by stratum: all requests, those of an
 * operation and those of a size are compared one after the other, mostly in the same periods. */
struct slow_compared {
    const struct search *s;
    const struct course_parties *p;
    struct slow_stratum *strata;
};

bool slow_compared_init(struct slow_compared *x, const struct search *s,
                        const struct course_parties *p, struct err *e);
void slow_compared_fini(struct slow_compared *x);

/* By party and period (a whole number of blocks): samples, and their mean excess over the others.
 */
struct excess {
    struct periods periods;
    double *n, *r; /* party x period */
    double sd;     /* of one sample's logarithm within its stratum */
    double lrv;    /* long-run variance of r at a party that is as fast as the others */
    double share;  /* share of the time of all requests, taken by those of the strata */
};

/* Fill in the excess of the requests of some strata. The second takes the periods and the sd of
 * `like`, and has no share. False: out of memory; call slow_excess_fini in any case. */
bool slow_excess_init(struct excess *x, struct slow_compared *of, struct strata strata,
                      struct err *e);
bool slow_excess_init_like(struct excess *x, struct slow_compared *of, struct strata strata,
                           const struct excess *like, struct err *e);
void slow_excess_fini(struct excess *x);

#endif
