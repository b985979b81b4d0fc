/* Reports stalls: single ones, and pauses with a period. */
#include "analyze/findings/stalls_internal.h"
#include "analyze/stats/stats.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAME  100 /* letters of a name in a sentence */
#define MAX_NAMED 3   /* parties */

/* Returns the period of the stalls of the parties of `one`; 0: they have none. A pause that was too
 * short to be found leaves a gap of two periods. A stall longer than the period is no periodic
 * pause. */
static int64_t find_period(const struct stalls *x, const struct stall *one, double *gaps)
{
    size_t n = 0;
    int64_t last_ns = INT64_MIN, longest_ns = 0;

    for (size_t i = 0; i < x->n; i++) {
        if (!stalls_are_of_same(&x->v[i], one))
            continue;
        longest_ns = int64_max(longest_ns, stall_length(&x->v[i]));
        if (last_ns != INT64_MIN)
            gaps[n++] = (double)(x->v[i].start_ns - last_ns);
        last_ns = x->v[i].start_ns;
    }
    if (n < 2)
        return 0;
    double period = stats_sort_median(gaps, n), sum = 0, n_periods = 0;
    size_t n_even = 0;
    for (size_t i = 0; i < n; i++) {
        double times = round(gaps[i] / period);
        if (times >= 1 && fabs(gaps[i] / period - times) <= STALLS_TOLERANCE) {
            n_even++;
            sum += gaps[i];
            n_periods += times;
        }
    }
    return n - n_even <= n / 10 && (double)longest_ns < period ? (int64_t)(sum / n_periods) : 0;
}

/* Sets the parties of a stall in its finding; returns their names as the beginning of a
 * sentence. */
static struct phrase name_parties(const struct stall *st, struct finding *f)
{
    const struct course_parties *p = st->of;
    struct phrase t = {""};
    size_t n = 0;

    if (p == NULL)
        return t;
    f->party = p->name[st->parties[0]];
    for (size_t i = 1; i < st->n_parties; i++)
        f->others[f->n_others++] = p->name[st->parties[i]];
    if (p->operations) {
        f->op = f->party;
        f->party = NULL;
        snprintf(t.s, sizeof t.s, "%.*s requests", MAX_NAME, f->op);
        return t;
    }
    f->scope = p->clients ? SCOPE_CLIENT : SCOPE_HOST;
    n += (size_t)snprintf(t.s, sizeof t.s, "%s%.*s",
                          !p->clients         ? ""
                          : st->n_parties > 1 ? "Clients "
                                              : "Client ",
                          MAX_NAME, intern_shown(f->party));
    size_t n_named = st->n_parties > MAX_NAMED + 1 ? MAX_NAMED : st->n_parties;
    for (size_t i = 1; i < n_named; i++)
        n += (size_t)snprintf(t.s + n, sizeof t.s - n, "%s%.*s",
                              i + 1 == st->n_parties ? " and " : ", ", MAX_NAME,
                              intern_shown(f->others[i - 1]));
    if (n_named < st->n_parties)
        snprintf(t.s + n, sizeof t.s - n, " and %zu more", st->n_parties - n_named);
    return t;
}

/* Returns the share of the run's throughput that a stall cost: at least the party's own. */
static double lost_in(const struct stalls *x, const struct stall *st)
{
    return search_frac(x->s, stall_length(st)) *
           fmax(1 - stalls_rate_frac(x, st->start_ns, st->end_ns), stalls_share_of(x, st));
}

/* Masks a stall that is reported. The requests of smaller stalls are not masked: they may be the
 * tail of a party. */
static void mask_reported(const struct stalls *x, const struct stall *st)
{
    search_mask(x->s, st->start_ns, st->end_ns, FINDING_MASK_REPORTED_STALL);
}

/* Reports the periodic stalls of a party; `one` is the first of them. */
static bool say_pauses(const struct stalls *x, const struct stall *one, int64_t period_ns,
                       struct err *e)
{
    const struct search *s = x->s;
    int64_t stood_ns = 0, n = 0;
    double lost = 0;

    for (size_t i = 0; i < x->n; i++)
        if (stalls_are_of_same(&x->v[i], one)) {
            stood_ns += stall_length(&x->v[i]);
            lost += lost_in(x, &x->v[i]);
            mask_reported(x, &x->v[i]);
            n++;
        }
    struct finding f = finding_of("pauses", lost >= FINDING_PROBLEM_FRAC, lost);
    f.period_ns = period_ns;
    struct phrase who = name_parties(one, &f);
    finding_figure(&f, "n", (double)n);
    finding_figure(&f, "mean_length_ns", (double)stood_ns / (double)n);
    finding_figure(&f, "period_ns", (double)period_ns);
    return findings_add(s->out, &f, e, "%s %s times for about %s, every %s from %s on",
                        one->of != NULL ? strcat(who.s, " paused") : "Paused", units_count(n).s,
                        units_duration(stood_ns / n).s, units_duration(period_ns).s,
                        find_clock(s->c, one->start_ns).s);
}

enum worth { WORTH_NOTHING, WORTH_NOTICE, WORTH_PROBLEM };

static enum worth worth_of(const struct stalls *x, const struct stall *st)
{
    int64_t length_ns = stall_length(st);
    double lost = lost_in(x, st);

    /* By seconds the tail is not known: if durations differ widely, a few threads may just wait for
     * long requests. An exponential distribution has a 90th percentile of 3.3 medians. */
    const struct course *c = x->s->c;
    bool is_known = c->tail != NULL || c->n_threads == 0 || c->n_threads > STALLS_FEW_THREADS ||
                    search_longest_ns(x->s, c->p90_ns, OP_MATTERS) <
                        5 * search_longest_ns(x->s, c->median_ns, OP_MATTERS);

    if (is_known && (lost >= FINDING_PROBLEM_FRAC || length_ns >= FINDING_PROBLEM_NS))
        return WORTH_PROBLEM;
    return lost >= FINDING_WORTH_FRAC ? WORTH_NOTICE : WORTH_NOTHING;
}

/* Reports one stall. If it is the longest of n_alike > 1 that are worth a notice each, the sentence
 * counts the others. */
static bool say_stall(const struct stalls *x, const struct stall *st, size_t n_alike,
                      int64_t stood_ns, struct err *e)
{
    const struct search *s = x->s;
    int64_t length_ns = stall_length(st);
    double frac = stalls_rate_frac(x, st->start_ns, st->end_ns);
    bool problem = worth_of(x, st) == WORTH_PROBLEM;
    struct finding f = finding_of("stall", problem, lost_in(x, st));

    struct phrase who = name_parties(st, &f);
    finding_set_times(&f, st->start_ns, st->end_ns);
    finding_figure(&f, "length_ns", (double)length_ns);
    finding_figure(&f, "rate_frac", frac);
    char others[100] = "";
    if (n_alike > 1) {
        finding_figure(&f, "n", (double)n_alike);
        finding_figure(&f, "all_ns", (double)stood_ns);
        snprintf(others, sizeof others, "; %zu shorter one%s, %s in all", n_alike - 1,
                 n_alike == 2 ? "" : "s", units_duration(stood_ns - length_ns).s);
    }
    if (st->of == NULL)
        return findings_add(s->out, &f, e, "Stalled for %s from %s (%.0f %% of the usual rate)%s",
                            units_duration(length_ns).s, find_clock(s->c, st->start_ns).s,
                            100 * frac, others);
    return findings_add(
        s->out, &f, e,
        "%s stalled for %s from %s (the system went on at %.0f %% of its usual rate)%s", who.s,
        units_duration(length_ns).s, find_clock(s->c, st->start_ns).s, 100 * frac, others);
}

/* Reports the stalls of a party that have no period; `one` is the first of them. Each problem is a
 * finding; of those that are worth a notice only the longest is one. */
static bool say_stalls(const struct stalls *x, const struct stall *one, struct err *e)
{
    const struct stall *longest = NULL;
    size_t n = 0;
    int64_t stood_ns = 0;
    bool ok = true;

    for (const struct stall *st = one; ok && st < x->v + x->n; st++) {
        enum worth worth = stalls_are_of_same(st, one) ? worth_of(x, st) : WORTH_NOTHING;
        if (worth != WORTH_NOTHING)
            mask_reported(x, st);
        if (worth == WORTH_PROBLEM)
            ok = say_stall(x, st, 1, 0, e);
        if (worth != WORTH_NOTICE)
            continue;
        if (longest == NULL || stall_length(st) > stall_length(longest))
            longest = st;
        stood_ns += stall_length(st);
        n++;
    }
    return ok && (longest == NULL || say_stall(x, longest, n, stood_ns, e));
}

bool stalls_say(const struct stalls *x, struct err *e)
{
    double *gaps;
    if (!mem_new(&gaps, x->n, e))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < x->n; i++) {
        size_t first = 0;
        while (!stalls_are_of_same(&x->v[first], &x->v[i]))
            first++;
        if (first < i)
            continue;
        int64_t period_ns = find_period(x, &x->v[i], gaps);
        ok = period_ns == 0 ? say_stalls(x, &x->v[i], e) : say_pauses(x, &x->v[i], period_ns, e);
    }
    free(gaps);
    return ok;
}
