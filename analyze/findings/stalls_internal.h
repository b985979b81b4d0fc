/* Stalls, shared by three files: stalls.c reports them, stall_parties.c finds out whose they are,
 * stall_rates.c finds the intervals in which next to nothing ends. */
#ifndef S3_ANALYZE_FINDINGS_STALLS_INTERNAL_H
#define S3_ANALYZE_FINDINGS_STALLS_INTERNAL_H

#include "analyze/findings/find.h"

#define STALLS_MAX       1000
#define STALLS_RATE_FRAC .1 /* of the usual rate; a stall has at most twice as much */

struct stall {
    int64_t start_ns, end_ns;
    bool at_edge;                    /* a stall only if most threads hang in it */
    const struct course_parties *of; /* NULL: the whole system */
    size_t n_parties;
    size_t parties[FINDING_MAX_PARTIES]; /* ascending */
};

struct stalls {
    struct search *s;
    int64_t *done; /* by bin: requests that ended, except those that hung until they failed: a stall
                      is not over when they time out */
    double
        *usual; /* by bin: how many usually end, times their part of the bin that is in the run */
    size_t window; /* to either side, in bins, from which the usual rate is taken */
    int64_t least_ns;
    struct stall *v;
    size_t n;
};

/* How many requests ended in each of n bins, and how many are usual, times share. */
struct stalls_series {
    const int64_t *done;
    const double *usual;
    double share;
    size_t n;
    int64_t bin_ns;
};

/* Allocates and fills x->done and x->usual; the caller frees them. *found becomes false if the run
 * is too short, or has no usual rate. False: out of memory. */
bool stalls_find_usual(struct stalls *x, bool *found, struct err *e);

/* Appends to v, which has room for STALLS_MAX, the intervals of a series with next to no
 * completions: maximal ones whose log-likelihood ratio (Poisson) of a tenth of the usual rate, or
 * less, is beyond chance. */
void stalls_find_intervals(const struct stalls *x, const struct stalls_series *series,
                           struct stall *v, size_t *n);

/* Returns the rate of all requests in a time as a share of the usual rate, which is taken from
 * before and after it: in the middle of a long stall what is usual is that of the stall. */
double stalls_rate_frac(const struct stalls *x, int64_t start_ns, int64_t end_ns);

static inline int64_t stall_middle_ns(const struct stall *st)
{
    return st->start_ns + (st->end_ns - st->start_ns) / 2;
}

/* Whether two stalls are of the same parties, and how many requests these have in the run. */
bool stalls_same_parties(const struct stall *a, const struct stall *b);
int64_t stalls_n_requests(const struct stall *st);

/* Drops what is no stall of the system. Attributes stalls of the system to the hosts, the clients
 * or the operation whose requests alone hang in them, and adds those of parties that hang while the
 * others go on. False: out of memory. */
bool stalls_find_parties(struct stalls *x, struct err *e);

#endif
