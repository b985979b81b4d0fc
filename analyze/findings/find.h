/* The detectors: each looks for faults of one kind in the course of a run, and adds findings. A
 * detector skips what an earlier one has explained. A function that returns false is out of
 * memory. */
#ifndef S3_ANALYZE_FINDINGS_FIND_H
#define S3_ANALYZE_FINDINGS_FIND_H

#include "analyze/findings/course.h"
#include "analyze/findings/finding.h"

#include <math.h>

/* Why a bin is masked, so that levels and durations ignore it: a stall, a stall that is reported, a
 * burst of errors. */
#define FINDING_MASK_STALL          1
#define FINDING_MASK_REPORTED_STALL 2
#define FINDING_MASK_ERRORS         4

/* Stands for a count of 0, or is added to it, where its logarithm is taken: a low value, not minus
 * infinity. */
#define FIND_HALF_MORE .5

/* Durations over time, of all requests that are alike together: strata and blocks are fitted
 * together, so that neither the mix nor the sizes of a block count. */
struct equal_load {
    double n[COURSE_MAX_BLOCKS];    /* samples */
    double ln[COURSE_MAX_BLOCKS];   /* mean log duration, less what such requests usually take */
    double work[COURSE_MAX_BLOCKS]; /* log of the usual mean duration of its requests, over that of
                                       the run */
    double *of_kind;                /* usual log duration, by kind of course.load */
    double mean;                    /* of these, over the run */
    struct course_work *by_op;      /* by operation, then block */
};

/* What changes of the load. */
enum load_quantity {
    LOAD_SIZES,
    LOAD_OBJECTS,
    LOAD_MIX,
    LOAD_THREADS,
    LOAD_RATE,
    LOAD_HOSTS,
    N_LOAD_QUANTITIES,
};

#define LOAD_MOST         100
#define LOAD_LEAST_CHANGE .2 /* a fifth: issue 42 */
#define LOAD_NEAR         3  /* blocks between two changes that come at one time */

/* A change from the level of [from_ns, at_ns) to that of [at_ns, until_ns). */
struct load_change {
    enum load_quantity of;
    size_t op; /* of LOAD_MIX */
    int64_t from_ns, at_ns, until_ns;
    bool is_gradual; /* over all of the run */
    double before, after;
};

/* A course, what was found in it, and the bins that are masked, by FINDING_MASK_... . */
struct search {
    const struct course *c;
    uint8_t *masked;          /* by bin */
    struct equal_load *equal; /* NULL: nothing succeeded, or durations are not known */
    struct load_change loads[LOAD_MOST];
    size_t n_loads;
    struct findings *out;
    enum role role;
};

/* Fills s->equal. False: out of memory. */
bool load_fit(struct search *s, struct err *e);

struct levels;

/* Finds changes of the load, with the help of *l; adds one, if it is more than a fifth; reports
 * all. False: out of memory. */
bool load_find(struct search *s, struct levels *l, struct err *e);
void load_add(struct search *s, struct load_change x);
bool load_say(struct search *s, struct err *e);

/* Whether an open loop asks for more than the system can do. */
bool load_is_too_much(const struct search *s);

/* Whether the number of requests that are due varies more than by chance. */
bool load_due_varies(const struct search *s);

/* Whether a change of the load explains a change of the logarithm of the rate, or of durations, at
 * at_ns. */
bool load_explains(const struct search *s, int64_t at_ns, double change, bool of_rate);

/* Whether what is due in an open loop varies, and more is done in [from_ns, to_ns) than in the rest
 * of the run, by a fifth. What queues up is done some time later, as fast as the system can. */
bool load_is_higher(const struct search *s, int64_t from_ns, int64_t to_ns);

/* Whether a change of what requests are for comes at that time: of sizes or mix. */
bool load_changes_requests(const struct search *s, int64_t at_ns);

/* Returns the mean of values by block over the blocks that begin in [from_ns, to_ns); NAN: there
 * are none, or v is NULL. */
double load_mean(const struct search *s, const double *v, int64_t from_ns, int64_t to_ns);

/* Masks the bins of [start_ns, end_ns). */
void search_mask(struct search *s, int64_t start_ns, int64_t end_ns, uint8_t masks);

/* Share of the bins of [first, last) that carry none of the masks. */
double search_free_frac(const struct search *s, size_t first, size_t last, uint8_t masks);

/* Returns the mean of the values [from, to); 0: there are none. */
double search_mean(const double *v, size_t from, size_t to);

/* Returns length_ns as a share of the run. */
double search_frac(const struct search *s, int64_t length_ns);

/* Returns the largest duration in of_op (by operation) of the operations that have at least `share`
 * of all requests. */
double search_longest_ns(const struct search *s, const double *of_op, double share);

/* From these ratios of durations on a host, a client or an operation is slow, and a problem. */
#define SLOW_LEAST_RATIO   1.25
#define SLOW_PROBLEM_RATIO 1.4
#define SLOW_EDGE_FRAC     .06 /* of the run: a time this near to its end is its end */

#define WARM_UP_FRAC .25 /* of the run: a slow beginning up to here is a warm-up */

/* Least log-likelihood ratio of an interval, if all cells are searched: 1 false alarm in 100,000.
 */
#define FIND_LEAST_LLR log(COURSE_MAX_CELLS / 1e-5)

#define OP_MATTERS .1 /* the share from which on an operation matters to the whole */

/* Share of the bins of a block that carry no mask. */
double search_free_frac_of_block(const struct search *s, size_t block);

/* The stretch of a series with the largest sum of scores, which are added one by one (Kadane's
 * algorithm). `most` is 0 as long as no sum is positive; a score of -INFINITY is in no stretch. */
struct top_stretch {
    size_t first, last;
    double most;
    double sum; /* of the stretch [begun, j) that may become the best */
    size_t begun;
};

static inline void top_stretch_add(struct top_stretch *t, size_t j, double score)
{
    if (t->sum <= 0) {
        t->sum = 0;
        t->begun = j;
    }
    t->sum += score;
    if (t->sum > t->most) {
        t->most = t->sum;
        t->first = t->begun;
        t->last = j;
    }
}

/* Returns the log-likelihood ratio (Poisson) of `ratio` times as many requests as are due to as
 * many as are due: the score of a bin for a stretch with another rate (Kulldorff, "A spatial scan
 * statistic", 1997). */
static inline double find_score(double n, double due, double ratio)
{
    return n * log(ratio) + (1 - ratio) * due;
}

typedef bool detector(struct search *s, struct err *e);
detector find_stalls, find_errors, find_clock_jumps, find_absent, find_stuck, find_backlog,
    find_slow, find_levels;

/* Sets the scope of a finding to party k: a host or a client. */
void search_set_party(struct finding *f, const struct course_parties *p, size_t k);

/* "fell by 68 %"; from twice as much on "rose to 16.6 times"; "stayed the same". */
struct phrase find_change(double ratio);

/* "1MiB", "1MiB to 4MiB": sizes from one to another. Both become figures of the finding; those
 * below a power of two are told as up to it. */
struct phrase find_sizes(struct finding *f, int64_t min_bytes, int64_t max_bytes);

static inline struct phrase find_clock(const struct course *c, int64_t ns)
{
    return finding_clock(c->start_ns, c->end_ns, ns);
}

#endif
