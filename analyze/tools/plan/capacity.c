#include "analyze/tools/plan/plan_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N_OF_AN_END  4     /* runs: the first, and three that confirm it */
#define MOST_COUNTED 2.0   /* largest margin: an odd run does not outvote three others */
#define MOST_DRAWN   100.0 /* largest margin for interpolation: it may be infinite */
#define DECIDES      .75   /* N_OF_AN_END runs of this margin decide, with something to spare */
/* How far down to look for a rate that is met, below undecided ones; how far apart rates must be to
 * show that none is. */
#define LOWER_RATES  8

/* The runs at one rate. */
struct tally {
    size_t n;
    double margin; /* of all runs together */
    double mean;   /* mean of the runs' margins */
    double excess; /* mean */
};

static double within(double margin, double most)
{
    return fmin(fmax(margin, -most), most);
}

static struct tally tally_of(const struct plan_point *v, size_t n, double rate)
{
    struct tally t = {0};

    for (size_t i = 0; i < n; i++)
        if (v[i].level == rate) {
            t.n++;
            t.margin += within(v[i].margin, MOST_COUNTED);
            t.mean += within(v[i].margin, MOST_DRAWN);
            t.excess += v[i].excess;
        }
    t.margin /= sqrt((double)t.n);
    t.mean /= (double)t.n;
    t.excess /= (double)t.n;
    return t;
}

static enum slo_verdict verdict_of(struct tally t)
{
    return t.margin >= 1 ? SLO_MET : t.margin <= -1 ? SLO_MISSED : SLO_UNDECIDED;
}

/* Returns the highest rate that was missed and shows, with the lowest one, that no rate is low
 * enough; 0: none. At rate 0 the line through both is above 0 if `excess` is below times * low.
 * Rates that were not kept up show nothing: their excess has no number. */
static double flat_to(const struct plan_point *v, size_t n, double missed)
{
    double low = tally_of(v, n, missed).excess, found = 0;

    for (size_t i = 0; i < n; i++) {
        struct tally high = tally_of(v, n, v[i].level);
        double times = v[i].level / missed;

        if (times < 1)
            return 0;
        if (times >= LOWER_RATES && isfinite(low) && verdict_of(high) == SLO_MISSED &&
            high.excess > 0 && high.excess < times * low)
            found = fmax(found, v[i].level);
    }
    return found;
}

/* Finds the highest rate that was met below all missed ones, and the lowest that was missed. */
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
    if (x.missed > 0)
        x.flat_to = flat_to(v, n, x.missed);
    return x;
}

double plan_capacity_longer(const struct plan_interval *x, const struct plan_point *v, size_t n)
{
    double least = 0;

    for (size_t i = 0; i < n; i++) {
        struct tally t = tally_of(v, n, v[i].level);
        double times = fmax(1 / (t.mean * t.mean), 1);

        if (v[i].level > x->met && (x->missed == 0 || v[i].level < x->missed) &&
            verdict_of(t) == SLO_UNDECIDED)
            least = least > 0 ? fmin(least, times) : times;
    }
    return least;
}

/* Rounds a rate, so that people can read it and a command line gives it back unchanged. */
static double rounded(double rate)
{
    char text[32];

    snprintf(text, sizeof text, "%.4g", rate);
    return strtod(text, NULL);
}

/* Returns the next rate between a decided and an undecided one: where N_OF_AN_END runs would
 * decide, by interpolating the margins of both, but at least half of the way to the undecided one.
 * 0: it would be too near to one of them. */
static double beside(const struct plan_capacity *c, const struct plan_point *v, size_t n,
                     double decided, double undecided)
{
    bool is_met = decided < undecided;
    double far = fabs(tally_of(v, n, decided).mean), mean = tally_of(v, n, undecided).mean;
    double gap = log(undecided / decided), most = fabs(gap) - log1p(c->precision / 2);
    double share = (far - DECIDES) / (far - (is_met ? mean : -mean));
    double way = fmin(fmax(share, .5) * fabs(gap), most);
    double next = rounded(decided * exp(copysign(way, gap)));

    return far <= DECIDES || way < c->precision / 4 || tally_of(v, n, next).n > 0 ? 0 : next;
}

/* Whether N_OF_AN_END runs in all are likely to decide an undecided rate. */
static bool is_near_an_answer(struct tally t)
{
    return t.n < N_OF_AN_END && t.margin * t.margin * N_OF_AN_END >= (double)t.n;
}

/* Returns the next rate between the ends; 0: the gaps are narrow enough. */
static double between(const struct plan_capacity *c, const struct plan_interval *x,
                      const struct plan_point *v, size_t n)
{
    double low = x->missed, high = x->met; /* lowest and highest undecided rate */

    for (size_t i = 0; i < n; i++) {
        if (v[i].level <= x->met || v[i].level >= x->missed)
            continue;
        low = fmin(low, v[i].level);
        high = fmax(high, v[i].level);
    }
    if (high == x->met) {
        double middle = rounded(sqrt(x->met * x->missed));
        bool wide = x->missed / x->met > 1 + c->precision;

        return wide && tally_of(v, n, middle).n == 0 ? middle : 0;
    }
    if (is_near_an_answer(tally_of(v, n, low)))
        return low;
    if (is_near_an_answer(tally_of(v, n, high)))
        return high;
    double below = beside(c, v, n, x->met, low), above = beside(c, v, n, x->missed, high);
    return above == 0 || (below > 0 && low / x->met >= x->missed / high) ? below : above;
}

/* Returns the next rate while none is met. Runs at low rates have few requests, which decide less.
 * So the rates between the undecided and the missed ones come first, then a few lower ones. If the
 * lowest one is missed, one far above may show that all are. */
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
    double lower = rounded(fmax(least / 2, c->least));
    bool lowest = lower >= least;
    double next = lowest ? rounded(least * LOWER_RATES) : lower;
    bool enough = undecided > 0 && (lowest || least < undecided / LOWER_RATES);
    return (struct plan_next){.done = enough || tally_of(v, n, next).n > 0, .level = next};
}

struct plan_next plan_capacity_next(const struct plan_capacity *c, const struct plan_point *v,
                                    size_t n)
{
    struct plan_interval x = plan_capacity_found(v, n);
    double most = 0;

    if (n >= c->max_runs || x.flat_to > 0)
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
