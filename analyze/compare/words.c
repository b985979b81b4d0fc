#include "analyze/compare/words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *compare_words_verdict_code(const struct compare_metric *m)
{
    switch (m->verdict) {
    case STATS_NOT_ENOUGH_DATA:
        return "not-enough-data";
    case STATS_SAME:
        return "same";
    case STATS_SAME_WITHIN_RUN:
        return "same-within-run";
    case STATS_BETTER:
        return metrics[m->metric].better;
    case STATS_WORSE:
        return metrics[m->metric].worse;
    case STATS_DIFFERS:
        return "differs";
    case STATS_INCONCLUSIVE:
        break;
    }
    return "inconclusive";
}

static void __attribute__((format(printf, 2, 3)))
append(struct compare_words_text *t, const char *fmt, ...)
{
    size_t n = strlen(t->s);
    va_list args;
    va_start(args, fmt);
    vsnprintf(t->s + n, sizeof t->s - n, fmt, args);
    va_end(args);
}

/* "5%", "12.5%", or "0.4 points" of a difference. */
static struct units_text amount(const struct compare_metric *m, double frac)
{
    struct units_text t;
    if (m->cmp.is_difference)
        snprintf(t.s, sizeof t.s, "%.3g points", 100 * frac);
    else
        snprintf(t.s, sizeof t.s, "%.3g%%", 100 * frac);
    return t;
}

static bool is_single(const struct compare_metric *m)
{
    return m->before.n == 1 && m->after.n == 1;
}

/* " (single run, run CV 2%)" where one run stands for a side. */
static void append_single(struct compare_words_text *t, const struct compare_metric *m)
{
    const struct stats_noise *noise = &m->cmp.noise;
    if (is_single(m) && noise->kind == STATS_NOISE_HISTORY)
        append(t, " (single run, run CV %.3g%% in %zu runs)", 100 * noise->sigma, noise->n_history);
    else if (is_single(m) && noise->kind == STATS_NOISE_CV)
        append(t, " (single run, run CV %.3g%%)", 100 * noise->sigma);
    else if (m->cmp.method == STATS_ONE_MANY)
        append(t, " (single run)");
}

/* "faster", "fewer errors" */
static void append_change(struct compare_words_text *t, const struct compare_metric *m,
                          const char *change)
{
    append(t, metrics[m->metric].kind == METRIC_DIFFERENCE ? "%s errors" : "%s", change);
}

struct compare_words_text compare_words_verdict(const struct compare_metric *m)
{
    struct compare_words_text t = {""};
    switch (m->verdict) {
    case STATS_NOT_ENOUGH_DATA:
        append(&t, "not enough data (%s)", m->cmp.why);
        return t;
    case STATS_SAME:
        append(&t, "same within %s", amount(m, m->delta).s);
        break;
    case STATS_SAME_WITHIN_RUN:
        append(&t, "same within %s, by within-run noise alone", amount(m, m->delta).s);
        break;
    case STATS_BETTER:
        append_change(&t, m, metrics[m->metric].better);
        break;
    case STATS_WORSE:
        append_change(&t, m, metrics[m->metric].worse);
        break;
    case STATS_DIFFERS:
        append(&t, "differs: a change only if runs repeat within CV %.2g%%",
               100 * m->cmp.break_even);
        break;
    case STATS_INCONCLUSIVE:
        if (isfinite(m->mde_frac))
            append(&t, "inconclusive (MDE %s)", amount(m, m->mde_frac).s);
        else
            append(&t, "inconclusive (no effect could be found)");
        break;
    }
    if (m->beyond_delta && (m->verdict == STATS_BETTER || m->verdict == STATS_WORSE))
        append(&t, ", >= %s", amount(m, m->delta).s);
    append_single(&t, m);
    return t;
}

struct compare_words_text compare_words_assumption(const struct compare_metric *m)
{
    struct compare_words_text t = {""};
    const struct stats_noise *noise = &m->cmp.noise;
    switch (m->cmp.method) {
    case STATS_MANN_WHITNEY:
        append(&t, "exact Mann-Whitney test over runs, Hodges-Lehmann estimate");
        return t;
    case STATS_WELCH:
        append(&t, "Welch's t over the logs of few runs, normal noise");
        return t;
    case STATS_ONE_MANY:
        append(&t, "t of one run against the logs of several, normal noise");
        return t;
    case STATS_MEANS:
        append(&t, "single runs, batch means within each");
        break;
    case STATS_QUANTILES:
        append(&t, "single runs, effective order statistics within each");
        break;
    case STATS_DIFFERENCE:
        append(&t, "single runs, difference of rates");
        break;
    }
    if (noise->kind == STATS_NOISE_CV)
        append(&t, "; run CV %.3g%% as given", 100 * noise->sigma);
    else if (noise->kind == STATS_NOISE_HISTORY)
        append(&t, "; run CV %.3g%% from %zu earlier runs", 100 * noise->sigma, noise->n_history);
    else
        append(&t, "; noise between runs unknown");
    return t;
}

struct compare_words_text compare_words_part(const struct run_part *p)
{
    struct compare_words_text t = {""};
    if (p->kind == RUN_HOST)
        append(&t, "at %.200s", p->host);
    else if (p->kind == RUN_SIZE && p->max_bytes < 0)
        append(&t, "%s up", units_size((double)p->min_bytes).s);
    else if (p->kind == RUN_SIZE)
        append(&t, "%s -> %s", units_size((double)p->min_bytes).s,
               units_size((double)p->max_bytes).s);
    return t;
}

const char *compare_words_setting(enum compare_setting_kind kind)
{
    static const char *const names[] = {
        [COMPARE_OPERATIONS] = "Operations",
        [COMPARE_CONCURRENCY] = "Concurrency",
        [COMPARE_ENDPOINTS] = "Endpoints",
        [COMPARE_CLIENTS] = "Clients",
        [COMPARE_OBJECTS_PER_OP] = "Objects per operation",
        [COMPARE_DURATION_S] = "Duration",
        [COMPARE_SIZE] = "Object size",
        [COMPARE_SHARE] = "Share of the requests",
        [COMPARE_AUTOTERM] = "Ended by autoterm",
        [COMPARE_MIXED] = "Operations at the same time",
    };
    return names[kind];
}

static struct units_text setting_value(enum compare_setting_kind kind, double value)
{
    struct units_text t;
    switch (kind) {
    case COMPARE_DURATION_S:
        snprintf(t.s, sizeof t.s, "%.0fs", value);
        return t;
    case COMPARE_SIZE:
        return units_size(value);
    case COMPARE_SHARE:
        return units_pct(100 * value);
    case COMPARE_AUTOTERM:
    case COMPARE_MIXED:
        snprintf(t.s, sizeof t.s, "%s", value != 0 ? "yes" : "no");
        return t;
    default:
        snprintf(t.s, sizeof t.s, "%.0f", value);
        return t;
    }
}

static void append_span(struct compare_words_text *t, enum compare_setting_kind kind,
                        const struct compare_span *s)
{
    if (s->several)
        append(t, "several, mean ");
    append(t, "%s", setting_value(kind, s->lo).s);
    if (s->hi != s->lo)
        append(t, " .. %s", setting_value(kind, s->hi).s);
}

struct compare_words_text compare_words_setting_change(const struct compare_setting *s)
{
    struct compare_words_text t = {""};
    append_span(&t, s->kind, &s->before);
    append(&t, " -> ");
    append_span(&t, s->kind, &s->after);
    return t;
}

/* "34.8MiB/s +- 5.3%" */
static void put_side(char *out, size_t size, enum run_metric metric, const struct compare_values *v)
{
    if (metrics[metric].kind == METRIC_DIFFERENCE)
        snprintf(out, size, "%s", metrics[metric].text(v->center).s);
    else if (!isfinite(v->spread_frac))
        snprintf(out, size, "%s +- ?", metrics[metric].text(v->center).s);
    else
        snprintf(out, size, v->spread_frac < .995 ? "%s +- %.2g%%" : "%s +- %.0f%%",
                 metrics[metric].text(v->center).s, 100 * v->spread_frac);
}

/* theta as a change: "-18.1%", "+0.25 points". */
static struct units_text change_of(const struct compare_metric *m, double theta)
{
    struct units_text t;
    double pct = m->cmp.is_difference ? 100 * theta : 100 * expm1(theta);
    if (!isfinite(pct))
        snprintf(t.s, sizeof t.s, "%s", pct > 0 ? "inf" : "-inf");
    else if (m->cmp.is_difference)
        snprintf(t.s, sizeof t.s, "%+.3g points", pct);
    else
        snprintf(t.s, sizeof t.s, fabs(pct) < 10 ? "%+.2f%%" : "%+.1f%%", pct);
    return t;
}

struct compare_words_row compare_words_row(const struct compare_metric *m)
{
    struct compare_words_row r = {.verdict = compare_words_verdict(m)};
    snprintf(r.metric, sizeof r.metric, "%s%s", metrics[m->metric].title, m->in_family ? "" : " *");
    put_side(r.before, sizeof r.before, m->metric, &m->before);
    put_side(r.after, sizeof r.after, m->metric, &m->after);
    snprintf(r.change, sizeof r.change, "%s",
             isnan(m->cmp.theta) ? "-" : change_of(m, m->cmp.theta).s);
    if (!m->cmp.ok) {
        snprintf(r.ci, sizeof r.ci, "-");
        snprintf(r.p, sizeof r.p, "-");
        return r;
    }
    snprintf(r.ci, sizeof r.ci, "[%s, %s]", change_of(m, m->cmp.lo).s, change_of(m, m->cmp.hi).s);
    double p = m->in_family ? m->p_holm : m->cmp.p;
    snprintf(r.p, sizeof r.p, p < .001 ? "<0.001" : "%.3f", p);
    return r;
}

/* ---- Sentences ---- */

struct units_text compare_words_percent(double before, double after)
{
    struct units_text t = {"-"};
    if (before > 0 && !isnan(after))
        snprintf(t.s, sizeof t.s, "%+.2f%%", 100 * (after - before) / before);
    return t;
}

const char compare_words_limited[] =
    "the configurations differ, which limits the comparison: not all of a difference need come "
    "from what was to be compared";

const char compare_words_noise[] =
    "How much runs differ from each other is unknown: p and CI hold for noise within the runs "
    "alone. Give several runs a side, --history or --run-cv.";

struct compare_words_text compare_words_notes(const struct compare *c)
{
    struct compare_words_text t = {""};
    if (c->n_family == 0)
        append(&t, "Nothing was tested: no metric has enough data on both sides.");
    else
        append(&t, "+-: 95%% CI%s. p: Holm-adjusted over %zu comparison%s; * exploratory, raw p.%s",
               c->single ? " within the run" : " of the median run", c->n_family,
               c->n_family == 1 ? "" : "s", c->single ? "" : " +- ?: it takes 6 runs.");
    return t;
}

struct compare_words_text compare_words_gate(const struct compare *c)
{
    struct compare_words_text t = {""};
    if (c->gate == EXIT_DONE || c->gate == EXIT_FAILED)
        append(&t, "Gate: %s.", c->gate == EXIT_DONE ? "passed" : "not passed");
    else
        append(&t, "Gate: undecided. More runs a side%s would decide it.",
               c->single && c->noise == STATS_NOISE_UNKNOWN ? ", --history or --run-cv" : "");
    return t;
}

struct compare_words_text compare_words_gated(const struct compare_metric *m)
{
    struct compare_words_text t = {""};
    double limit = m->cmp.is_difference ? m->gate_limit : expm1(m->gate_limit);
    append(&t, "%s: %+.3g%s allowed: ", metrics[m->metric].name, 100 * limit,
           m->cmp.is_difference ? " points" : "%");
    if (!m->cmp.ok || isnan(m->p_worse))
        append(&t, "%s", m->cmp.ok ? "too few independent requests beyond it" : m->cmp.why);
    else
        append(&t, "%s (p of no worse: %.2g)", m->gate_passes ? "within" : "not shown to be within",
               m->p_worse);
    return t;
}
