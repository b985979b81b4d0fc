/* Whether a host that answers later is slower itself, or only has a longer queue than the others.
 *
 * A host that serves k requests at a time, in the order in which they come, takes one when no more
 * than k - 1 of those before it are left. The ends of these tell when that was, and from then on
 * the host works on it.
 *
 * k is not recorded. With the right one the durations lie close to wait and mean work, and the work
 * does not depend on how many requests wait. Where several do well, as in a run in which no host
 * ever has a queue or each always the same, it is the one that speaks best for the host in
 * question.
 */
#ifndef S3_ANALYZE_FINDINGS_QUEUES_H
#define S3_ANALYZE_FINDINGS_QUEUES_H

#include "analyze/findings/find.h"

/* The requests of a stretch of time, at most some 100,000 of its midst. */
struct queues {
    int64_t asked_start_ns, asked_end_ns;
    int64_t start_ns, end_ns; /* those that began within count */
    size_t n, n_parties;
    struct arrival *v;      /* by host, then start */
    struct departure *ends; /* by host, then end */
    size_t *first;          /* arrivals of host k are v[first[k]] to v[first[k + 1] - 1] */
    bool clocks_differ;     /* of clients: who waited for whom is not known */
    struct service *of_party;
    double *others; /* room for a value of each host */
};

struct queues_answer {
    bool is_known;  /* false: the course has no single requests, the host has too few of them, or
                       the clocks of clients differ */
    bool is_longer; /* the time that a request takes without its wait, than that at the others */
    double z;       /* how surely, in standard errors */
    double ratio;   /* of these times */
};

#define QUEUES_LEAST_Z 4.5 /* from which on it is sure */

/* Tells whether the host needs longer for a request than the others do, in [start_ns, end_ns). *q
 * is all 0 at first, and keeps the requests for the next question; queues_fini may be called in any
 * case. False: out of memory. */
bool queues_ask(struct queues *q, const struct search *s, size_t host, int64_t start_ns,
                int64_t end_ns, struct queues_answer *answer, struct err *e);

/* Tells whether the requests of a host that end late do so because they wait for each other:
 * without their wait fewer than half of them are late (course.slow_from_ns), and not least_times as
 * many as at the other hosts, over the whole run. *explained is false where that is not known.
 * False: out of memory. */
bool queues_explain_tail(struct queues *q, const struct search *s, size_t host, double least_times,
                         bool *explained, struct err *e);
void queues_fini(struct queues *q);

#endif
