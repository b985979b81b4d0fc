/* Slow tails: a host (or client) that answers some of its requests far later than the others do,
 * while its typical duration is as that of the others.
 *
 * Compares the number of its slow samples (course.slow_from_ns) with the number that all parties
 * have on average, at the same times, for the same operations and sizes. */
#include "analyze/findings/find.h"
#include "analyze/findings/queues.h"
#include "analyze/findings/slow_limits.h"
#include "analyze/findings/slow_ratio.h"
#include "analyze/stats/stats.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PERIODS     48
#define LEAST_PERIODS   8
#define LEAST_SLOW      30
#define LEAST_Z         6.0
#define LEAST_PERIODS_Z 4.0 /* with the standard error from differences of periods */
#define LEAST_TIMES     2   /* times as many as at the others */
#define PROBLEM_LOST    .03
#define OWN_PART        .7 /* of what the tail costs: if slowness costs more, no tail is reported */

/* Samples of a party, the slow ones, and how many would be slow if it were like all. */
struct tail {
    double n, n_slow, expected;
    double share;            /* the lower median of the others' n_slow / expected */
    double busy_ns, slow_ns; /* time of all samples, of slow ones, also in stalls */
    double n_slow_ever;      /* number of slow ones, also in stalls */
    struct tail_periods *in; /* NULL: it has too few slow ones for a tail */
};

struct tail_periods {
    double off[MAX_PERIODS]; /* n_slow */
    double expected[MAX_PERIODS];
};

struct tails {
    struct search *s;
    const struct course_parties *p;
    struct periods periods;
    double busy_ns; /* of all samples */
    struct tail *of_party;
    struct tail_periods *in; /* NULL in the first pass, which finds the candidates */
};

/* Adds the samples of stratum q in period j. */
static void add_period(struct tails *x, size_t q, size_t j, struct period_samples *of_party)
{
    double all = 0, all_slow = 0;

    search_sum_samples(x->s->c, x->p, q, x->periods, j, of_party);
    for (size_t k = 0; k < x->p->n; k++) {
        all += of_party[k].n;
        all_slow += of_party[k].n_slow;
    }
    for (size_t k = 0; k < x->p->n; k++) {
        double n = of_party[k].n, n_slow = of_party[k].n_slow, expected = n * all_slow / all;
        struct tail *t = &x->of_party[k];

        if (n == 0)
            continue;
        if (x->in == NULL) {
            t->n += n;
            t->n_slow += n_slow;
            t->expected += expected;
        } else if (t->in != NULL) {
            t->in->off[j] += n_slow;
            t->in->expected[j] += expected;
        }
    }
}

static void add_periods(struct tails *x, struct period_samples *of_party)
{
    for (size_t j = 0; j < x->periods.n; j++) {
        if (search_period_free_frac(x->s, x->periods, j,
                                    FINDING_MASK_REPORTED_STALL | FINDING_MASK_ERRORS) < 1)
            continue;
        for (size_t q = 0; q < x->s->c->n_strata; q++)
            add_period(x, q, j, of_party);
    }
}

/* Whether a party may have a tail, by the samples of the whole run. */
static bool is_candidate(const struct tail *t)
{
    return t->n_slow >= LEAST_SLOW && !(t->n_slow < LEAST_TIMES * t->share * t->expected);
}

/* Fills in `share`, and allocates periods for the parties that may have a tail: few of many, and
 * often none (*some is false). False: out of memory. */
static bool choose_parties(struct tails *x, bool *some, struct err *e)
{
    size_t n_parties = x->p->n, n_chosen = 0;
    double *v;

    if (!mem_new(&v, n_parties, e))
        return false;
    for (size_t k = 0; k < n_parties; k++) {
        struct tail *t = &x->of_party[k];
        size_t n = 0;

        t->share = INFINITY;
        if (t->n_slow < LEAST_SLOW)
            continue;
        for (size_t i = 0; i < n_parties; i++)
            if (i != k && x->of_party[i].expected > 0)
                v[n++] = x->of_party[i].n_slow / x->of_party[i].expected;
        if (n > 0)
            t->share = stats_select(v, n, (n - 1) / 2);
        n_chosen += is_candidate(t);
    }
    free(v);
    *some = n_chosen > 0;
    if (!mem_cleared(&x->in, n_chosen + 1, e))
        return false;
    for (size_t k = 0; k < n_parties; k++)
        if (is_candidate(&x->of_party[k]))
            x->of_party[k].in = &x->in[--n_chosen];
    return true;
}

/* Adds up the time of all samples, and of the slow ones. */
static void add_costs(struct tails *x)
{
    const struct course *c = x->s->c;

    for (size_t i = 0; i < c->n_places; i++)
        if (x->p->of_place[i] != UINT32_MAX) {
            struct tail *t = &x->of_party[x->p->of_place[i]];

            t->slow_ns += c->place_slow_ns[i];
            t->busy_ns += c->place_busy_ns[i];
            x->busy_ns += c->place_busy_ns[i];
            for (size_t q = 0; q < c->n_strata; q++)
                for (size_t b = 0; b < c->n_blocks; b++)
                    t->n_slow_ever += course_cell(c, q, i, b)->n_slow;
        }
}

static bool fill_tails(struct tails *x, struct err *e)
{
    struct period_samples *of_party = NULL;
    bool some = false, ok = mem_cleared(&x->of_party, x->p->n, e) && mem_new(&of_party, x->p->n, e);

    if (ok)
        add_periods(x, of_party);
    ok = ok && choose_parties(x, &some, e);
    if (ok && some) {
        add_periods(x, of_party);
        add_costs(x);
    }
    free(of_party);
    return ok;
}

/* Returns how surely there are more slow samples than expected, in standard errors. The more
 * unevenly slow requests are spread over the periods, the larger is the standard error. 0 if they
 * came in a few periods only: that is an event, not a tail. */
static double sureness(const struct tails *x, const struct tail *t)
{
    double count = t->share * t->expected, more = t->n_slow - count, off[MAX_PERIODS];
    size_t m = 0;

    for (size_t j = 0; j < x->periods.n; j++)
        if (t->in->expected[j] > 0)
            off[m++] = t->in->off[j] - t->share * t->in->expected[j];
    if (m < LEAST_PERIODS)
        return 0;
    double variance = (double)m * search_long_run_variance(off, m);
    if (more < LEAST_PERIODS_Z * sqrt(variance))
        return 0;
    return more / sqrt(fmax(2 * count, 1) * fmax(variance / t->n_slow, 1));
}

/* Whether f is a finding that the party of a tail is slow. */
static bool is_of_party(const struct finding *f, const struct finding *tail)
{
    return f->kind == tail->kind && f->party == tail->party && f->client == NULL;
}

/* Whether the party's median duration is as the others', for each operation and size with enough
 * samples. */
static bool is_usual(const struct tails *x, size_t k, bool *usual, struct err *e)
{
    bool *is_faulty, ok = mem_cleared(&is_faulty, x->p->n, e);

    *usual = true;
    for (size_t q = 0; ok && *usual && q < x->s->c->n_strata; q++) {
        struct slow_stretch g = {.party = k,
                                 .periods = x->periods,
                                 .last = x->periods.n - 1,
                                 .n = x->of_party[k].in->expected,
                                 .of = {q, q + 1},
                                 .is_faulty = is_faulty};
        double ratio;

        if (search_samples(x->s, g.of).n < SLOW_LEAST_SAMPLES * (double)x->p->n)
            continue;
        ok = slow_ratio(x->s, x->p, &g, &ratio, e);
        *usual = ok && ratio < SLOW_LEAST_RATIO;
    }
    free(is_faulty);
    return ok;
}

/* Whether a tail describes party k best: no finding says that the party is slow, or the tail costs
 * far more than such findings, and medians are as those of the others. */
static bool is_best(const struct tails *x, size_t k, const struct finding *tail, bool *best,
                    struct err *e)
{
    const struct findings *all = x->s->out;
    double reported = 0;

    for (size_t i = 0; i < all->n; i++)
        reported += is_of_party(&all->v[i], tail) ? all->v[i].lost_frac : 0;
    *best = reported <= OWN_PART * tail->lost_frac;
    return reported == 0 || !*best || is_usual(x, k, best, e);
}

/* Removes the findings that the party of a tail is slow. */
static void take_back(struct findings *all, const struct finding *tail)
{
    size_t n_kept = 0;

    for (size_t i = 0; i < all->n; i++)
        if (is_of_party(&all->v[i], tail))
            free(all->v[i].sentence);
        else
            all->v[n_kept++] = all->v[i];
    all->n = n_kept;
}

static bool say(struct tails *x, size_t k, double z, struct queues *q, struct err *e)
{
    const struct tail *t = &x->of_party[k];
    double more = t->n_slow - t->share * t->expected;
    double lost = t->slow_ns / t->n_slow * more / x->busy_ns;
    struct finding f = search_slowness(x->p, k, lost >= PROBLEM_LOST, lost);

    bool best, explained = false;

    if (lost < FINDING_WORTH_FRAC)
        return true;
    if (!is_best(x, k, &f, &best, e))
        return false;
    if (!best)
        return true;
    if (!x->p->clients && !queues_explain_tail(q, x->s, k, LEAST_TIMES, &explained, e))
        return false;
    if (explained)
        return true;
    take_back(x->s->out, &f);
    double usual = t->share * t->expected / t->n, slow_mean_ns = t->slow_ns / t->n_slow_ever;
    finding_figure(&f, "n_samples", t->n);
    finding_figure(&f, "z", fmin(z, 1e6));
    finding_figure(&f, "slow_share", t->n_slow / t->n);
    finding_figure(&f, "others_slow_share", usual);
    finding_figure(&f, "slow_mean_ns", slow_mean_ns);
    return findings_add(
        x->s->out, &f, e,
        "%s%s answers %s of its requests late, in %s on average (%s at the other "
        "%s); its other requests are no slower",
        x->p->clients ? "Client " : "", intern_shown(f.party), units_pct(100 * t->n_slow / t->n).s,
        units_duration((int64_t)slow_mean_ns).s, units_pct(100 * usual).s, search_others(x->p).s);
}

static bool find_tails_of(struct search *s, const struct course_parties *p, struct err *e)
{
    struct tails x = {.s = s, .p = p};
    struct queues q = {0};

    if (p->n < 2)
        return true;
    x.periods = search_periods(s->c, MAX_PERIODS);
    bool ok = fill_tails(&x, e);
    for (size_t k = 0; ok && k < p->n; k++) {
        const struct tail *t = &x.of_party[k];
        double z = t->in != NULL ? sureness(&x, t) : 0;

        /* Among more parties chance makes one look slow sooner. */
        if (z >= LEAST_Z + .5 * log10((double)p->n))
            ok = say(&x, k, z, &q, e);
    }
    queues_fini(&q);
    free(x.of_party);
    free(x.in);
    return ok;
}

bool find_slow_tails(struct search *s, struct err *e)
{
    if (s->c->place_slow_ns == NULL)
        return true;
    return find_tails_of(s, &s->hosts, e) && find_tails_of(s, &s->clients, e);
}
