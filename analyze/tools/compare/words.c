#include "analyze/tools/compare/words.h"

#include "analyze/tools/compare/words_internal.h"

#include <ctype.h>
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
    case STATS_NOT_JUDGED:
        return "not-judged";
    case STATS_INCONCLUSIVE:
        break;
    }
    return "inconclusive";
}

void words_append(struct compare_words_text *t, const char *fmt, ...)
{
    size_t n = strlen(t->s);
    va_list args;

    va_start(args, fmt);
    vsnprintf(t->s + n, sizeof t->s - n, fmt, args);
    va_end(args);
}

/* Converts theta, a difference of logs or of fractions, to percent or to percentage points. */
static double pct_of(const struct compare_metric *m, double theta)
{
    return 100 * (m->cmp.is_difference ? theta : expm1(theta));
}

struct units_text words_change(double pct, const char *unit)
{
    struct units_text t;

    snprintf(t.s, sizeof t.s, "%.30s %s", units_change(pct, fabs(pct) < 9.95).s, unit);
    return t;
}

struct units_text words_percent_of(const struct compare_metric *m, double theta)
{
    return words_change(pct_of(m, theta), m->cmp.is_difference ? "points" : "%");
}

/* Formats a computed figure with three digits: "2.00 %", "18.0 %", "113 %"; "0.400 points" for a
 * difference. */
static struct units_text digits3(const struct compare_metric *m, double frac)
{
    struct units_text t;
    double pct = fabs(100 * frac);

    snprintf(t.s, sizeof t.s, "%.*f%s",
             pct < .9995   ? 3
             : pct < 9.995 ? 2
                           : pct < 99.95,
             100 * frac, m->cmp.is_difference ? " points" : " %");
    return t;
}

/* Formats the tolerance as it was chosen: "5 %", "12.5 %". */
static struct units_text delta_of(const struct compare_metric *m)
{
    struct units_text t;
    snprintf(t.s, sizeof t.s, "%.3g %%", 100 * m->delta);
    return t;
}

/* "8.6%", "2.0%", "14%" */
static struct units_text two_digits(double frac)
{
    struct units_text t;
    snprintf(t.s, sizeof t.s, "%.*f" UNITS_CELL_PCT, fabs(100 * frac) < 9.95, 100 * frac);
    return t;
}

/* Appends " (single run, run CV 2 %)" if a side is one run. */
static void append_single(struct compare_words_text *t, const struct compare_metric *m)
{
    const struct stats_noise *noise = &m->cmp.noise;
    if (compare_is_single(m) && noise->kind == STATS_NOISE_HISTORY)
        words_append(t, " (single run, run CV %.3g %% in %zu runs)", 100 * noise->sigma,
                     noise->n_history);
    else if (compare_is_single(m) && noise->kind == STATS_NOISE_CV)
        words_append(t, " (single run, run CV %.3g %%)", 100 * noise->sigma);
    else if (m->cmp.method == STATS_ONE_MANY)
        words_append(t, " (single run)");
}

/* "faster", "fewer errors" */
static void append_change(struct compare_words_text *t, const struct compare_metric *m,
                          const char *change)
{
    words_append(t, metrics[m->metric].kind == METRIC_DIFFERENCE ? "%s errors" : "%s", change);
}

struct compare_words_text compare_words_verdict(const struct compare_metric *m)
{
    struct compare_words_text t = {""};
    switch (m->verdict) {
    case STATS_NOT_JUDGED:
        words_append(&t, "not judged (object sizes differ)");
        return t;
    case STATS_NOT_ENOUGH_DATA:
        words_append(&t, "not enough data (%s)", m->cmp.why);
        return t;
    case STATS_SAME:
        words_append(&t, "same within %s", delta_of(m).s);
        break;
    case STATS_SAME_WITHIN_RUN:
        words_append(&t, "same within %s, by within-run noise alone", delta_of(m).s);
        break;
    case STATS_BETTER:
        append_change(&t, m, metrics[m->metric].better);
        break;
    case STATS_WORSE:
        append_change(&t, m, metrics[m->metric].worse);
        break;
    case STATS_DIFFERS:
        words_append(&t, "different, unless identical runs vary by more than %s",
                     two_digits(m->cmp.break_even).s);
        break;
    case STATS_INCONCLUSIVE:
        if (isfinite(m->mde_frac))
            words_append(&t, "inconclusive (MDE %s)", digits3(m, m->mde_frac).s);
        else if (m->n_enough > 0)
            words_append(&t, "too few runs (%zu a side would show such a change)", m->n_enough);
        else if (isinf(m->mde_frac))
            words_append(&t, "too few runs");
        else
            words_append(&t, "inconclusive (no effect could be found)");
        break;
    }
    if (m->beyond_delta && (m->verdict == STATS_BETTER || m->verdict == STATS_WORSE))
        words_append(&t, ", >= %s", delta_of(m).s);
    append_single(&t, m);
    return t;
}

struct compare_words_text compare_words_assumption(const struct compare_metric *m)
{
    struct compare_words_text t = {""};
    const struct stats_noise *noise = &m->cmp.noise;

    switch (m->cmp.method) {
    case STATS_WELCH:
        words_append(&t, "Welch's t over the %s of the runs",
                     m->cmp.is_difference ? "rates" : "logs");
        return t;
    case STATS_ONE_MANY:
        words_append(&t, "t of one run against the logs of several, normal noise");
        return t;
    case STATS_MEANS:
        words_append(&t, "single runs, batch means within each");
        break;
    case STATS_QUANTILES:
        words_append(&t, "single runs, effective order statistics within each");
        break;
    case STATS_DIFFERENCE:
        words_append(&t, "single runs, difference of rates");
        break;
    }
    if (noise->kind == STATS_NOISE_CV)
        words_append(&t, "; run CV %.3g %% as given", 100 * noise->sigma);
    else if (noise->kind == STATS_NOISE_HISTORY)
        words_append(&t, "; run CV %.3g %% from %zu earlier runs", 100 * noise->sigma,
                     noise->n_history);
    else
        words_append(&t, "; noise between runs unknown");
    return t;
}

struct compare_words_text compare_words_part(const struct run_part *p)
{
    struct compare_words_text t = {""};
    if (p->kind == RUN_HOST)
        words_append(&t, "at %.200s", p->host);
    else if (p->kind == RUN_SIZE && p->max_bytes < 0)
        words_append(&t, "%s up", units_size((double)p->min_bytes).s);
    else if (p->kind == RUN_SIZE)
        words_append(&t, "%s -> %s", units_size((double)p->min_bytes).s,
                     units_size((double)p->max_bytes).s);
    return t;
}

static struct units_text setting_value(enum run_setting kind, double value)
{
    struct units_text t;
    switch (kind) {
    case RUN_DURATION_S:
        snprintf(t.s, sizeof t.s, "%.0fs", value);
        return t;
    case RUN_OBJECT_SIZE:
        return units_size(value);
    case RUN_SHARE:
        return units_pct(100 * value);
    case RUN_AUTOTERM:
    case RUN_MIXED:
        snprintf(t.s, sizeof t.s, "%s", value != 0 ? "yes" : "no");
        return t;
    default:
        snprintf(t.s, sizeof t.s, "%.0f", value);
        return t;
    }
}

struct compare_words_text compare_words_span(enum run_setting kind, const struct compare_span *s)
{
    struct compare_words_text t = {""};

    words_append(&t, "%s%s", s->several ? "several, mean " : "", setting_value(kind, s->lo).s);
    if (s->hi != s->lo)
        words_append(&t, " to %s", setting_value(kind, s->hi).s);
    return t;
}

struct compare_words_text compare_words_setting_change(const struct compare_setting *s)
{
    struct compare_words_text t = {""};

    words_append(&t, "%s -> %s", compare_words_span(s->kind, &s->before).s,
                 compare_words_span(s->kind, &s->after).s);
    return t;
}

/* Counts the measured operations among the first n_ops that have this change of a setting. */
static size_t n_with(const struct compare *c, const struct compare_setting *x, size_t n_ops)
{
    size_t n = 0;

    for (size_t k = 0; k < n_ops; k++)
        for (size_t i = 0; compare_is_measured(c, &c->ops[k]) && i < c->ops[k].n_settings; i++) {
            const struct compare_setting *y = &c->ops[k].settings[i];
            n += x->kind == y->kind && x->before.lo == y->before.lo &&
                 x->before.hi == y->before.hi && x->after.lo == y->after.lo &&
                 x->after.hi == y->after.hi;
        }
    return n;
}

static void append_limit(struct compare_words_text *t, const char *op,
                         const struct compare_setting *s)
{
    const char *name = run_setting_names[s->kind].title;

    words_append(t, "%s%.24s%s%c%s %s", t->s[0] != '\0' ? ", " : "", op, *op != '\0' ? " " : "",
                 tolower(name[0]), name + 1, compare_words_setting_change(s).s);
}

struct compare_words_text compare_words_limits(const struct compare *c)
{
    struct compare_words_text t = {""};
    size_t n_measured = 0;

    for (size_t k = 0; k < c->n_ops; k++)
        n_measured += compare_is_measured(c, &c->ops[k]);
    for (size_t i = 0; i < c->n_settings; i++)
        append_limit(&t, "", &c->settings[i]);
    for (size_t k = 0; k < c->n_ops; k++)
        for (size_t i = 0; compare_is_measured(c, &c->ops[k]) && i < c->ops[k].n_settings; i++) {
            const struct compare_setting *x = &c->ops[k].settings[i];
            if (compare_is_limit(x) && n_with(c, x, k) == 0)
                append_limit(&t, n_with(c, x, c->n_ops) < n_measured ? c->ops[k].op : "", x);
        }
    return t;
}

struct compare_words_cell compare_words_figure(enum run_metric metric, double value,
                                               double spread_frac)
{
    struct compare_words_cell t;

    snprintf(t.s, sizeof t.s, "%s +- %s", metrics[metric].text(value).s,
             isfinite(spread_frac) ? two_digits(spread_frac).s : "?");
    return t;
}

static void put_side(char *out, size_t size, enum run_metric metric, const struct compare_values *v)
{
    if (metrics[metric].kind == METRIC_DIFFERENCE)
        snprintf(out, size, "%s", metrics[metric].text(v->center).s);
    else
        snprintf(out, size, "%s", compare_words_figure(metric, v->center, v->spread_frac).s);
}

/* Formats theta as a change: "-18.1%", "+0.25 points". */
static struct units_text change_of(const struct compare_metric *m, double theta, const char *sign)
{
    struct units_text t;
    double pct = pct_of(m, theta);

    if (!isfinite(pct))
        snprintf(t.s, sizeof t.s, "%s", pct > 0 ? "inf" : "-inf");
    else if (m->cmp.is_difference)
        snprintf(t.s, sizeof t.s, "%+.3g points", pct);
    else
        snprintf(t.s, sizeof t.s, "%.40s%s", units_change(pct, fabs(pct) < 10 ? 2 : 1).s, sign);
    return t;
}

/* Returns p and n in the form of benchstat: "(p=0.002 n=6)", and "~ (p=0.485 n=6+5)" where no
 * difference is shown. */
static struct units_text p_of(const struct compare_metric *m)
{
    struct units_text t;
    double p = compare_p(m);
    const char *open = compare_is_changed(m) ? "" : "~ ";
    char n[24];

    if (m->before.n == m->after.n)
        snprintf(n, sizeof n, "%zu", m->before.n);
    else
        snprintf(n, sizeof n, "%u+%u", (unsigned)m->before.n, (unsigned)m->after.n);
    if (p < .001)
        snprintf(t.s, sizeof t.s, "%s(p<0.001 n=%s)", open, n);
    else
        snprintf(t.s, sizeof t.s, "%s(p=%.3f n=%s)", open, p, n);
    return t;
}

struct compare_words_row compare_words_row(const struct compare_metric *m)
{
    struct compare_words_row r = {.verdict = compare_words_verdict(m)};
    snprintf(r.metric, sizeof r.metric, "%s%s", metrics[m->metric].title, m->in_family ? "" : " *");
    put_side(r.before, sizeof r.before, m->metric, &m->before);
    put_side(r.after, sizeof r.after, m->metric, &m->after);
    if (!m->cmp.ok) {
        snprintf(r.change, sizeof r.change, "-");
        snprintf(r.ci, sizeof r.ci, "-");
        snprintf(r.p, sizeof r.p, "-");
        return r;
    }
    snprintf(r.change, sizeof r.change, "%s", change_of(m, compare_theta(m), "%").s);
    snprintf(r.ci, sizeof r.ci, "%s to %s", change_of(m, m->cmp.lo, "%").s,
             change_of(m, m->cmp.hi, "%").s);
    snprintf(r.p, sizeof r.p, "%s", m->verdict == STATS_NOT_JUDGED ? "not judged" : p_of(m).s);
    return r;
}

/* ---- Sentences ---- */

struct units_text compare_words_percent(double before, double after)
{
    struct units_text t = {"-"};
    if (before > 0 && !isnan(after))
        snprintf(t.s, sizeof t.s, "%.40s" UNITS_CELL_PCT,
                 units_change(100 * (after - before) / before, 2).s);
    return t;
}

const char compare_words_limited[] =
    "settings of the runs differ, and a part of the change may come from that";

const char compare_words_noise[] =
    "How much identical runs vary is unknown, and not included in p and CI. Give several runs a "
    "side, --history or --run-cv.";

const char compare_words_ci[] = "95 % CI: at least 95 of 100 such intervals hold the true value.";
const char compare_words_p[] =
    "p: how often a difference as large or larger comes by chance if nothing has changed; ~: none "
    "is shown.";
const char compare_words_mde[] = "MDE: the smallest change that would be found in 80 % of cases.";
const char compare_words_break_even[] =
    "Break-even run CV: if runs of one configuration scatter by more than that, the difference is "
    "noise.";

/* Whether the table shows a value without its interval: "+- ?". */
static bool lacks_spread(const struct compare *c)
{
    for (size_t k = 0; k < c->n_ops; k++)
        for (size_t i = 0; i < c->ops[k].n_metrics; i++) {
            const struct compare_metric *m = &c->ops[k].metrics[i];
            if (metrics[m->metric].kind != METRIC_DIFFERENCE &&
                !(isfinite(m->before.spread_frac) && isfinite(m->after.spread_frac)))
                return true;
        }
    return false;
}

struct compare_words_text compare_words_notes(const struct compare *c)
{
    struct compare_words_text t = {""};
    if (c->n_family == 0) {
        words_append(&t, "Nothing was tested: no metric has enough data on both sides.");
        return t;
    }
    words_append(
        &t,
        "+-: 95 %% CI%s. p and the intervals of changes are Holm-adjusted over %zu comparison%s; * "
        "exploratory, not adjusted.%s",
        c->single ? " within the run" : " of the median run", c->n_family,
        c->n_family == 1 ? "" : "s",
        !c->single && lacks_spread(c) ? " +- ?: a CI takes 6 runs." : "");
    return t;
}

struct compare_words_text compare_words_short(const struct compare_metric *m)
{
    struct compare_words_text t = {""};
    if (m->verdict == STATS_NOT_ENOUGH_DATA || m->verdict == STATS_NOT_JUDGED)
        words_append(&t, "not judged");
    else if (m->verdict == STATS_SAME || m->verdict == STATS_SAME_WITHIN_RUN)
        words_append(&t, "the same");
    else if (!compare_is_changed(m))
        words_append(&t, "no change shown");
    else
        words_append(&t, "%s", words_percent_of(m, compare_theta(m)).s);
    return t;
}

struct compare_words_text compare_words_interval(const struct compare_metric *m)
{
    struct compare_words_text t = {""};
    bool is_same = m->verdict == STATS_SAME || m->verdict == STATS_SAME_WITHIN_RUN;
    double lo = is_same ? m->cmp.lo90 : m->cmp.lo, hi = is_same ? m->cmp.hi90 : m->cmp.hi;
    struct units_text from = words_percent_of(m, lo), to = words_percent_of(m, hi);

    from.s[strcspn(from.s, " ")] = to.s[strcspn(to.s, " ")] = '\0';
    if (m->cmp.ok && isfinite(lo) && isfinite(hi))
        words_append(&t, "%d %% CI %s to %s", is_same ? 90 : 95, from.s, to.s);
    return t;
}

struct compare_words_text compare_words_unseen(const struct compare_metric *m)
{
    struct compare_words_text t = {""};
    if (m->verdict != STATS_INCONCLUSIVE || isnan(m->mde_frac))
        return t;
    if (isfinite(m->mde_frac))
        words_append(&t, "a change below %.*f %s could not be seen", m->mde_frac < .0995,
                     100 * m->mde_frac, m->cmp.is_difference ? "points" : "%");
    else if (m->n_enough > 0)
        words_append(&t,
                     "with so few runs no change could be seen; %zu a side would show one of this "
                     "size",
                     m->n_enough);
    else
        words_append(&t, "with so few runs no change could be seen%s",
                     compare_is_single(m) ? "; take 5 or more a side" : "");
    return t;
}

struct compare_words_text compare_words_effect(const struct compare *c, const struct compare_op *op)
{
    struct compare_words_text t = {""};
    words_append(&t,
                 "Durations: a random request of %.60s takes less time than a random one of %.60s "
                 "in %.1f %% "
                 "of cases (50 %%: no difference).",
                 c->after.name, c->before.name, 100 * op->effect.p_b_less);
    return t;
}

struct compare_words_text compare_words_faulty(const struct compare *c)
{
    struct compare_words_text t = {""};
    size_t n = compare_n_faulty(c);

    if (n > 0)
        words_append(&t, "%zu of %zu runs had a problem (below); %s included in the figures", n,
                     compare_n_runs(c), n == 1 ? "it is" : "they are");
    return t;
}

struct compare_words_text compare_words_without_faults(const struct compare_op *op)
{
    struct compare_words_text t = {""};
    const struct compare_metric *m = compare_leading(op);
    char ci[112] = "";

    if (m == NULL || !op->has_clear)
        return t;
    if (op->clear.ok)
        snprintf(ci, sizeof ci, " (%s to %s)", change_of(m, op->clear.lo, " %").s,
                 change_of(m, op->clear.hi, " %").s);
    words_append(&t, "Without the faults the difference of %.40s %s is %s%s instead of %s.", op->op,
                 metrics[m->metric].name, change_of(m, op->clear.theta, " %").s, ci,
                 change_of(m, compare_theta(m), " %").s);
    return t;
}

struct compare_words_text compare_words_gate(const struct compare *c)
{
    struct compare_words_text t = {""};
    if (c->gate == EXIT_DONE || c->gate == EXIT_FAILED)
        words_append(&t, "Gate: %s.", c->gate == EXIT_DONE ? "passed" : "not passed");
    else
        words_append(&t, "Gate: undecided. More runs a side%s would decide it.",
                     c->single && c->noise == STATS_NOISE_UNKNOWN ? ", --history or --run-cv" : "");
    return t;
}

struct compare_words_text compare_words_gated(const struct compare_metric *m)
{
    struct compare_words_text t = {""};
    double pct = pct_of(m, m->gate_limit);

    words_append(&t, "%s: %+.3g%s allowed: ", metrics[m->metric].name, pct != 0 ? pct : 0,
                 m->cmp.is_difference ? " points" : " %");
    if (!m->cmp.ok || isnan(m->p_worse))
        words_append(&t, "%s",
                     m->cmp.ok ? "too few independent requests beyond the percentile" : m->cmp.why);
    else
        words_append(&t, "%s (test for worse: p=%.2g)",
                     m->gate_passes ? "within" : "not shown to be within", m->p_worse);
    return t;
}
