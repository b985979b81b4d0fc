#include "analyze/report/compare_sheet.h"

#include "analyze/compare/words.h"
#include "analyze/report/figures.h"
#include "analyze/report/headline.h"
#include "libcommon/units.h"

#include <math.h>
#include <string.h>

/* ---- What happened in the runs ---- */

#define MAX_LISTED 10 /* findings in brief text */

/* Problems, or notices. */
static void put_findings(struct sheet *s, const struct compare *c, bool faults)
{
    size_t n = 0;

    for (size_t i = 0; i < compare_n_runs(c); i++) {
        const struct compare_side *side = compare_side_of(c, i);
        const struct run *r = compare_nth_run(c, i);

        for (size_t k = 0; k < r->findings.n; k++) {
            const struct finding *x = &r->findings.v[k];
            if (run_is_fault(x) != faults)
                continue;
            s->when = n++ < MAX_LISTED ? SHEET_ALWAYS : SHEET_DETAIL;
            sheet_item(s, faults ? TEXT_WARNING : TEXT_PLAIN, "%s: %s%s%s: %s",
                       headline_severity(x), side->name, side->n > 1 ? ", " : "",
                       side->n > 1 ? r->path : "", x->sentence);
        }
    }
    s->when = SHEET_BRIEF;
    if (n > MAX_LISTED)
        sheet_item(s, faults ? TEXT_WARNING : TEXT_PLAIN,
                   "%zu more %s: `s3analyze analyze` names those of each run.", n - MAX_LISTED,
                   faults ? "problems" : "notices");
    s->when = SHEET_ALWAYS;
}

void compare_sheet_faults(struct sheet *s, const struct compare *c)
{
    put_findings(s, c, true);
    for (size_t k = 0; compare_n_faulty(c) > 0 && k < c->n_ops; k++)
        if (compare_words_without_faults(&c->ops[k]).s[0] != '\0')
            sheet_line(s, TEXT_WARNING, "%s", compare_words_without_faults(&c->ops[k]).s);
}

/* ---- The runs ---- */

static void put_side(struct sheet *s, const struct compare_side *side)
{
    for (size_t i = 0; i < side->n; i++) {
        const struct run *r = &side->runs[i];

        sheet_line(s, TEXT_PLAIN, "%s: %s, %s", side->name, r->path,
                   figures_run(r->n_rows, r->start_ns, r->end_ns - r->start_ns).s);
    }
}

static void put_difference(struct sheet *s, const char *what, const char *change, bool is_limit)
{
    sheet_item(s, is_limit ? TEXT_WARNING : TEXT_PLAIN, "%s: %s%s", what, change,
               is_limit ? " (limits the comparison)" : "");
}

static void put_option(struct sheet *s, const struct compare_option *o)
{
    char what[80], change[200];

    snprintf(what, sizeof what, "Option %.60s", o->name);
    snprintf(change, sizeof change, "%s -> %s", o->before, o->after);
    put_difference(s, what, change, o->is_limit);
}

static void put_settings(struct sheet *s, const struct compare_setting *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_difference(s, compare_words_setting(v[i].kind), compare_words_setting_change(&v[i]).s,
                       compare_is_limit(v[i].kind));
}

void compare_sheet_runs(struct sheet *s, const struct compare *c)
{
    put_side(s, &c->before);
    put_side(s, &c->after);
    put_settings(s, c->settings, c->n_settings);
    for (size_t i = 0; i < c->n_options; i++)
        put_option(s, &c->options[i]);
    if (compare_n_limits(c) > 0)
        sheet_line(s, TEXT_WARNING, "Warning: %s.", compare_words_limited);
    for (size_t i = 0; i < c->n_warnings; i++)
        sheet_line(s, TEXT_WARNING, "Warning: %s.", c->warnings[i].message);
    if (!isnan(c->run_cv_frac))
        sheet_line(s, TEXT_PLAIN, "Run CV, as given: %.3g%%.", 100 * c->run_cv_frac);
    if (c->n_history > 0)
        sheet_line(s, TEXT_PLAIN, "Noise between runs: from %zu earlier runs.", c->n_history);
    put_findings(s, c, false);
}

/* ---- An operation ---- */

static enum text_style style_of(const struct compare_metric *m)
{
    switch (m->verdict) {
    case STATS_WORSE:
        return TEXT_ERROR;
    case STATS_BETTER:
        return TEXT_HEADING;
    case STATS_SAME:
    case STATS_SAME_WITHIN_RUN:
    case STATS_DIFFERS:
        return TEXT_PLAIN;
    case STATS_NOT_ENOUGH_DATA:
    case STATS_INCONCLUSIVE:
        break;
    }
    return TEXT_FAINT;
}

/* Whether one method gave all of the operation's figures. */
static bool have_one_method(const struct compare_op *op)
{
    for (size_t i = 1; i < op->n_metrics; i++)
        if (strcmp(compare_words_assumption(&op->metrics[i]).s,
                   compare_words_assumption(&op->metrics[0]).s) != 0)
            return false;
    return op->n_metrics > 0;
}

static void side_heading(struct sheet *s, const struct compare_side *side, size_t n)
{
    if (n > 1)
        sheet_cell(s, "%s (n=%zu)", side->name, n);
    else
        sheet_cell(s, "%s", side->name);
}

static void put_metrics(struct sheet *s, const struct compare *c, const struct compare_op *op)
{
    const struct run_part *part = NULL;
    bool one_method = have_one_method(op);

    sheet_table(s, "lrrrlwW", "");
    SHEET_HEADINGS(s, "");
    side_heading(s, &c->before, op->n_before);
    side_heading(s, &c->after, op->n_after);
    SHEET_CELLS(s, compare_words_change(op), "95% CI", "Verdict", "Method");
    for (size_t i = 0; i < op->n_metrics; i++) {
        const struct compare_metric *m = &op->metrics[i];
        const struct compare_words_row r = compare_words_row(m);
        bool follows = op->sizes_differ && m->metric == RUN_THROUGHPUT;

        if (m->part != part && m->part->kind != RUN_ALL)
            sheet_span(s, TEXT_HEADING, "%s", compare_words_part(m->part).s);
        part = m->part;
        SHEET_ROW(s, follows ? TEXT_FAINT : style_of(m), r.metric, r.before, r.after, r.change,
                  r.ci);
        sheet_cell(s, "%s%s%s", m->cmp.ok ? r.p : "", m->cmp.ok ? " " : "", r.verdict.s);
        sheet_cell(s, "%s", one_method ? "" : compare_words_assumption(m).s);
    }
    s->when = SHEET_DETAIL;
    if (one_method)
        sheet_line(s, TEXT_FAINT, "Method: %s.", compare_words_assumption(&op->metrics[0]).s);
    s->when = SHEET_ALWAYS;
}

static void figure_row(struct sheet *s, const char *what, const char *which,
                       struct units_text (*text)(double), double before, double after)
{
    if (isnan(before) && isnan(after))
        return;
    sheet_row(s, TEXT_PLAIN);
    sheet_cell(s, "%s, %s", what, which);
    SHEET_CELLS(s, isnan(before) ? "-" : text(before).s, isnan(after) ? "-" : text(after).s,
                compare_words_percent(before, after).s);
}

/* The figures of the runs' own reports, medians over the runs. */
static void put_figures(struct sheet *s, const struct compare *c, const struct compare_op *op)
{
    static const char *const rates[RUN_N_RATES] = {"average", "fastest segment", "median segment",
                                                   "slowest segment"};
    static const char *const times[RUN_N_TIMES] = {"average", "50%", "90%", "99%", "best", "worst"};
    const struct run_figures *a = &op->before, *b = &op->after;

    sheet_table(s, "lrrr", "Figures of the runs' own reports");
    SHEET_HEADINGS(s, "", c->before.name, c->after.name, "Change");
    for (int i = 0; i < RUN_N_RATES; i++)
        if (compare_shows_rate(op, i))
            figure_row(s, "Throughput", rates[i], units_byte_rate, a->bytes_per_s[i],
                       b->bytes_per_s[i]);
    for (int i = 0; i < RUN_N_RATES; i++)
        if (compare_shows_rate(op, i))
            figure_row(s, "Objects", rates[i], units_object_rate, a->objects_per_s[i],
                       b->objects_per_s[i]);
    for (int i = 0; i < RUN_N_TIMES; i++)
        figure_row(s, "Duration", times[i], figures_ns, a->duration_ns[i], b->duration_ns[i]);
    for (int i = 0; i < RUN_N_TIMES; i++)
        figure_row(s, "TTFB", times[i], figures_ns, a->ttfb_ns[i], b->ttfb_ns[i]);
}

void compare_sheet_op(struct sheet *s, const struct compare *c, size_t k)
{
    const struct compare_op *op = &c->ops[k];

    sheet_title(s, "Operation: %s", op->op);
    put_settings(s, op->settings, op->n_settings);
    if (op->sizes_differ)
        sheet_line(s, TEXT_PLAIN,
                   "Object sizes differ: objects/s are compared; bytes/s follow from the sizes.");
    if (op->n_metrics > 0)
        put_metrics(s, c, op);
    else
        sheet_line(s, TEXT_FAINT, "Nothing to compare: no figure that both sides have.");
    if (op->has_effect)
        sheet_line(s, TEXT_PLAIN, "%s", compare_words_effect(c, op).s);
    if (op->n_metrics == 0 || op->metrics[0].before.too_thin == NULL ||
        op->metrics[0].after.too_thin == NULL)
        put_figures(s, c, op);
}

/* ---- The whole ---- */

void compare_sheet_means(struct sheet *s, const struct compare *c)
{
    if (c->n_ops < 2 || c->single)
        return;
    sheet_table(s, "lrrr", "Geometric mean over the operations");
    SHEET_HEADINGS(s, "", c->before.name, c->after.name, "Change");
    for (size_t i = 0; i < n_metrics; i++) {
        double before, after;
        size_t n;

        if (metrics[i].kind == METRIC_DIFFERENCE ||
            !compare_geomean(c, (enum run_metric)i, &before, &after, &n) || n < 2)
            continue;
        sheet_row(s, TEXT_PLAIN);
        sheet_cell(s, "%s (%zu)", metrics[i].name, n);
        SHEET_CELLS(s, metrics[i].text(before).s, metrics[i].text(after).s,
                    compare_words_percent(before, after).s);
    }
}

static bool any_verdict(const struct compare *c, enum stats_verdict verdict)
{
    for (size_t k = 0; k < c->n_ops; k++)
        for (size_t i = 0; i < c->ops[k].n_metrics; i++)
            if (c->ops[k].metrics[i].verdict == verdict)
                return true;
    return false;
}

void compare_sheet_notes(struct sheet *s, const struct compare *c)
{
    sheet_line(s, TEXT_FAINT, "%s", compare_words_notes(c).s);
    if (c->n_family > 0) {
        sheet_line(s, TEXT_FAINT, "%s", compare_words_ci);
        sheet_line(s, TEXT_FAINT, "%s", compare_words_p);
    }
    if (any_verdict(c, STATS_INCONCLUSIVE))
        sheet_line(s, TEXT_FAINT, "%s", compare_words_mde);
    if (c->single && c->noise == STATS_NOISE_UNKNOWN)
        sheet_line(s, TEXT_FAINT, "%s", compare_words_noise);
    if (any_verdict(c, STATS_DIFFERS))
        sheet_line(s, TEXT_FAINT, "%s", compare_words_break_even);
}

void compare_sheet_gate(struct sheet *s, const struct compare *c)
{
    if (!c->has_gate)
        return;
    sheet_line(s,
               c->gate == EXIT_DONE     ? TEXT_HEADING
               : c->gate == EXIT_FAILED ? TEXT_ERROR
                                        : TEXT_WARNING,
               "%s", compare_words_gate(c).s);
    for (size_t k = 0; k < c->n_ops; k++) {
        size_t n = 0;
        for (size_t i = 0; i < c->ops[k].n_metrics; i++) {
            if (!c->ops[k].metrics[i].gated)
                continue;
            sheet_item(s, TEXT_PLAIN, "%s %s", c->ops[k].op,
                       compare_words_gated(&c->ops[k].metrics[i]).s);
            n++;
        }
        if (n == 0)
            sheet_item(s, TEXT_FAINT, "%s: nothing to judge", c->ops[k].op);
    }
}
