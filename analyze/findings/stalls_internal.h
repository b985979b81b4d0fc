/* Stalls, and whose they are: what stalls.c and stall_parties.c share. */
#ifndef S3_ANALYZE_FINDINGS_STALLS_INTERNAL_H
#define S3_ANALYZE_FINDINGS_STALLS_INTERNAL_H

#include "analyze/findings/find.h"

#define STALLS_MAX        256
#define STALLS_MAX_BLOCKS 128
#define STALLS_RATE_FRAC  .1
#define STALLS_SCORE      25.0 /* e^-25 over up to 32,768 bins and a thousand hosts */

struct stall {
    int64_t start_ns, end_ns;
    double rate_frac;                /* of the usual rate */
    const struct course_parties *of; /* NULL: the whole system */
    size_t n_parties;
    size_t parties[FINDING_MAX_PARTIES]; /* ascending */
};

struct stalls {
    struct search *s;
    double rate[STALLS_MAX_BLOCKS], usual[STALLS_MAX_BLOCKS]; /* completions per bin */
    size_t n_blocks, bins_per_block;
    size_t n_local;      /* blocks to either side that say what is usual */
    uint32_t *timed_out; /* by bin: requests that hung and then failed, which are no deliveries */
    int64_t least_ns;
    struct stall v[STALLS_MAX];
    size_t n;
};

/* Requests that ended in a bin, but for those that hung until they failed: a stall is not over when
 * they time out. And how many are usual there. */
double stalls_done_in(const struct stalls *x, size_t bin);
double stalls_usual_at(const struct stalls *x, size_t bin);

/* The rate of all in a time, of what is usual then, to judge by: it makes little of short stalls.
 */
double stalls_rate_frac(const struct stalls *x, int64_t start_ns, int64_t end_ns);

/* The parties whose stall it is. */
bool stalls_same_parties(const struct stall *a, const struct stall *b);
int64_t stalls_n_requests(const struct stall *st);

/* Gives stalls of the system to the hosts, the clients or the operation whose requests alone hang
 * in them, and adds those of parties that hang while the others go on. False: out of memory. */
bool stalls_find_parties(struct stalls *x, struct err *e);

#endif
