/* Finds out whose requests hang: attributes stalls of the system to some hosts, some clients or one
 * operation, and finds stalls of these while the others go on. */
#include "analyze/findings/stalls_internal.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEARLY_ALL       .9   /* least share of the chosen parties in the requests that hang */
#define ALIKE_SHARE      .25  /* least ratio of a chosen party's requests that hang to the most */
#define LEAST_WAITS      2    /* requests of a party that hang at once, in a closed loop */
#define CHANCE           .001 /* probability that a stall of all is taken for one of some */
/* Upper bound on the second part of CHANCE: that the requests that ended are all of others. The
 * first part, that requests of some hosts hang, proves less than it seems: when all stop, wandering
 * queues may have left most requests at a few hosts. */
#define CHANCE_OF_OTHERS .1
#define ALIKE_FRAC       .1 /* of their length: stalls of several parties this close are one */

bool stalls_same_parties(const struct stall *a, const struct stall *b)
{
    return a->of == b->of && a->n_parties == b->n_parties &&
           memcmp(a->parties, b->parties, a->n_parties * sizeof *a->parties) == 0;
}

int64_t stalls_n_requests(const struct stall *st)
{
    int64_t n = 0;
    for (size_t i = 0; i < st->n_parties; i++)
        n += st->of->n_requests[st->parties[i]];
    return n;
}

/* Allocates a gap of each party in the middle of each stall: that of party k in stall i is k * x->n
 * + i. Only requests that take half of the stall count as waiting. */
static bool find_gaps(const struct stalls *x, const struct course_parties *p,
                      struct course_gap **gaps, struct err *e)
{
    if (!mem_new(gaps, p->n * x->n, e))
        return false;
    for (size_t k = 0; k < p->n; k++)
        for (size_t i = 0; i < x->n; i++)
            (*gaps)[k * x->n + i] =
                (struct course_gap){.party = k,
                                    .at_ns = stall_middle_ns(&x->v[i]),
                                    .least_ns = (x->v[i].end_ns - x->v[i].start_ns) / 2};
    return course_find_gaps(x->s->c, p, *gaps, p->n * x->n, e);
}

/* Drops stalls at an edge of the run in which few threads hang, and gaps that threads leave which
 * pause between requests and run in step: shorter than the time from one request of a thread to its
 * next, with fewer requests in flight than usual. When servers stand, there are more. */
static bool drop_gaps(struct stalls *x, struct err *e)
{
    const struct course *c = x->s->c;
    const struct course_parties *p = &c->operations;
    double step_ns = (double)c->n_threads * (double)(c->end_ns - c->start_ns) / (double)c->n;
    bool may_step = c->has_requests && !c->open_loop;
    double usual = 0;
    struct course_gap *gaps = NULL;
    size_t n_kept = 0;

    bool ok = find_gaps(x, p, &gaps, e);
    for (size_t b = 0; may_step && b < c->n_blocks; b++)
        usual += c->load.under_way[b] / (double)c->n_blocks;
    for (size_t i = 0; ok && i < x->n; i++) {
        struct stall *st = &x->v[i];
        double n = 0;

        for (size_t k = 0; k < p->n; k++)
            n += (double)gaps[k * x->n + i].n_waiting;
        if ((!st->at_edge || (c->n_threads > 0 && n >= NEARLY_ALL * (double)c->n_threads)) &&
            (!may_step || (double)(st->end_ns - st->start_ns) >= step_ns || 2 * n >= usual))
            x->v[n_kept++] = *st;
    }
    if (ok)
        x->n = n_kept;
    free(gaps);
    return ok;
}

/* ---- Stalls of some parties ---- */

/* Returns an upper bound on the log of the probability that k or more of n requests are of parties
 * with that share of all (Chernoff). */
static double log_chance(double k, double n, double share)
{
    double part = k / n;
    if (part <= share)
        return 0;
    return -n *
           (part * log(part / share) + (part < 1 ? (1 - part) * log((1 - part) / (1 - share)) : 0));
}

/* Chooses the parties with nearly all requests that hang in stall i, at most one operation, and
 * less than all. *chance becomes the log of the probability that any group of that size has them if
 * all stall. False: there are none. */
static bool choose_parties(const struct stalls *x, size_t i, const struct course_parties *p,
                           const struct course_gap *gaps, struct stall *st, double *chance)
{
    double n = 0, largest = 1, chosen = 0, share = 0;

    *st = x->v[i];
    st->of = p;
    *chance = 0;
    for (size_t k = 0; k < p->n; k++) {
        n += (double)gaps[k * x->n + i].n_waiting;
        largest = fmax(largest, (double)gaps[k * x->n + i].n_waiting);
    }
    for (size_t k = 0; k < p->n; k++) {
        double here = (double)gaps[k * x->n + i].n_waiting;
        if (here < ALIKE_SHARE * largest)
            continue;
        if (st->n_parties == (p->operations ? 1 : FINDING_MAX_PARTIES))
            return false;
        *chance += log((double)(p->n - st->n_parties) / (double)(st->n_parties + 1));
        st->parties[st->n_parties++] = k;
        chosen += here;
        share += (double)p->n_requests[k] / (double)x->s->c->n;
    }
    if (st->n_parties == 0 || st->n_parties == p->n || chosen < NEARLY_ALL * n)
        return false;
    *chance += log_chance(chosen, n, share);
    return true;
}

/* Whether the requests that ended since the stall began are of others, which proves that these went
 * on. Narrows the stall to the time from the last end of a request of its parties to the next. If
 * one of these ends is missing, that is not known. */
static bool others_went_on(const struct stalls *x, size_t i, const struct course_gap *gaps,
                           struct stall *st, double chance)
{
    const struct course *c = x->s->c;
    int64_t start_ns = INT64_MIN, end_ns = INT64_MAX;
    double share = (double)stalls_n_requests(st) / ((double)c->n + 1), n = 0;

    for (size_t k = 0; k < st->n_parties; k++) {
        start_ns = int64_max(gaps[st->parties[k] * x->n + i].before_ns, start_ns);
        end_ns = int64_min(gaps[st->parties[k] * x->n + i].after_ns, end_ns);
    }
    if (start_ns == INT64_MIN || end_ns == INT64_MAX)
        return chance <= log(CHANCE);
    for (size_t j = course_bin(c, start_ns) + 1, to = course_bin(c, gaps[i].at_ns); j < to; j++)
        n += (double)x->done[j];
    st->start_ns = start_ns;
    st->end_ns = end_ns;
    /* By seconds it is not known who went on for a moment. */
    return chance + n * log1p(-share) <= log(CHANCE) &&
           (!c->has_requests || n * log1p(-share) <= log(CHANCE_OF_OTHERS));
}

/* Attributes stalls of the system to the parties whose requests alone hang in them. */
static bool give_to_parties(struct stalls *x, const struct course_parties *p, struct err *e)
{
    struct course_gap *gaps = NULL;

    if (p->n < 2 || x->n == 0)
        return true;
    bool ok = find_gaps(x, p, &gaps, e);
    for (size_t i = 0; ok && i < x->n; i++) {
        struct stall st;
        double chance;

        if (x->v[i].of == NULL && choose_parties(x, i, p, gaps, &st, &chance) &&
            others_went_on(x, i, gaps, &st, chance))
            x->v[i] = st;
    }
    free(gaps);
    return ok;
}

/* ---- One party stalls while the others go on ---- */

static bool lies_in_stall(const struct stalls *x, int64_t at_ns)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->v[i].start_ns <= at_ns && at_ns < x->v[i].end_ns)
            return true;
    return false;
}

/* Adds the gap as a stall of its party, if it is long and empty enough. */
static void add_party_stall(struct stalls *x, const struct course_parties *p,
                            const struct course_gap *gap)
{
    /* In an open loop most threads of a client may have been idle when it stalled. */
    size_t least_waiting = x->s->c->open_loop ? 1 : LEAST_WAITS;

    if (gap->before_ns == INT64_MIN || gap->after_ns == INT64_MAX ||
        gap->after_ns - gap->before_ns < x->least_ns || gap->n_waiting < least_waiting ||
        x->n == STALLS_MAX ||
        stalls_rate_frac(x, gap->before_ns, gap->after_ns) <= 2 * STALLS_RATE_FRAC)
        return;
    x->v[x->n++] = (struct stall){.start_ns = gap->before_ns,
                                  .end_ns = gap->after_ns,
                                  .of = p,
                                  .n_parties = 1,
                                  .parties = {gap->party}};
}

/* Finds the intervals in which next to nothing of a party is completed, in the same way as those of
 * the system: its share of what is usual then. The requests next to them show when each began and
 * ended. */
static bool find_party_stalls(struct stalls *x, const struct course_parties *p, struct err *e)
{
    const struct course *c = x->s->c;
    struct course_gap *gaps = NULL;
    struct stall *own = NULL;
    int64_t *done = NULL;
    double *usual = NULL;
    size_t n = 0, cap = 0;

    if (p->n < 2 || c->ended == NULL)
        return true;
    bool ok = mem_new(&own, STALLS_MAX, e) && mem_new(&done, c->n_wide, e) &&
              mem_cleared(&usual, c->n_wide, e);
    for (size_t j = 0; ok && j < c->n_bins; j++)
        usual[(int64_t)j * c->bin_ns / c->wide_ns] += x->usual[j];
    for (size_t k = 0; ok && k < p->n; k++) {
        struct stalls_series series = {.done = done,
                                       .usual = usual,
                                       .share = (double)p->n_requests[k] / (double)c->n,
                                       .n = c->n_wide,
                                       .bin_ns = c->wide_ns};
        size_t n_own = 0;

        course_count_ended(c, p, k, done);
        stalls_find_intervals(x, &series, own, &n_own);
        ok = mem_fit(&gaps, &cap, n + n_own, e);
        for (size_t i = 0; ok && i < n_own; i++)
            if (!own[i].at_edge && !lies_in_stall(x, stall_middle_ns(&own[i])))
                gaps[n++] = (struct course_gap){.party = k, .at_ns = stall_middle_ns(&own[i])};
    }
    ok = ok && course_find_gaps(c, p, gaps, n, e);
    for (size_t i = 0; ok && i < n; i++)
        add_party_stall(x, p, &gaps[i]);
    free(own);
    free(done);
    free(usual);
    free(gaps);
    return ok;
}

/* ---- Stalls at the same time ---- */

/* Joins stalls of several hosts, or of several clients, at the same time. */
static void join_alike(struct stalls *x)
{
    for (size_t i = 0; i < x->n; i++)
        for (size_t k = i + 1; k < x->n; k++) {
            struct stall *a = &x->v[i], *b = &x->v[k];
            double near_ns =
                fmax((double)x->least_ns, ALIKE_FRAC * ((double)a->end_ns - (double)a->start_ns));

            if (a->of == NULL || a->of != b->of || a->of->operations || stalls_same_parties(a, b) ||
                a->n_parties + b->n_parties > FINDING_MAX_PARTIES ||
                (double)llabs(a->start_ns - b->start_ns) > near_ns ||
                (double)llabs(a->end_ns - b->end_ns) > near_ns)
                continue;
            for (size_t m = 0; m < b->n_parties; m++)
                a->parties[a->n_parties++] = b->parties[m];
            qsort(a->parties, a->n_parties, sizeof *a->parties, finding_compare_indexes);
            a->start_ns = int64_max(a->start_ns, b->start_ns);
            a->end_ns = int64_min(a->end_ns, b->end_ns);
            memmove(b, b + 1, (x->n - k - 1) * sizeof *b);
            x->n--;
            k--;
        }
}

bool stalls_find_parties(struct stalls *x, struct err *e)
{
    const struct course_parties *const all[] = {&x->s->c->hosts, &x->s->c->clients,
                                                &x->s->c->operations};
    const size_t n = sizeof all / sizeof *all;
    bool ok = x->n == 0 || drop_gaps(x, e);

    for (size_t i = 0; ok && i < n; i++)
        ok = give_to_parties(x, all[i], e);
    for (size_t i = 0; ok && i < n; i++)
        ok = find_party_stalls(x, all[i], e);
    join_alike(x);
    return ok;
}
