#include "analyze/tools/slo/slo.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* Beyond this many times the requests of the run, a number means nothing. */
#define MOST_TIMES 1e4

const char *const slo_verdict_names[] = {"met", "missed", "undecided"};

/* Returns how many more requests would shrink the interval to the limit. */
static double n_more(const struct slo_measure *m, double margin)
{
    double times = 1 / fabs(margin);

    if (isinf(m->lo) || isinf(m->hi))
        return m->n_least > m->n ? m->n_least - m->n : 0;
    /* Without errors, Wilson's interval shrinks with the number of requests, not with its root. */
    double more = m->value > 0 ? times * times : times;

    return more < MOST_TIMES ? ceil(m->n * (more - 1)) : INFINITY;
}

void slo_judge(struct slo_answer *a)
{
    const struct slo_measure *m = &a->measure;
    bool is_least = a->of->is_least, or_equal = a->of->or_equal;
    double limit = a->of->limit;
    double least = m->value - m->below, most = m->value + m->above;
    double lo = isinf(m->lo) ? m->lo : least - m->guard * (least - m->lo);
    double hi = isinf(m->hi) ? m->hi : most + m->guard * (m->hi - most);
    bool below = m->side < 0 || hi < limit || (hi == limit && or_equal != is_least);
    bool above = m->side > 0 || lo > limit || (lo == limit && or_equal == is_least);

    a->n_more = a->margin = 0;
    a->verdict = SLO_UNDECIDED;
    if (!m->known)
        return;
    double width = m->side != 0       ? fabs(limit - m->value)
                   : m->value < limit ? hi - m->value
                                      : m->value - lo;
    a->margin = (is_least ? m->value - limit : limit - m->value) / fmax(width, DBL_MIN);
    if (is_least ? above : below)
        a->verdict = SLO_MET;
    else if (is_least ? below : above)
        a->verdict = SLO_MISSED;
    else if (m->below + m->above == 0) /* more requests do not narrow bounds */
        a->n_more = n_more(m, a->margin);
}

enum slo_verdict slo_verdict(const struct slo_report *r)
{
    enum slo_verdict all = SLO_MET;

    for (size_t i = 0; i < r->n && all != SLO_MISSED; i++)
        if (r->v[i].verdict != SLO_MET)
            all = r->v[i].verdict;
    return all;
}

enum exit_code slo_code(enum slo_verdict v)
{
    return v == SLO_MET ? EXIT_DONE : v == SLO_MISSED ? EXIT_FAILED : EXIT_UNDECIDED;
}

double slo_margin(const struct slo_report *r)
{
    double least = r->n > 0 ? INFINITY : 0;

    for (size_t i = 0; i < r->n; i++)
        least = fmin(least, r->v[i].margin);
    return least;
}

double slo_excess(const struct slo_report *r)
{
    double most = -INFINITY;

    for (size_t i = 0; i < r->n; i++) {
        const struct slo_assertion *of = r->v[i].of;

        if (!of->is_least)
            most = fmax(most, r->v[i].measure.value / of->limit - 1);
    }
    return most;
}

double slo_least_requests(const struct slo_assertion *of)
{
    double p = (double)of->ppm / SLO_PPM, lo = 0, hi = 0;

    if (of->figure == SLO_TIME || of->figure == SLO_TTFB)
        return log(.025) / log(p);
    if (of->figure != SLO_ERRORS || of->is_least)
        return 0;
    /* The end of the interval is z^2 / (n + z^2). */
    stats_wilson(0, 1, 0, INFINITY, &lo, &hi);
    return hi / (1 - hi) * (SLO_GUARD / of->limit - 1);
}

struct units_text slo_value_text(const struct slo_assertion *of, double value)
{
    static struct units_text (*const text[])(double) = {
        [SLO_TIME] = units_real_duration, [SLO_TTFB] = units_real_duration,
        [SLO_ERRORS] = units_frac_cell,   [SLO_THROUGHPUT] = units_byte_rate,
        [SLO_RATE] = units_rate,          [SLO_MEAN] = units_real_duration};

    return text[of->figure](fmax(value, 0));
}

struct units_text slo_measured_text(const struct slo_answer *a)
{
    const struct slo_measure *m = &a->measure;

    if (!m->known)
        return (struct units_text){"-"};
    return m->below + m->above > 0 ? units_bounds(m->value - m->below, m->value + m->above)
                                   : slo_value_text(a->of, m->value);
}

/* Rounds to two digits: the number is not more exact. */
static struct units_text about(double n)
{
    double unit = pow(10, fmax(floor(log10(n)) - 1, 0));

    return units_count(llround(fmin(ceil(n / unit) * unit, 9e18)));
}

struct slo_words slo_why(const struct slo_answer *a)
{
    struct slo_words w = {""};
    char why[160];
    const char *between = *a->measure.why != '\0' ? "; " : "";

    snprintf(why, sizeof why,
             a->measure.guard > SLO_GUARD ? "%s; judged as if %.1f times as wide" : "%s",
             a->measure.why, a->measure.guard);
    if (a->verdict != SLO_UNDECIDED || a->n_more == 0)
        snprintf(w.s, sizeof w.s, "%s", why);
    else if (isinf(a->n_more))
        snprintf(w.s, sizeof w.s, "%s%stoo close to the limit for any number of requests", why,
                 between);
    else
        snprintf(w.s, sizeof w.s, "%s%sabout %s more requests would decide", why, between,
                 about(a->n_more).s);
    return w;
}
