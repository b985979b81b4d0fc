#include "analyze/plan/decide.h"

#include "analyze/plan/plan_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N_OF_AN_END (1 + PLAN_CONFIRMATIONS)
#define LOWER_RATES 8 /* how far down to look for a rate that is met, below undecided ones */

/* The runs at one rate. */
struct tally {
    size_t n, n_met, n_missed;
};

static struct tally tally_of(const struct plan_point *v, size_t n, double rate)
{
    struct tally t = {0};

    for (size_t i = 0; i < n; i++)
        if (v[i].level == rate) {
            t.n++;
            t.n_met += v[i].verdict == SLO_MET;
            t.n_missed += v[i].verdict == SLO_MISSED;
        }
    return t;
}

/* An undecided run says nothing: most of those that decide count, and at least half of all. */
static enum slo_verdict verdict_of(struct tally t)
{
    if (t.n_met > t.n_missed && 2 * t.n_met >= t.n)
        return SLO_MET;
    return t.n_missed > t.n_met && 2 * t.n_missed >= t.n ? SLO_MISSED : SLO_UNDECIDED;
}

/* The highest rate up to which none was missed, and the lowest that was. */
struct plan_interval plan_capacity_found(const struct plan_point *v, size_t n)
{
    struct plan_interval x = {0};

    for (size_t i = 0; i < n; i++)
        if (verdict_of(tally_of(v, n, v[i].level)) == SLO_MISSED &&
            (x.missed == 0 || v[i].level < x.missed))
            x.missed = v[i].level;
    for (size_t i = 0; i < n; i++)
        if (verdict_of(tally_of(v, n, v[i].level)) == SLO_MET && v[i].level > x.met &&
            (x.missed == 0 || v[i].level < x.missed))
            x.met = v[i].level;
    x.confirmed = x.met > 0 && x.missed > 0 && tally_of(v, n, x.met).n >= N_OF_AN_END &&
                  tally_of(v, n, x.missed).n >= N_OF_AN_END;
    return x;
}

/* Rates that people can read, and that a command line gives back unchanged. */
static double rounded(double rate)
{
    char text[32];

    snprintf(text, sizeof text, "%.4g", rate);
    return strtod(text, NULL);
}

/* The rate between the ends that halves the wider gap beside those that no run could decide; 0: the
 * gaps are narrow enough. */
static double between(const struct plan_capacity *c, const struct plan_interval *x,
                      const struct plan_point *v, size_t n)
{
    double low = x->missed, high = x->met; /* of the undecided rates */

    for (size_t i = 0; i < n; i++) {
        if (v[i].level <= x->met || v[i].level >= x->missed)
            continue;
        low = fmin(low, v[i].level);
        high = fmax(high, v[i].level);
    }
    bool any = high > x->met;
    double below = low / x->met, above = x->missed / high;
    double most = any ? 1 + c->precision / 2 : 1 + c->precision;
    double next = rounded(below >= above ? sqrt(x->met * low) : sqrt(high * x->missed));

    if (fmax(below, above) <= most || tally_of(v, n, next).n > 0)
        return 0;
    return next;
}

/* No rate was met yet. Fewer requests decide less: so the rates between those that are undecided
 * and those that are missed come first, then a few lower ones. */
static struct plan_next below_missed(const struct plan_capacity *c, double missed,
                                     const struct plan_point *v, size_t n)
{
    double undecided = 0, least = missed;

    for (size_t i = 0; i < n; i++) {
        least = fmin(least, v[i].level);
        if (v[i].level < missed)
            undecided = fmax(undecided, v[i].level);
    }
    double middle = rounded(sqrt(undecided * missed));
    if (undecided > 0 && missed / undecided > 1 + c->precision && tally_of(v, n, middle).n == 0)
        return (struct plan_next){.level = middle};
    return (struct plan_next){.done = undecided > 0 && least < undecided / LOWER_RATES,
                              .level = rounded(least / 2)};
}

struct plan_next plan_capacity_next(const struct plan_capacity *c, const struct plan_point *v,
                                    size_t n)
{
    struct plan_interval x = plan_capacity_found(v, n);
    double most = 0;

    if (n >= c->max_runs)
        return (struct plan_next){.done = true};
    for (size_t i = 0; i < n; i++)
        most = fmax(most, v[i].level);
    if (n == 0)
        return (struct plan_next){.level = rounded(c->from)};
    if (x.missed == 0)
        return (struct plan_next){.level = rounded(2 * most)};
    if (x.met == 0)
        return below_missed(c, x.missed, v, n);
    double middle = between(c, &x, v, n);
    if (middle > 0)
        return (struct plan_next){.level = middle};
    size_t n_met = tally_of(v, n, x.met).n, n_missed = tally_of(v, n, x.missed).n;
    size_t lacks_met = n_met < N_OF_AN_END ? N_OF_AN_END - n_met : 0;
    size_t lacks_missed = n_missed < N_OF_AN_END ? N_OF_AN_END - n_missed : 0;
    if (lacks_met + lacks_missed == 0)
        return (struct plan_next){.done = true};
    bool at_met = plan_random(c->seed, n) % (lacks_met + lacks_missed) < lacks_met;
    return (struct plan_next){.level = at_met ? x.met : x.missed, .confirms = true};
}
