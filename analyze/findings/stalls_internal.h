/* Stalls, shared by two files: stalls.c finds them, stalls_say.c reports them. */
#ifndef S3_ANALYZE_FINDINGS_STALLS_INTERNAL_H
#define S3_ANALYZE_FINDINGS_STALLS_INTERNAL_H

#include "analyze/findings/find.h"

#define STALLS_TOLERANCE   .1 /* of a period, or of the length of stalls that are one */
#define STALLS_FEW_THREADS 10 /* that may all wait for long requests by chance */

struct stall {
    int64_t start_ns, end_ns;
    bool at_edge;                    /* a stall only if most threads hang in it */
    const struct course_parties *of; /* NULL: the whole system */
    size_t n_parties;
    size_t parties[FINDING_MAX_PARTIES]; /* ascending */
};

/* How many requests ended in each of n bins, except those that hung until they failed, as a stall
 * is not over when they time out; and how many usually end, times `share`. */
struct stall_series {
    int64_t *done;
    double *usual; /* times the part of the bin that is in the run */
    double share;
    size_t n;
    int64_t bin_ns;
};

struct stalls {
    struct search *s;
    struct stall_series all;
    size_t window; /* to either side, in bins, from which the usual rate is taken */
    int64_t least_ns;
    struct stall *v;
    size_t n;
};

static inline int64_t stall_length(const struct stall *st)
{
    return st->end_ns - st->start_ns;
}

/* Whether two stalls are of the same parties. */
bool stalls_are_of_same(const struct stall *a, const struct stall *b);

/* Returns the share of all requests that those of its parties are. */
double stalls_share_of(const struct stalls *x, const struct stall *st);

/* Returns the rate of all requests in a time as a share of the usual rate, which is taken from
 * before and after it: in the middle of a long stall what is usual is that of the stall. */
double stalls_rate_frac(const struct stalls *x, int64_t start_ns, int64_t end_ns);

/* Reports all stalls, and masks those that it reports. False: out of memory. */
bool stalls_say(const struct stalls *x, struct err *e);

#endif
