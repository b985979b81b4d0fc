/* Whether a host with longer durations is slower itself, or only has a longer queue than the
 * others.
 *
 * The model: a host has k slots and serves requests in the order in which they come. A request
 * waits until at most k - 1 of those before it are left, as their ends show; then the host works on
 * it (service time).
 *
 * k is not recorded. With the right one durations are close to wait plus mean service time, and the
 * service time does not depend on the length of the queue. If several k fit, as in a run in which
 * no host ever has a queue, that one counts which speaks best for the host in question. */
#ifndef S3_ANALYZE_FINDINGS_QUEUES_H
#define S3_ANALYZE_FINDINGS_QUEUES_H

#include "analyze/findings/find.h"

/* The requests of a stretch of time: at most some 100,000, from its middle. */
struct queues {
    int64_t asked_start_ns, asked_end_ns;
    int64_t start_ns, end_ns; /* requests that began within count */
    size_t n, n_parties;
    struct arrival *v;      /* by host, then start */
    struct departure *ends; /* by host, then end */
    size_t *first;          /* arrivals of host k are v[first[k]] to v[first[k + 1] - 1] */
    bool clocks_differ;     /* of clients: who waited for whom is not known */
    struct service *of_party;
    double *others; /* scratch memory: a value per host */
};

struct queues_answer {
    bool is_known;  /* false: the course has no single requests, the host has too few of them, or
                       the clocks of clients differ */
    bool is_longer; /* the service time is longer than at the others */
    double z;       /* how surely it is longer, in standard errors */
    double ratio;   /* of the service time to that of the others */
};

#define QUEUES_LEAST_Z 4.5 /* from which on it is sure */

/* Finds out whether a host has longer service times than the others in [start_ns, end_ns). *q must
 * be all 0 at first; it keeps the requests for the next query. Call queues_fini in any case. False:
 * out of memory. */
bool queues_ask(struct queues *q, const struct search *s, size_t host, int64_t start_ns,
                int64_t end_ns, struct queues_answer *answer, struct err *e);

/* Finds out whether the slow requests of a host (course.slow_from_ns) wait for each other: without
 * their wait fewer than half of them are slow, and fewer than least_times as many as at the other
 * hosts, over the whole run. *explained is false if that is not known. False: out of memory. */
bool queues_explain_tail(struct queues *q, const struct search *s, size_t host, double least_times,
                         bool *explained, struct err *e);
void queues_fini(struct queues *q);

#endif
