/* Like with like: whether the requests of a group (a host, a client or an object) take longer than
 * equal requests of the other groups, at equal load.
 *
 * Equal requests have the same operation, size, number of objects, and the same other party: hosts
 * are compared for one client, clients and objects at one host. The load is what a request shared
 * its host with: the number and the work of the requests in flight there, when it began and on
 * average. How durations grow with the load is fitted to the requests themselves. What the fit
 * leaves is the residual, a natural logarithm: a ratio of durations at equal load. */
#ifndef S3_ANALYZE_FINDINGS_LIKE_H
#define S3_ANALYZE_FINDINGS_LIKE_H

#include "analyze/findings/find.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The load that a request met, each as log(1 + x): requests in flight at its host when it began,
 * their work (each weighs the usual duration of its class), both on average over its time, and the
 * requests of its client in flight. The last is the size within its class. */
enum like_load {
    LIKE_BEGAN,
    LIKE_BEGAN_WORK,
    LIKE_MEAN,
    LIKE_MEAN_WORK,
    LIKE_OWN,
    LIKE_SIZE,
    LIKE_N_LOADS
};

#define LIKE_FEW_GROUPS 16
#define LIKE_WANTED     (1 << 14) /* requests to compare */
#define LIKE_PER_PLACE  64        /* ... and more for each pair of a host and a client */

/* A successful request, or by seconds the requests of one operation, second and group. */
struct like_row {
    int64_t start_ns;
    float n; /* requests */
    float y; /* log of the duration in ns */
    float load[LIKE_N_LOADS];
    uint32_t class, host, client, object;
};

/* Requests of one operation, whose sizes and numbers of objects are nearly equal. */
struct like_class {
    size_t op;
    int64_t min_bytes, max_bytes; /* of empty objects 1; max 0: no request yet */
};

/* Pairs: hosts with one client that uses no other host. They are compared across clients, so either
 * of the two may be slow. */
enum like_groups { LIKE_HOSTS, LIKE_CLIENTS, LIKE_OBJECTS, LIKE_PAIRS, LIKE_N_GROUPS };

struct like {
    const struct course *c;
    struct like_row *v; /* by start */
    size_t n;
    struct like_class *classes;
    size_t n_classes;
    size_t n_objects; /* those that are read or written most, and one for all others; 0: no object
                         stands out */
    double busy_ns;   /* time of all requests */
};

/* Makes c->requests, empty, of a course that has its extent, tables, places, hosts and clients.
 * extents: of the tables; borrowed until the requests are read. False: out of memory.
 * like_requests_free frees it. */
bool like_requests_new(struct course *c, const struct course_extent *extents, struct err *e);

/* Reads the requests that like_init takes: all, or of large runs about 16,000, which begin in
 * slices of time, evenly spread. Writes nothing of the course, so it may run beside what fills
 * that. False: out of memory. */
bool like_read(struct like_requests *r, struct err *e);
void like_requests_free(struct like_requests *r);

/* Takes the requests that like_read read, but those that a stall or a burst of errors masks. False:
 * out of memory. Call like_fini in any case. */
bool like_init(struct like *l, const struct search *s, struct err *e);

/* Takes the seconds of all hosts (or clients) instead of requests. The load of a second is the mean
 * number of requests in flight at the group. */
bool like_init_seconds(struct like *l, const struct search *s, const struct course_parties *p,
                       struct err *e);
void like_fini(struct like *l);

/* Requests of an operation, a class, another party (the client, or the host); SIZE_MAX: of all. */
enum { LIKE_OP, LIKE_CLASS, LIKE_OTHER, LIKE_N_PARTS };
struct like_part {
    size_t of[LIKE_N_PARTS];
};

/* An interval in which a group is slow. */
struct like_span {
    int64_t start_ns, end_ns;
    bool has_start, has_end; /* false: it began before the run, it lasts until its end */
    double t;                /* how sure it is, in standard errors */
    double load_ratio;       /* how many times as long its requests take at equal load */
    double ratio;            /* ... and at the load they met, as those of the others at theirs */
    double n;                /* requests of the group in it */
    double lost_frac;        /* share of the time of all requests that it costs */
    bool is_load;            /* by seconds: its load may explain it: more requests are in flight
                                there than at the others, or which client used which host is not
                                known */
    bool is_tail;            /* the mean is larger; the typical request takes as long as those of
                                the others */
    double late, others_late, late_ns; /* share of the requests that are late, of the group and of
                                          the others; the mean duration of the group's late ones */
    struct like_part part;             /* only these are slow */
    bool is_pair; /* the host, or the client of the part: nobody else meets one of them */
};

#define LIKE_MAX_SPANS 4

struct like_slow {
    size_t group;
    struct like_span v[LIKE_MAX_SPANS];
    size_t n;
};

/* The groups that are slow, and how many of them are at one time, at most. */
struct like_found {
    const struct like *l; /* set by the caller, like the next one */
    enum like_groups groups;
    struct like_slow *v; /* the caller frees it, after a failure too */
    size_t n, n_at_once;
};

/* Finds the groups that are slow. Several threads may do that with one struct like. False: out of
 * memory. */
bool like_find(struct like_found *found, struct err *e);

#endif
