/* Finds out whose requests hang: attributes stalls of the system to some hosts, some clients or one
 * operation, and finds stalls of these while the others go on. */
#include "analyze/findings/stalls_internal.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_HUNG       3    /* requests at once */
#define LEAST_WAITING    2    /* requests of a party, in a stall of its own, in a closed loop */
#define LEAST_OF_PARTY   100  /* requests */
#define PARTY_SCORE      18.0 /* log-likelihood ratio: a million bins of all parties are tested */
#define PARTY_SHARE      .9   /* least share of the chosen parties in the requests that hang */
#define ALIKE_SHARE      .25  /* least ratio of hung requests of one more party to the last one */
#define CHANCE           .001 /* probability that a stall of all is taken for one of some */
/* Upper bound on the second part of CHANCE: that the requests that ended are all of others. The
 * first part, that requests of some hosts hang, proves less than it seems: when all stop, wandering
 * queues may have left most requests at a few hosts. */
#define CHANCE_OF_OTHERS .05
#define OTHERS_GO_ON     .3  /* of the usual rate */
#define ALIKE_FRAC       .15 /* of their length: stalls of several parties this close are one */

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

/* ---- Stalls of some parties ---- */

/* Fills in each party's share of the requests under way: its share of the time of all requests. */
static void fill_busy(const struct course *c, const struct course_parties *p, double *busy)
{
    memset(busy, 0, p->n * sizeof *busy);
    if (c->cells == NULL)
        for (size_t k = 0; k < p->n; k++)
            busy[k] = (double)p->n_requests[k];
    for (size_t q = 0; c->cells != NULL && q < c->n_strata; q++)
        for (size_t i = 0; i < c->n_places; i++) {
            size_t party = course_party_of(p, c->strata[q].table, i);
            double n = 0, log_sum = 0;

            for (size_t b = 0; b < c->n_blocks && party != UINT32_MAX; b++) {
                n += (double)course_cell(c, q, i, b)->n;
                log_sum += (double)course_cell(c, q, i, b)->log_sum;
            }
            if (n > 0)
                busy[party] += n * exp2(log_sum / n / COURSE_LOG_ONE);
        }
    double sum = 0;
    for (size_t k = 0; k < p->n; k++)
        sum += busy[k];
    for (size_t k = 0; k < p->n; k++)
        busy[k] /= fmax(sum, 1);
}

static size_t index_of_most(const size_t *v, size_t n)
{
    size_t most = 0;
    for (size_t i = 1; i < n; i++)
        if (v[i] > v[most])
            most = i;
    return most;
}

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

/* Finds the fewest parties, less than all, with nearly all requests that hang in the middle of the
 * stall. *chance becomes the log of the probability that any group of that size has them if all
 * stall. False: there are none. */
static bool choose_parties(const struct stalls *x, struct stall *st, const struct course_parties *p,
                           const double *busy, size_t *of_party, double *chance)
{
    int64_t at_ns = st->start_ns + (st->end_ns - st->start_ns) / 2;
    size_t n = course_count_hung(x->s->c, p, at_ns, st->end_ns - st->start_ns, of_party);
    size_t sum = 0, last = 0;
    size_t most_parties = p->operations ? 1 : FINDING_MAX_PARTIES;
    double share = 0;

    *chance = 0;
    st->of = p;
    st->n_parties = 0;
    while (st->n_parties < p->n) {
        size_t k = index_of_most(of_party, p->n), n_here = of_party[k];
        bool enough = (double)sum >= PARTY_SHARE * (double)n;

        if (enough && (n_here < LEAST_HUNG || (double)n_here < ALIKE_SHARE * (double)last))
            break;
        if (st->n_parties == most_parties || n_here == 0)
            return false;
        *chance += log((double)(p->n - st->n_parties) / (double)(st->n_parties + 1));
        st->parties[st->n_parties++] = k;
        share += busy[k];
        sum += n_here;
        last = n_here;
        of_party[k] = 0;
    }
    if (st->n_parties == p->n || sum < LEAST_HUNG)
        return false;
    qsort(st->parties, st->n_parties, sizeof *st->parties, finding_compare_indexes);
    *chance += log_chance((double)sum, (double)n, share);
    return true;
}

/* Whether a stall shows which operation hangs: it is so long that a request of any operation counts
 * as hung. */
static bool tells_operations(const struct course *c, const struct stall *st)
{
    for (size_t k = 0; k < c->n_ops; k++)
        if ((double)c->ops[k].n >= .02 * (double)c->n && st->end_ns - st->start_ns < c->hung_ns[k])
            return false;
    return true;
}

/* Narrows a stall of some parties to the time from the last end of one of their requests to the
 * next. False: one of the ends is missing. */
static bool narrow(struct stall *st, const struct course_gap *gaps)
{
    int64_t start_ns = INT64_MIN, end_ns = INT64_MAX;

    for (size_t i = 0; i < st->n_parties; i++) {
        start_ns = int64_max(gaps[i].before_ns, start_ns);
        end_ns = int64_min(gaps[i].after_ns, end_ns);
    }
    if (start_ns == INT64_MIN || end_ns == INT64_MAX)
        return false;
    st->start_ns = start_ns;
    st->end_ns = end_ns;
    return true;
}

/* Returns the log of the probability that no request of the parties is among those that ended in a
 * stall before to_ns, though all stalled alike. */
static double log_chance_of_others(const struct stalls *x, const struct stall *st, int64_t to_ns)
{
    const struct course *c = x->s->c;
    double share = (double)stalls_n_requests(st) / (double)c->n;

    return stalls_done(x, course_bin(c, st->start_ns) + 1, course_bin(c, to_ns)) *
           log1p(-fmin(share, 1 - 1e-9));
}

/* Attributes stalls of the system to the parties whose requests alone hang in them. */
static bool give_to_parties(struct stalls *x, const struct course_parties *p, struct err *e)
{
    const struct course *c = x->s->c;
    size_t *of_party = NULL, n = 0;
    double *busy = NULL, *chances = NULL;
    struct stall *given = NULL;
    struct course_gap *gaps = NULL;

    if (p->n < 2 || x->n == 0)
        return true;
    bool ok = mem_new(&of_party, p->n, e) && mem_new(&busy, p->n, e) &&
              mem_new(&chances, x->n, e) && mem_cleared(&given, x->n, e) &&
              mem_new(&gaps, x->n * FINDING_MAX_PARTIES, e);
    if (ok)
        fill_busy(c, p, busy);
    for (size_t i = 0; ok && i < x->n; i++) {
        struct stall st = x->v[i];

        if (st.of != NULL || (p->operations && !tells_operations(c, &st)) ||
            !choose_parties(x, &st, p, busy, of_party, &chances[i]))
            continue;
        given[i] = st;
        for (size_t k = 0; k < st.n_parties; k++)
            gaps[n++] = (struct course_gap){.party = st.parties[k],
                                            .at_ns = st.start_ns + (st.end_ns - st.start_ns) / 2};
    }
    ok = ok && course_find_gaps(c, p, gaps, n, e);
    n = 0;
    for (size_t i = 0; ok && i < x->n; i++) {
        struct stall *st = &given[i];
        int64_t at_ns = x->v[i].start_ns + (x->v[i].end_ns - x->v[i].start_ns) / 2;

        if (st->of == NULL)
            continue;
        bool whole = narrow(st, gaps + n);
        n += st->n_parties;
        /* By seconds it is not known who went on for a moment. */
        bool by_request = whole && c->has_requests;
        double of_others = whole ? log_chance_of_others(x, st, at_ns) : 0;
        if (chances[i] + of_others <= log(CHANCE) &&
            (!by_request || of_others <= log(CHANCE_OF_OTHERS)))
            x->v[i] = *st;
    }
    free(of_party);
    free(busy);
    free(chances);
    free(given);
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
    size_t least_waiting = x->s->c->open_loop ? 1 : LEAST_WAITING;

    if (gap->before_ns == INT64_MIN || gap->after_ns == INT64_MAX ||
        gap->after_ns - gap->before_ns < x->least_ns || gap->n_waiting < least_waiting ||
        x->n == STALLS_MAX || stalls_rate_frac(x, gap->before_ns, gap->after_ns) < OTHERS_GO_ON)
        return;
    x->v[x->n++] = (struct stall){.start_ns = gap->before_ns,
                                  .end_ns = gap->after_ns,
                                  .of = p,
                                  .n_parties = 1,
                                  .parties = {gap->party}};
}

/* Finds the stretches in which next to nothing of a party is completed, in the same way as those of
 * the system; the requests next to them show when each began and ended. */
static bool find_party_stalls(struct stalls *x, const struct course_parties *p, struct err *e)
{
    const struct course *c = x->s->c;
    if (p->n < 2 || c->ended == NULL)
        return true;
    struct stalls *own = NULL;
    struct course_gap *gaps = NULL;
    size_t n = 0, cap = 0;
    bool ok = mem_cleared(&own, 1, e) && mem_new(&own->done, c->n_wide, e);
    if (ok) {
        own->s = x->s;
        own->n_bins = c->n_wide;
        own->bin_ns = c->wide_ns;
        own->least_ns = x->least_ns;
        own->least_score = PARTY_SCORE;
    }
    for (size_t k = 0; ok && k < p->n; k++) {
        if (p->n_requests[k] < LEAST_OF_PARTY)
            continue;
        course_count_ended(c, p, k, own->done);
        own->n = 0;
        if (stalls_find_usual(own))
            stalls_find_stretches(own);
        ok = mem_fit(&gaps, &cap, n + own->n, e);
        for (size_t i = 0; ok && i < own->n; i++) {
            int64_t at_ns = own->v[i].start_ns + (own->v[i].end_ns - own->v[i].start_ns) / 2;
            if (!lies_in_stall(x, at_ns))
                gaps[n++] = (struct course_gap){.party = k, .at_ns = at_ns};
        }
    }
    ok = ok && course_find_gaps(c, p, gaps, n, e);
    for (size_t i = 0; ok && i < n; i++)
        add_party_stall(x, p, &gaps[i]);
    if (own != NULL)
        free(own->done);
    free(own);
    free(gaps);
    return ok;
}

/* ---- Stalls at the same time ---- */

static bool is_near(int64_t a_ns, int64_t b_ns, double near_ns)
{
    return fabs((double)a_ns - (double)b_ns) <= near_ns;
}

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
                !is_near(a->start_ns, b->start_ns, near_ns) ||
                !is_near(a->end_ns, b->end_ns, near_ns))
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
    bool ok = true;

    for (size_t i = 0; ok && i < 3; i++)
        ok = give_to_parties(x, all[i], e);
    for (size_t i = 0; ok && i < 3; i++)
        ok = find_party_stalls(x, all[i], e);
    join_alike(x);
    return ok;
}
