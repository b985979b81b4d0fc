/* Stalls, shared by three files: stalls.c finds and reports them, stall_parties.c finds out whose
 * they are, stall_rates.c computes the rates by which both judge. */
#ifndef S3_ANALYZE_FINDINGS_STALLS_INTERNAL_H
#define S3_ANALYZE_FINDINGS_STALLS_INTERNAL_H

#include "analyze/findings/find.h"

#define STALLS_MAX        256
#define STALLS_MAX_BLOCKS 128
#define STALLS_RATE_FRAC  .1
#define STALLS_SCORE      25.0 /* log-likelihood ratio: 32,768 bins x 1,000 hosts are tested */

struct stall {
    int64_t start_ns, end_ns;
    double rate_frac;                /* of the usual rate */
    const struct course_parties *of; /* NULL: the whole system */
    size_t n_parties;
    size_t parties[FINDING_MAX_PARTIES]; /* ascending */
};

/* Stalls of all requests, in the bins of the course, or of one party's requests, in the wide
 * bins. */
struct stalls {
    struct search *s;
    size_t n_bins;
    int64_t bin_ns;
    double least_score;
    double rate[STALLS_MAX_BLOCKS], usual[STALLS_MAX_BLOCKS]; /* completions per bin */
    size_t n_blocks, bins_per_block;
    size_t n_local;     /* blocks to either side that the usual rate is taken from */
    int64_t *done;      /* requests that ended, by bin (stalls_count) */
    const uint32_t *ok; /* the successes of them, which make the usual rate: requests that are
                           refused end many times faster; NULL: not known */
    int64_t least_ns;
    struct stall v[STALLS_MAX];
    size_t n;
};

/* Appends the stretches with next to no completions. */
void stalls_find_stretches(struct stalls *x);

/* Allocates and fills x->done: requests that ended, except those that hung until they failed, as a
 * stall is not over when they time out. The caller frees it. False: out of memory. */
bool stalls_count(struct stalls *x, struct err *e);

/* Fills in the rate and the usual rate of each block. False: the run is too short, or has no usual
 * rate. */
bool stalls_find_usual(struct stalls *x);

/* Returns how many requests ended in the bins [first, end). */
double stalls_done(const struct stalls *x, size_t first, size_t end);

/* Return the rate of all requests in a time as a share of the usual rate. The first judges stalls,
 * by the usual rate of their own bins. The second is for sentences: it compares with the median of
 * the neighbouring blocks, as the usual rate in the middle of a long stall is that of the stall. */
double stalls_rate_frac(const struct stalls *x, int64_t start_ns, int64_t end_ns);
double stalls_rate_frac_around(const struct stalls *x, int64_t start_ns, int64_t end_ns);

/* Whether two stalls are of the same parties, and how many requests these have in the run. */
bool stalls_same_parties(const struct stall *a, const struct stall *b);
int64_t stalls_n_requests(const struct stall *st);

/* Attributes stalls of the system to the hosts, the clients or the operation whose requests alone
 * hang in them, and adds those of parties that hang while the others go on. False: out of
 * memory. */
bool stalls_find_parties(struct stalls *x, struct err *e);

#endif
