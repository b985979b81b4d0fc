#include "analyze/compare/words.h"

#include "analyze/requests/sample.h"

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

/* Three digits of what was computed: "2.00%", "18.0%", "113%"; "0.400 points" of a difference. */
static struct units_text digits3(const struct compare_metric *m, double frac)
{
    struct units_text t;
    double pct = fabs(100 * frac);

    snprintf(t.s, sizeof t.s, "%.*f%s",
             pct < .9995   ? 3
             : pct < 9.995 ? 2
                           : pct < 99.95,
             100 * frac, m->cmp.is_difference ? " points" : "%");
    return t;
}

/* What was chosen, as it was: "5%", "12.5%". */
static struct units_text delta_of(const struct compare_metric *m)
{
    struct units_text t;
    snprintf(t.s, sizeof t.s, "%.3g%%", 100 * m->delta);
    return t;
}

/* "8.6%", "2.0%", "14%" */
static struct units_text two_digits(double frac)
{
    struct units_text t;
    snprintf(t.s, sizeof t.s, "%.*f%%", fabs(100 * frac) < 9.95, 100 * frac);
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

struct compare_words_text compare_words_verdict(const struct compare_op *op,
                                                const struct compare_metric *m)
{
    struct compare_words_text t = {""};
    if (compare_is_unjudged(op, m) && m->cmp.ok) {
        append(&t, "not judged (object sizes differ)");
        return t;
    }
    switch (m->verdict) {
    case STATS_NOT_ENOUGH_DATA:
        append(&t, "not enough data (%s)", m->cmp.why);
        return t;
    case STATS_SAME:
        append(&t, "same within %s", delta_of(m).s);
        break;
    case STATS_SAME_WITHIN_RUN:
        append(&t, "same within %s, by within-run noise alone", delta_of(m).s);
        break;
    case STATS_BETTER:
        append_change(&t, m, metrics[m->metric].better);
        break;
    case STATS_WORSE:
        append_change(&t, m, metrics[m->metric].worse);
        break;
    case STATS_DIFFERS:
        append(&t, "different, unless identical runs vary by more than %s",
               two_digits(m->cmp.break_even).s);
        break;
    case STATS_INCONCLUSIVE:
        if (isfinite(m->mde_frac))
            append(&t, "inconclusive (MDE %s)", digits3(m, m->mde_frac).s);
        else if (isinf(m->mde_frac))
            append(&t, "too few runs");
        else
            append(&t, "inconclusive (no effect could be found)");
        break;
    }
    if (m->beyond_delta && (m->verdict == STATS_BETTER || m->verdict == STATS_WORSE))
        append(&t, ", >= %s", delta_of(m).s);
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
        return units_frac(value);
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
        snprintf(out, size, "%s +- %s", metrics[metric].text(v->center).s,
                 two_digits(v->spread_frac).s);
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

static double adjusted_p(const struct compare_metric *m)
{
    return m->in_family ? m->p_holm : m->cmp.p;
}

/* Returns p and n in the form of benchstat: "(p=0.002 n=6)", and "~ (p=0.485 n=6+5)" where no
 * difference is shown. */
static struct units_text p_of(const struct compare_metric *m)
{
    struct units_text t;
    double p = adjusted_p(m);
    char n[24];

    if (m->before.n == m->after.n)
        snprintf(n, sizeof n, "%zu", m->before.n);
    else
        snprintf(n, sizeof n, "%u+%u", (unsigned)m->before.n, (unsigned)m->after.n);
    if (p < .001)
        snprintf(t.s, sizeof t.s, "(p<0.001 n=%s)", n);
    else
        snprintf(t.s, sizeof t.s, "%s(p=%.3f n=%s)", p < .05 ? "" : "~ ", p, n);
    return t;
}

struct compare_words_row compare_words_row(const struct compare_op *op,
                                           const struct compare_metric *m)
{
    struct compare_words_row r = {.verdict = compare_words_verdict(op, m)};
    snprintf(r.metric, sizeof r.metric, "%s%s", metrics[m->metric].title, m->in_family ? "" : " *");
    put_side(r.before, sizeof r.before, m->metric, &m->before);
    put_side(r.after, sizeof r.after, m->metric, &m->after);
    if (!m->cmp.ok) {
        snprintf(r.change, sizeof r.change, "-");
        snprintf(r.ci, sizeof r.ci, "-");
        snprintf(r.p, sizeof r.p, "-");
        return r;
    }
    snprintf(r.change, sizeof r.change, "%s", change_of(m, compare_theta(m)).s);
    snprintf(r.ci, sizeof r.ci, "[%s, %s]", change_of(m, compare_theta_lo(m)).s,
             change_of(m, compare_theta_hi(m)).s);
    snprintf(r.p, sizeof r.p, "%s", compare_is_unjudged(op, m) ? "not judged" : p_of(m).s);
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
    "How much identical runs vary is unknown, and not included in p and CI. Give several runs a "
    "side, --history or --run-cv.";

const char compare_words_ci[] = "95% CI: of intervals made so, 95 in 100 hold the true value.";
const char compare_words_p[] =
    "p: how often a difference as large or larger comes by chance if nothing has changed; ~: none "
    "is shown.";
const char compare_words_mde[] = "MDE: the smallest change that would be found in 80% of cases.";
const char compare_words_break_even[] =
    "Break-even run CV: if runs of one configuration scatter by more than that, the difference is "
    "noise.";

/* True if the table shows a value without its interval: "+- ?". */
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
        append(&t, "Nothing was tested: no metric has enough data on both sides.");
        return t;
    }
    append(&t, "+-: 95%% CI%s. p is Holm-adjusted over %zu comparison%s; * exploratory, raw p.%s",
           c->single ? " within the run" : " of the median run", c->n_family,
           c->n_family == 1 ? "" : "s",
           !c->single && lacks_spread(c) ? " +- ?: it takes 6 runs." : "");
    return t;
}

/* ---- The answer ---- */

#define MAX_ANSWERED 4 /* operations */

/* "-4.9 %", "-18 %", "+25 points" */
static struct units_text percent_of(const struct compare_metric *m, double theta)
{
    struct units_text t;
    double pct = m->cmp.is_difference ? 100 * theta : 100 * expm1(theta);

    snprintf(t.s, sizeof t.s, fabs(pct) < 9.95 ? "%+.1f %s" : "%+.0f %s", pct,
             m->cmp.is_difference ? "points" : "%");
    return t;
}

/* "2604.5 -> 2438.6 obj/s": the unit once, where both values have the same. */
static void append_values(struct compare_words_text *t, const struct compare_metric *m)
{
    struct units_text a = metrics[m->metric].text(m->before.center);
    struct units_text b = metrics[m->metric].text(m->after.center);
    size_t n_a = strspn(a.s, "0123456789."), n_b = strspn(b.s, "0123456789.");

    if (strcmp(a.s + n_a, b.s + n_b) == 0 && a.s[n_a] != '%')
        a.s[n_a] = '\0';
    append(t, "%s -> %s", a.s, b.s);
}

/* "2604.5 -> 2438.6 obj/s, -4.9 % (95 % CI -14 to +8)" */
static void append_figures(struct compare_words_text *t, const struct compare_metric *m)
{
    append_values(t, m);
    append(t, ", %s", percent_of(m, compare_theta(m)).s);
    double lo = compare_theta_lo(m), hi = compare_theta_hi(m);
    if (!m->cmp.ok || !isfinite(lo) || !isfinite(hi))
        return;
    struct units_text from = percent_of(m, lo), to = percent_of(m, hi);
    from.s[strcspn(from.s, " ")] = to.s[strcspn(to.s, " ")] = '\0';
    append(t, " (95 %% CI %s to %s)", from.s, to.s);
}

/* Operations that are what the runs were made for. */
static bool is_answered(const struct compare *c, const struct compare_op *op)
{
    return !op->is_preparation || c->n_ops == 1;
}

static bool is_changed(const struct compare_metric *m)
{
    return m != NULL && compare_is_changed(m);
}

/* The duration that changed most clearly: the median, else the 99th percentile. NULL: neither did.
 */
static const struct compare_metric *changed_duration(const struct compare_op *op)
{
    static const enum run_metric durations[] = {RUN_P50, RUN_P99, RUN_P90};
    for (size_t i = 0; i < 3; i++)
        if (is_changed(compare_metric_of(op, durations[i])) &&
            (durations[i] != RUN_P90 || compare_metric_of(op, RUN_P90)->in_family))
            return compare_metric_of(op, durations[i]);
    return NULL;
}

/* Operations of a mixed run share their threads: what one of them loses, the others lose too. */
static bool is_shared(const struct compare *c)
{
    size_t n = 0;
    for (size_t k = 0; k < c->n_ops; k++)
        n += is_answered(c, &c->ops[k]);
    return n > 1 && compare_nth_run(c, 0)->mixed;
}

/* Whether only the throughput changed, and that as others of the run did. */
static bool follows(const struct compare *c, const struct compare_op *op)
{
    bool any = false;
    if (!is_shared(c) || !is_changed(compare_leading(op)) || changed_duration(op) != NULL)
        return false;
    for (size_t k = 0; k < c->n_ops; k++)
        any |=
            is_answered(c, &c->ops[k]) && changed_duration(&c->ops[k]) != NULL &&
            compare_is_worse(changed_duration(&c->ops[k])) == compare_is_worse(compare_leading(op));
    return any;
}

/* What is said first of an operation: its throughput, or a duration that changed where that did not
 * or where operations share their threads. NULL: nothing. */
static const struct compare_metric *head_of(const struct compare *c, const struct compare_op *op)
{
    const struct compare_metric *leading = compare_leading(op), *d = changed_duration(op);
    return d != NULL && (!is_changed(leading) || is_shared(c)) ? d : leading;
}

/* The answer names first what became worse, then what became better, then what may have changed,
 * then what follows from that: it need not have room for all operations. */
enum urgency { IS_WORSE, IS_BETTER, MAY_DIFFER, IS_OPEN, N_URGENCIES };

static enum urgency urgency_of(const struct compare *c, const struct compare_op *op)
{
    const struct compare_metric *m = head_of(c, op), *errors = compare_metric_of(op, RUN_ERRORS);
    if (op->dead_after != op->dead_before)
        return op->dead_after > op->dead_before ? IS_WORSE : IS_BETTER;
    if (is_changed(errors) && errors->verdict == STATS_WORSE)
        return IS_WORSE;
    if (!is_changed(m) || follows(c, op))
        return is_changed(errors) ? MAY_DIFFER : IS_OPEN;
    return m->verdict == STATS_WORSE    ? IS_WORSE
           : m->verdict == STATS_BETTER ? IS_BETTER
                                        : MAY_DIFFER;
}

/* "GET: no request of after succeeded"; false: some did on both sides. */
static bool append_dead(struct compare_words_text *t, const struct compare *c,
                        const struct compare_op *op)
{
    bool before = op->dead_before == op->n_before, after = op->dead_after == op->n_after;
    if (before && after)
        append(t, "no request succeeded");
    else if (before || after)
        append(t, "no request of %.24s succeeded", before ? c->before.name : c->after.name);
    return before || after;
}

static const char *title_of(const struct compare_metric *m)
{
    switch (m->metric) {
    case RUN_P50:
        return "median duration ";
    case RUN_P90:
        return "p90 of durations ";
    case RUN_P99:
        return "p99 of durations ";
    default:
        return "";
    }
}

/* "slower: 510 -> 402 obj/s, -21 % (95 % CI -24 to -18)" */
static void append_head(struct compare_words_text *t, const struct compare_metric *m)
{
    if (!m->cmp.ok) {
        append(t, "not enough data to compare (%s)", m->cmp.why);
        return;
    }
    if (m->verdict == STATS_SAME || m->verdict == STATS_SAME_WITHIN_RUN)
        append(t, "the same within %.3g %%: ", 100 * m->delta);
    else if (!compare_is_changed(m))
        append(t, "no change shown: ");
    else
        append(t, "%s: ",
               m->verdict == STATS_DIFFERS  ? "differs"
               : m->verdict == STATS_BETTER ? metrics[m->metric].better
                                            : metrics[m->metric].worse);
    append(t, "%s", title_of(m));
    append_figures(t, m);
    if (m->verdict == STATS_DIFFERS && compare_is_changed(m))
        append(t, ", unless identical runs vary by more than %.*f %%", m->cmp.break_even < .0995,
               100 * m->cmp.break_even);
    else if (m->verdict == STATS_DIFFERS)
        append(t, ", which is less than identical runs may vary by");
    else if (m->verdict == STATS_INCONCLUSIVE && isfinite(m->mde_frac))
        append(t, "; a change below %.*f %% could not be seen", m->mde_frac < .0995,
               100 * m->mde_frac);
    else if (m->verdict == STATS_INCONCLUSIVE && isinf(m->mde_frac))
        append(t, "; with so few runs none could be seen");
}

/* ". Median duration 1.18 -> 2.3ms, +95 %", ". Durations alike" */
static void append_durations(struct compare_words_text *t, const struct compare_op *op,
                             const struct compare_metric *head)
{
    const struct compare_metric *leading = compare_leading(op);
    const struct compare_metric *p[] = {compare_metric_of(op, RUN_P50),
                                        compare_metric_of(op, RUN_P99)};
    size_t n_alike = 0, n = 0;
    bool is_close = true;

    if (head != leading && leading != NULL && leading->cmp.ok)
        append(t, "; throughput %s%s", percent_of(leading, compare_theta(leading)).s,
               is_changed(leading) ? "" : ", no change shown");
    for (size_t i = 0; i < 2; i++) {
        if (p[i] == NULL || !p[i]->cmp.ok)
            continue;
        n++;
        n_alike += !is_changed(p[i]);
        is_close &= fabs(expm1(compare_theta(p[i]))) < 2 * metrics[RUN_P50].delta;
        if (!is_changed(p[i]) || p[i] == head)
            continue;
        append(t, "; %s", title_of(p[i]));
        append_values(t, p[i]);
        append(t, ", %s", percent_of(p[i], compare_theta(p[i])).s);
    }
    if (n > 0 && n_alike == n)
        append(t, is_close ? ". Durations alike" : ". Durations: no change shown");
    else if (n == 2 && head == p[1] && n_alike == 1)
        append(t, "; median alike");
    else if (n == 2 && n_alike == 1 && !is_changed(p[1]))
        append(t, "; p99 alike");
}

static void append_errors(struct compare_words_text *t, const struct compare_op *op)
{
    const struct compare_metric *m = compare_metric_of(op, RUN_ERRORS);
    if (!is_changed(m))
        return;
    append(t, ". Errors: ");
    append_values(t, m);
    append(t, ", %s", percent_of(m, compare_theta(m)).s);
}

static void append_size(struct compare_words_text *t, size_t class)
{
    if (class == 0)
        append(t, "below %s", units_size((double)analysis_size_edges[1]).s);
    else if (class + 1 < ANALYSIS_N_SIZES)
        append(t, "of %s to %s", units_size((double)analysis_size_edges[class]).s,
               units_size((double)analysis_size_edges[class + 1]).s);
    else
        append(t, "of %s up", units_size((double)analysis_size_edges[class]).s);
}

/* "at http://h2:9000" */
static void append_place(struct compare_words_text *t, const struct compare_carrier *x)
{
    switch (x->kind) {
    case COMPARE_AT_HOSTS:
    case COMPARE_FROM_CLIENTS:
        append(t, "%s %.100s", x->kind == COMPARE_AT_HOSTS ? "at" : "at client",
               intern_shown(x->name[0]));
        if (x->n > 1)
            append(t, " and %.100s", intern_shown(x->name[1]));
        break;
    case COMPARE_IN_SIZES:
        append(t, "in requests ");
        append_size(t, x->size[0]);
        append(t, x->n > 1 ? " and " : "");
        if (x->n > 1)
            append_size(t, x->size[1]);
        break;
    case COMPARE_IN_TIME:
        if (x->lo < .6)
            append(t, "in the first %.1f s", x->hi);
        else
            append(t, "between %.1f and %.1f s", x->lo, x->hi);
        break;
    case COMPARE_IN_TAIL:
        append(t, "in the slowest %.0f %% of the requests", 100 * x->lo);
        break;
    }
}

/* ". 92 % of the added time is at http://h2:9000 (there +103 %, elsewhere +2 %)" */
static void append_where(struct compare_words_text *t, const struct compare_op *op)
{
    for (size_t i = 0; i < op->n_carriers; i++) {
        const struct compare_carrier *x = &op->carriers[i];

        if (i == 0 && x->frac > .995)
            append(t, ". All of the %s time is ", x->change > 0 ? "added" : "saved");
        else if (i == 0)
            append(t, ". %.0f %% of the %s time is ", 100 * x->frac,
                   x->change > 0 ? "added" : "saved");
        else if (x->frac > .995)
            append(t, ", and all of it ");
        else
            append(t, ", and %.0f %% of it ", 100 * x->frac);
        append_place(t, x);
        append(t, " (there %+.0f %%, elsewhere %+.0f %%)", 100 * x->change, 100 * x->rest);
    }
}

static void append_op(struct compare_words_text *t, const struct compare *c,
                      const struct compare_op *op)
{
    const struct compare_metric *head = head_of(c, op), *leading = compare_leading(op);

    append(t, "%.24s: ", op->op);
    if (append_dead(t, c, op))
        return;
    if (head == NULL) {
        append(t, "nothing to compare");
        return;
    }
    if (follows(c, op)) {
        append(t, "durations alike; its throughput follows, ");
        append_values(t, leading);
        append(t, ", %s", percent_of(leading, compare_theta(leading)).s);
        append_errors(t, op);
        return;
    }
    append_head(t, head);
    append_durations(t, op, head);
    append_errors(t, op);
    if (!isnan(op->share_of_change) && op->share_of_change >= .5)
        append(t, ". %.0f %% of the %s is in %.24s", 100 * op->share_of_change,
               !is_changed(leading)        ? compare_is_worse(head) ? "added time" : "saved time"
               : compare_is_worse(leading) ? "lost throughput"
                                           : "gained throughput",
               op->op);
    append_where(t, op);
    if (op->sizes_differ)
        append(t, ". Object sizes differ, so bytes/s are not judged");
}

/* The operation that most time went to comes first of those that are as urgent. */
static bool goes_before(const struct compare *c, const struct compare_op *a,
                        const struct compare_op *b)
{
    enum urgency u = urgency_of(c, a), v = urgency_of(c, b);
    double x = isnan(a->share_of_change) ? 0 : a->share_of_change;
    double y = isnan(b->share_of_change) ? 0 : b->share_of_change;

    return u != v ? u < v : x > y;
}

struct compare_words_text compare_words_answer(const struct compare *c)
{
    struct compare_words_text t = {""};
    const struct compare_op *order[MAX_ANSWERED];
    size_t n = 0, n_faulty = compare_n_faulty(c), n_answered = 0;

    for (size_t k = 0; k < c->n_ops; k++) {
        const struct compare_op *op = &c->ops[k];
        if (!is_answered(c, op))
            continue;
        n_answered++;
        size_t at = n < MAX_ANSWERED ? n++ : MAX_ANSWERED;
        if (at == MAX_ANSWERED && !goes_before(c, op, order[--at]))
            continue;
        for (; at > 0 && goes_before(c, op, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = op;
    }
    if (c->has_gate)
        append(&t, "%s ", compare_words_gate(c).s);
    for (size_t i = 0; i < n; i++) {
        append(&t, "%s", i > 0 ? " " : "");
        append_op(&t, c, order[i]);
        append(&t, ".");
    }
    if (n_answered > n)
        append(&t, " %zu more operation%s.", n_answered - n, n_answered - n == 1 ? "" : "s");
    if (n == 0)
        append(&t, "Nothing to compare.");
    if (n_faulty > 0)
        append(&t, " %zu of %zu runs had a problem.", n_faulty, compare_n_runs(c));
    return t;
}

struct compare_words_text compare_words_short(const struct compare_op *op,
                                              const struct compare_metric *m)
{
    struct compare_words_text t = {""};
    if (!m->cmp.ok || compare_is_unjudged(op, m))
        append(&t, "not judged");
    else if (m->verdict == STATS_SAME || m->verdict == STATS_SAME_WITHIN_RUN)
        append(&t, "the same");
    else if (!compare_is_changed(m))
        append(&t, "no change shown");
    else
        append(&t, "%s", percent_of(m, compare_theta(m)).s);
    return t;
}

struct compare_words_text compare_words_effect(const struct compare *c, const struct compare_op *op)
{
    struct compare_words_text t = {""};
    append(&t,
           "Durations: a random request of %.60s takes less time than a random one of %.60s in "
           "%.1f%% of "
           "cases (50%%: no difference).",
           c->after.name, c->before.name, 100 * op->effect.p_b_less);
    return t;
}

struct compare_words_text compare_words_faulty(const struct compare *c)
{
    struct compare_words_text t = {""};
    size_t n = compare_n_faulty(c);

    if (n > 0)
        append(&t, "%zu of %zu runs had a problem (below); %s included in the figures", n,
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
        snprintf(ci, sizeof ci, " [%s, %s]", change_of(m, op->clear.lo).s,
                 change_of(m, op->clear.hi).s);
    append(&t, "Without the faults the difference of %.40s %s is %s%s instead of %s.", op->op,
           metrics[m->metric].name, change_of(m, op->clear.theta).s, ci,
           change_of(m, m->cmp.theta).s);
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
