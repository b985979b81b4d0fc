/* Like with like, shared by three files: like_fit.c fits how durations grow with the load and takes
 * it away, like.c tests the groups, like_span.c describes the intervals in which one is slow. */
#ifndef S3_ANALYZE_FINDINGS_LIKE_INTERNAL_H
#define S3_ANALYZE_FINDINGS_LIKE_INTERNAL_H

#include "analyze/findings/like.h"

#include <math.h>

#define LIKE_PIECES        4 /* of the curve of a load */
#define LIKE_COLUMNS       (LIKE_N_LOADS * LIKE_PIECES)
#define LIKE_SCREEN_BLOCKS 16
#define LIKE_MAX_BLOCKS    (2 * COURSE_MAX_BLOCKS)
#define LIKE_LEAST         log(SLOW_LEAST_RATIO)
#define LIKE_LEAST_T       8                  /* no healthy run of the simulations came near it */
#define LIKE_FURTHER_T     (LIKE_LEAST_T / 2) /* further intervals of a slow group, gaps, tails */
#define LIKE_IN_BLOCK      3 /* requests of the group, and of the others; blocks of an interval */
#define LIKE_OF_ALL        (2 * LIKE_IN_BLOCK) /* requests of a stratum, of both */
#define LIKE_NEXT_TO_NONE  4  /* an excess that is so many times smaller than another one */
#define LIKE_MOST_EXCESS   10 /* of a log duration: a single request must not decide a mean */

/* Sums of products of the columns of a fit, and of the columns and the log durations. */
struct gram {
    double xx[LIKE_COLUMNS][LIKE_COLUMNS], xy[LIKE_COLUMNS];
};

/* Sums of a stratum: of a group, and of the others. */
enum { N_OWN, N_OTHERS, SUM_OTHERS, TOOK_OTHERS, N_SUMS };

/* A request of a group (own) or of the others. */
struct asked {
    const struct like_row *row;
    float residual, took; /* logs of its duration, at equal load and as it is, less the others' mean
                             in the stratum */
    bool own;
};

/* The groups of one kind, and what is known of them. */
struct compared {
    const struct like *l;
    enum like_groups groups;
    size_t n_groups, n_others, n_strata; /* a stratum: a class and another party */
    struct like_slow *slow;              /* by group: in these spans it is no reference of others */
    bool *may_be_slow;                   /* by group */
    struct cell *cells;                  /* the requests that are fitted */
    size_t n_cells;
    bool is_known[LIKE_N_LOADS];
    float knots[LIKE_N_LOADS][LIKE_PIECES + 1];
    float (*met)[LIKE_N_LOADS]; /* by group: the largest loads */
    struct gram all, *of_group; /* of_group: NULL if there are many groups */
    double (*strata)[N_SUMS];
    struct asked *v; /* the requests of a group and of the others that can be compared */
    size_t n;
    double *scratch; /* as many as there are rows */
    double *n_of;    /* by group: requests */
};

/* What a difference is of: the typical request (the mean of logs), the mean. */
enum measure { TYPICAL, MEAN, N_MEASURES };

/* By block; blocks without enough requests are left out. */
struct series {
    size_t n, block[LIKE_MAX_BLOCKS];
    double v[N_MEASURES][LIKE_MAX_BLOCKS];
    double sd[N_MEASURES]; /* of a value, as of values that do not depend on each other */
};

/* Values [from, to); t: how far their mean is from 0, in standard errors. */
struct interval {
    size_t from, to;
    double mean, t;
};

/* The intervals in which a group is slow. */
struct answer {
    struct series of;
    enum measure measure; /* ... that tells */
    size_t n_blocks;
    struct interval found[LIKE_MAX_SPANS + 1];
    size_t n;
};

static inline uint32_t like_group_of(const struct compared *x, const struct like_row *r)
{
    return x->groups == LIKE_CLIENTS ? r->client : x->groups == LIKE_OBJECTS ? r->object : r->host;
}

static inline uint32_t like_other_of(const struct compared *x, const struct like_row *r)
{
    return x->n_others == 1 ? 0 : x->groups == LIKE_HOSTS ? r->client : r->host;
}

/* Whether a group was found to be slow at a time. */
static inline bool like_is_slow_at(const struct like_slow *s, int64_t ns)
{
    bool is = false;

    for (size_t i = 0; i < s->n; i++)
        is = is || (ns >= s->v[i].start_ns && ns < s->v[i].end_ns);
    return is;
}

/* Returns how far into the run a request began, from 0 to n. */
static inline size_t like_block_of(const struct compared *x, const struct like_row *r, size_t n)
{
    const struct course *c = x->l->c;
    double into = (double)(r->start_ns - c->start_ns) / ((double)(c->end_ns - c->start_ns) + 1);

    return (size_t)fmin(fmax(into * (double)n, 0), (double)(n - 1));
}

/* Prepares the fit of all groups: chooses its requests, and the knots of each load. False: out of
 * memory. */
bool like_fit_init(struct compared *x, struct err *e);

/* Takes the requests of all groups, but those of slow ones in their time, as a reference: what load
 * they met, and how their durations grow with it. */
void like_refer(struct compared *x);

/* Fills in the requests of a group and of the others of whose strata each has `least`, and how much
 * longer than the others' mean they take. Of a group that does not exist: all requests. */
void like_compare(struct compared *x, size_t group, double least);

/* Fills in an interval as a span. Returns false if its requests hardly take longer at their load.
 */
bool like_fill_span(const struct compared *x, const struct answer *a, const struct interval *v,
                    double late, struct like_span *g);

/* Whether a host is sent more than each other one, and its load may be why its requests take
 * longer: their durations grow with it, so that it explains half of the excess. A fast host that is
 * busy looks like that, too. */
bool like_may_be_busy(const struct compared *x, size_t group, const struct like_span *g);

#endif
