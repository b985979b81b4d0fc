#include "analyze/tools/compare/words.h"

#include <ctype.h>
#include <math.h>
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

static const struct phrase nothing = {""};

/* Converts theta, a difference of logs or of fractions, to percent or to percentage points. */
static double pct_of(const struct compare_metric *m, double theta)
{
    return 100 * (m->cmp.is_difference ? theta : expm1(theta));
}

struct units_text words_change(double pct, const char *unit)
{
    return units_format("%.30s %s", units_change(pct).s, unit);
}

struct units_text words_percent_of(const struct compare_metric *m, double theta)
{
    return words_change(pct_of(m, theta), m->cmp.is_difference ? "points" : "%");
}

/* Formats a computed figure with three digits: "2.00 %", "18.0 %", "113 %"; "0.400 points" for a
 * difference. */
static struct units_text digits3(const struct compare_metric *m, double frac)
{
    double pct = fabs(100 * frac);
    int n_decimals = pct < .9995 ? 3 : pct < 9.995 ? 2 : pct < 99.95;

    return units_format("%.*f%s", n_decimals, 100 * frac, m->cmp.is_difference ? " points" : " %");
}

/* Formats the tolerance as it was chosen: "5 %", "12.5 %". */
static struct units_text delta_of(const struct compare_metric *m)
{
    return units_format("%.3g %%", 100 * m->delta);
}

/* "8.6%", "2.0%", "14%" */
static struct units_text two_digits(double frac)
{
    return units_format("%.*f" UNITS_CELL_PCT, fabs(100 * frac) < 9.95, 100 * frac);
}

/* Returns " (single run, run CV 2 %)" if a side is one run, else "". */
static struct phrase single_run(const struct compare_metric *m)
{
    const struct stats_noise *noise = &m->cmp.noise;

    if (compare_is_single(m) && noise->kind == STATS_NOISE_HISTORY)
        return phrase_format(" (single run, run CV %.3g %% in %zu runs)", 100 * noise->sigma,
                             noise->n_history);
    if (compare_is_single(m) && noise->kind == STATS_NOISE_CV)
        return phrase_format(" (single run, run CV %.3g %%)", 100 * noise->sigma);
    return m->cmp.method == STATS_ONE_MANY ? phrase_format(" (single run)") : nothing;
}

/* "faster, >= 5 %", "fewer errors" */
static struct phrase change_word(const struct compare_metric *m, const char *change)
{
    return phrase_format("%s%s%s%s", change,
                         metrics[m->metric].kind == METRIC_DIFFERENCE ? " errors" : "",
                         m->beyond_delta ? ", >= " : "", m->beyond_delta ? delta_of(m).s : "");
}

static struct phrase verdict_word(const struct compare_metric *m)
{
    switch (m->verdict) {
    case STATS_NOT_JUDGED:
        return phrase_format("not judged (object sizes differ)");
    case STATS_NOT_ENOUGH_DATA:
        return phrase_format("not enough data (%s)", m->cmp.why);
    case STATS_SAME:
        return phrase_format("same within %s", delta_of(m).s);
    case STATS_SAME_WITHIN_RUN:
        return phrase_format("same within %s, by within-run noise alone", delta_of(m).s);
    case STATS_BETTER:
        return change_word(m, metrics[m->metric].better);
    case STATS_WORSE:
        return change_word(m, metrics[m->metric].worse);
    case STATS_DIFFERS:
        return phrase_format("different, unless identical runs vary by more than %s",
                             two_digits(m->cmp.break_even).s);
    case STATS_INCONCLUSIVE:
        break;
    }
    if (isfinite(m->mde_frac))
        return phrase_format("inconclusive (MDE %s)", digits3(m, m->mde_frac).s);
    if (m->n_enough > 0)
        return phrase_format("too few runs (%zu a side would show such a change)", m->n_enough);
    return isinf(m->mde_frac) ? phrase_format("too few runs")
                              : phrase_format("inconclusive (no effect could be found)");
}

struct phrase compare_words_verdict(const struct compare_metric *m)
{
    struct phrase t = verdict_word(m);

    if (m->verdict != STATS_NOT_JUDGED && m->verdict != STATS_NOT_ENOUGH_DATA)
        phrase_append(&t, "%s", single_run(m).s);
    return t;
}

struct phrase compare_words_assumption(const struct compare_metric *m)
{
    const struct stats_noise *noise = &m->cmp.noise;
    const char *test = m->cmp.method == STATS_MEANS       ? "batch means within each"
                       : m->metric == RUN_MEAN            ? "batch means within each"
                       : m->cmp.method == STATS_QUANTILES ? "effective order statistics within each"
                                                          : "difference of rates";

    if (m->n_pairs > 0)
        return phrase_format("t of the changes within %zu pairs, taken in turns", m->n_pairs);
    if (m->cmp.method == STATS_WELCH)
        return phrase_format("Welch's t over the %s of the runs",
                             m->cmp.is_difference ? "rates" : "logs");
    if (m->cmp.method == STATS_ONE_MANY)
        return phrase_format("t of one run against the logs of several, normal noise");
    if (noise->kind == STATS_NOISE_CV)
        return phrase_format("single runs, %s; run CV %.3g %% as given", test, 100 * noise->sigma);
    if (noise->kind == STATS_NOISE_HISTORY)
        return phrase_format("single runs, %s; run CV %.3g %% from %zu earlier runs", test,
                             100 * noise->sigma, noise->n_history);
    return phrase_format("single runs, %s; noise between runs unknown", test);
}

struct phrase compare_words_part(const struct run_part *p)
{
    if (p->kind == RUN_HOST)
        return phrase_format("at %.200s", p->host);
    if (p->kind == RUN_SIZE && p->max_bytes < 0)
        return phrase_format("%s up", units_size((double)p->min_bytes).s);
    return p->kind == RUN_SIZE ? phrase_format("%s -> %s", units_size((double)p->min_bytes).s,
                                               units_size((double)p->max_bytes).s)
                               : nothing;
}

static struct units_text setting_value(enum run_setting kind, double value)
{
    switch (kind) {
    case RUN_DURATION_S:
        return units_format("%.0fs", value);
    case RUN_OBJECT_SIZE:
        return units_size(value);
    case RUN_SHARE:
        return units_pct(100 * value);
    case RUN_AUTOTERM:
    case RUN_MIXED:
        return units_format("%s", value != 0 ? "yes" : "no");
    default:
        return units_format("%.0f", value);
    }
}

struct phrase compare_words_span(enum run_setting kind, const struct compare_span *s)
{
    bool is_one = s->hi == s->lo;

    return phrase_format("%s%s%s%s", s->several ? "several, mean " : "",
                         setting_value(kind, s->lo).s, is_one ? "" : " to ",
                         is_one ? "" : setting_value(kind, s->hi).s);
}

struct phrase compare_words_setting_change(const struct compare_setting *s)
{
    return phrase_format("%.500s -> %.500s", compare_words_span(s->kind, &s->before).s,
                         compare_words_span(s->kind, &s->after).s);
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

static void append_limit(struct phrase *t, const char *op, const struct compare_setting *s)
{
    const char *name = run_setting_names[s->kind].title;

    phrase_append(t, "%s%.24s%s%c%s %s", t->s[0] != '\0' ? ", " : "", op, *op != '\0' ? " " : "",
                  tolower(name[0]), name + 1, compare_words_setting_change(s).s);
}

struct phrase compare_words_limits(const struct compare *c)
{
    struct phrase t = {""};
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

struct units_text compare_words_figure(enum run_metric metric, double value, double spread_frac)
{
    return units_format("%.28s +- %.15s", metrics[metric].text(value).s,
                        isfinite(spread_frac) ? two_digits(spread_frac).s : "?");
}

struct units_text compare_words_value(enum run_metric metric, const struct compare_values *v)
{
    return v->n == 1 && v->below + v->above > 0
               ? units_bounds(v->center * exp(-v->below), v->center * exp(v->above))
               : metrics[metric].text(v->center);
}

static struct units_text side_of(enum run_metric metric, const struct compare_values *v)
{
    if (v->n == 1 && v->below + v->above > 0)
        return compare_words_value(metric, v);
    return metrics[metric].kind == METRIC_DIFFERENCE
               ? metrics[metric].text(v->center)
               : compare_words_figure(metric, v->center, v->spread_frac);
}

/* Formats theta as a change: "-18.1%", "+0.25 points". */
static struct units_text change_of(const struct compare_metric *m, double theta, const char *sign)
{
    double pct = pct_of(m, theta);

    if (!isfinite(pct))
        return units_format("%s", pct > 0 ? "inf" : "-inf");
    if (m->cmp.is_difference)
        return units_format("%.30s points", units_change(pct).s);
    return units_format("%.40s%s", units_change(pct).s, sign);
}

/* Returns p and n in the form of benchstat: "(p=0.002 n=6)", and "~ (p=0.485 n=6+5)" where no
 * difference is shown. */
static struct units_text p_of(const struct compare_metric *m)
{
    double p = compare_p(m);
    const char *open = compare_is_changed(m) ? "" : "~ ";
    struct units_text n = m->before.n == m->after.n
                              ? units_format("%zu", m->before.n)
                              : units_format("%zu+%zu", m->before.n, m->after.n);

    return p < .001 ? units_format("%s(p<0.001 n=%.24s)", open, n.s)
                    : units_format("%s(p=%.3f n=%.24s)", open, p, n.s);
}

struct compare_words_row compare_words_row(const struct compare_metric *m)
{
    struct compare_words_row r = {.verdict = compare_words_verdict(m)};
    snprintf(r.metric, sizeof r.metric, "%s%s", metrics[m->metric].title, m->in_family ? "" : " *");
    snprintf(r.before, sizeof r.before, "%s", side_of(m->metric, &m->before).s);
    snprintf(r.after, sizeof r.after, "%s", side_of(m->metric, &m->after).s);
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
    if (!(before > 0) || isnan(after))
        return units_format("-");
    return units_format("%.40s" UNITS_CELL_PCT, units_change(100 * (after - before) / before).s);
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

struct phrase compare_words_notes(const struct compare *c)
{
    if (c->n_family == 0)
        return phrase_format("Nothing was tested: no metric has enough data on both sides.");
    return phrase_format(
        "+-: 95 %% CI%s. p and the intervals of changes are Holm-adjusted over %zu comparison%s; * "
        "exploratory, not adjusted.%s",
        c->single ? " within the run" : " of the median run", c->n_family,
        c->n_family == 1 ? "" : "s",
        !c->single && lacks_spread(c) ? " +- ?: a CI takes 6 runs." : "");
}

struct phrase compare_words_interval(const struct compare_metric *m)
{
    bool is_same = m->verdict == STATS_SAME || m->verdict == STATS_SAME_WITHIN_RUN;
    double lo = is_same ? m->cmp.lo90 : m->cmp.lo, hi = is_same ? m->cmp.hi90 : m->cmp.hi;
    struct units_text from = words_percent_of(m, lo), to = words_percent_of(m, hi);

    from.s[strcspn(from.s, " ")] = to.s[strcspn(to.s, " ")] = '\0';
    return m->cmp.ok && isfinite(lo) && isfinite(hi)
               ? phrase_format("%d %% CI %s to %s", is_same ? 90 : 95, from.s, to.s)
               : nothing;
}

struct phrase compare_words_unseen(const struct compare_metric *m)
{
    if (m->verdict != STATS_INCONCLUSIVE || isnan(m->mde_frac))
        return nothing;
    if (isfinite(m->mde_frac))
        return phrase_format("a change below %.*f %s could not be seen", m->mde_frac < .0995,
                             100 * m->mde_frac, m->cmp.is_difference ? "points" : "%");
    if (m->n_enough > 0)
        return phrase_format(
            "with so few runs no change could be seen; %zu a side would show one of this "
            "size",
            m->n_enough);
    return phrase_format("with so few runs no change could be seen%s",
                         compare_is_single(m) ? "; take 5 or more a side" : "");
}

struct phrase compare_words_effect(const struct compare *c, const struct compare_op *op)
{
    return phrase_format(
        "Durations: a random request of %.60s takes less time than a random one of %.60s in "
        "%.1f %% of cases (50 %%: no difference).",
        c->after.name, c->before.name, 100 * op->effect.p_b_less);
}

struct phrase compare_words_faulty(const struct compare *c)
{
    size_t n = compare_n_faulty(c);

    return n == 0
               ? nothing
               : phrase_format("%zu of %zu runs had a problem (below); %s included in the figures",
                               n, compare_n_runs(c), n == 1 ? "it is" : "they are");
}

struct phrase compare_words_without_faults(const struct compare_op *op)
{
    const struct compare_metric *m = compare_leading(op);

    if (m == NULL || !op->has_clear)
        return nothing;
    struct phrase ci = !op->clear.ok
                           ? nothing
                           : phrase_format(" (%s to %s)", change_of(m, op->clear.lo, " %").s,
                                           change_of(m, op->clear.hi, " %").s);
    return phrase_format("Without the faults the difference of %.40s %s is %s%.112s instead of %s.",
                         op->op, metrics[m->metric].name, change_of(m, op->clear.theta, " %").s,
                         ci.s, change_of(m, compare_theta(m), " %").s);
}

struct phrase compare_words_gate(const struct compare *c)
{
    if (c->gate == EXIT_DONE || c->gate == EXIT_FAILED)
        return phrase_format("Gate: %s.", c->gate == EXIT_DONE ? "passed" : "not passed");
    return phrase_format("Gate: undecided. More runs a side%s would decide it.",
                         c->single && c->noise == STATS_NOISE_UNKNOWN ? ", --history or --run-cv"
                                                                      : "");
}

struct phrase compare_words_gated(const struct compare_metric *m)
{
    double pct = pct_of(m, m->gate_limit);
    struct phrase answer =
        isnan(m->p_worse)
            ? phrase_format("%s", !m->cmp.ok ? m->cmp.why
                                             : "too few independent requests beyond the percentile")
            : phrase_format("%s (test for worse: p=%.2g)",
                            m->gate_passes ? "within" : "not shown to be within", m->p_worse);

    return phrase_format("%s: %+.3g%s allowed: %.900s", metrics[m->metric].name, pct != 0 ? pct : 0,
                         m->cmp.is_difference ? " points" : " %", answer.s);
}

struct phrase compare_words_no_errors(const struct compare_op *op)
{
    return phrase_format("errors: no errors on either side, so that up to %.3g %% may fail: %s",
                         100 * op->most_errors, op->errors_pass ? "within" : "too few requests");
}
