#include "analyze/render/report/compare.h"

#include "analyze/render/report/figures.h"
#include "analyze/render/report/headline.h"
#include "analyze/tools/archive/archive.h"
#include "analyze/tools/compare/words.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What happened in the runs ---- */

#define MAX_LISTED 10 /* findings in brief text */

/* Counts the runs of a side that have a finding of the kind. */
static size_t n_with(const struct compare_side *side, const struct finding *like)
{
    size_t n = 0;
    for (size_t i = 0; i < side->n; i++) {
        const struct findings *all = &side->runs[i].findings;
        size_t k = 0;

        while (k < all->n && all->v[k].kind != like->kind)
            k++;
        n += k < all->n;
    }
    return n;
}

static bool was_told(const struct compare *c, size_t run, size_t finding)
{
    const struct finding *x = &compare_nth_run(c, run)->findings.v[finding];
    for (size_t i = 0; i <= run; i++) {
        const struct findings *all = &compare_nth_run(c, i)->findings;
        for (size_t k = 0; k < (i < run ? all->n : finding); k++)
            if (all->v[k].kind == x->kind)
                return true;
    }
    return false;
}

void compare_sheet_findings(struct sheet *s, const struct compare *c, bool faults)
{
    size_t n = 0;

    for (size_t i = 0; i < compare_n_runs(c); i++) {
        const struct compare_side *side = compare_side_of(c, i);
        const struct run *r = compare_nth_run(c, i);

        for (size_t k = 0; k < r->findings.n; k++) {
            const struct finding *x = &r->findings.v[k];
            if (run_is_fault(x) != faults)
                continue;
            size_t n_before = n_with(&c->before, x), n_after = n_with(&c->after, x);
            bool is_common = !c->single && n_before + n_after > 1;
            enum text_style style = faults ? TEXT_WARNING : TEXT_PLAIN;

            if (is_common && !was_told(c, i, k)) {
                s->when = SHEET_BRIEF;
                sheet_item(s, style,
                           "%s in %zu of %zu runs of %s and %zu of %zu of %s, as in %s: %s",
                           headline_severity(x), n_before, c->before.n, c->before.name, n_after,
                           c->after.n, c->after.name, archive_label(c->names[i]).s, x->sentence);
            }
            s->when = !is_common && n < MAX_LISTED ? SHEET_ALWAYS : SHEET_DETAIL;
            n += !is_common;
            sheet_item(s, style, "%s: %s%s%s: %s", headline_severity(x), side->name,
                       side->n > 1 ? ", " : "", side->n > 1 ? compare_run_name(c, i) : "",
                       x->sentence);
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
    compare_sheet_findings(s, c, true);
    for (size_t k = 0; compare_n_faulty(c) > 0 && k < c->n_ops; k++)
        if (compare_words_without_faults(&c->ops[k]).s[0] != '\0')
            sheet_line(s, TEXT_WARNING, "%s", compare_words_without_faults(&c->ops[k]).s);
}

/* ---- The runs ---- */

#define MAX_NAMED 4 /* runs of a side */

/* Whether the name of `b` is that of `a` with the next number at its end. */
static bool is_next(const char *a, const char *b)
{
    struct archive_label x = archive_label(a), y = archive_label(b);
    size_t n_x = strcspn(x.s, "0123456789"), n_y = strcspn(y.s, "0123456789");
    size_t from_x = strlen(x.s), from_y = strlen(y.s);

    if (n_x == from_x || n_y == from_y)
        return false;
    while (from_x > 0 && strchr("0123456789", x.s[from_x - 1]) != NULL)
        from_x--;
    while (from_y > 0 && strchr("0123456789", y.s[from_y - 1]) != NULL)
        from_y--;
    return from_x == from_y && x.s[from_x] != '\0' && y.s[from_y] != '\0' &&
           strncmp(x.s, y.s, from_x) == 0 &&
           strtod(y.s + from_y, NULL) == strtod(x.s + from_x, NULL) + 1;
}

/* "ab-before-1..6", "monday, tuesday, and 7 more" */
static struct phrase run_names(const char *const *names, size_t n_runs)
{
    struct phrase t = {""};
    size_t n_shown = 0;

    for (size_t i = 0, next; i < n_runs; i = next) {
        size_t n = strlen(t.s);
        for (next = i + 1; next < n_runs && is_next(names[next - 1], names[next]);)
            next++;
        if (n_shown++ == MAX_NAMED) {
            snprintf(t.s + n, sizeof t.s - n, ", and %zu more", n_runs - i);
            break;
        }
        struct archive_label first = archive_label(names[i]);
        struct archive_label last = archive_label(names[next - 1]);
        size_t same = 0; /* length of the common name before the number */
        for (size_t k = 0; first.s[k] != '\0' && first.s[k] == last.s[k]; k++)
            same = strchr("0123456789", first.s[k]) == NULL ? k + 1 : same;
        snprintf(t.s + n, sizeof t.s - n, "%s%.120s%s%.40s", n > 0 ? ", " : "", first.s,
                 next - i > 1 ? ".." : "", next - i > 1 ? last.s + same : "");
    }
    return t;
}

/* Writes the runs of a side in one line, and with -v each run. */
static void put_side(struct sheet *s, const struct compare_side *side, const char *const *names)
{
    if (side->n > 1) {
        sheet_line(s, TEXT_PLAIN, "%s: %zu runs, %s", side->name, side->n,
                   run_names(names, side->n).s);
        s->when = SHEET_DETAIL;
    }
    for (size_t i = 0; i < side->n; i++) {
        const struct run *r = &side->runs[i];

        sheet_line(s, TEXT_PLAIN, "%s: %s, %s", side->name, r->path,
                   figures_run(r->n_rows, r->start_ns, r->end_ns - r->start_ns).s);
    }
    s->when = SHEET_ALWAYS;
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
        put_difference(s, run_setting_names[v[i].kind].title, compare_words_setting_change(&v[i]).s,
                       compare_is_limit(&v[i]));
}

void compare_sheet_limits(struct sheet *s, const struct compare *c)
{
    struct phrase limits = compare_words_limits(c);

    put_settings(s, c->settings, c->n_settings);
    for (size_t i = 0; i < c->n_options; i++)
        put_option(s, &c->options[i]);
    if (compare_n_limits(c) > 0)
        sheet_line(s, TEXT_WARNING, "Warning: %s%s%s%s.", compare_words_limited,
                   limits.s[0] != '\0' ? " (" : "", limits.s, limits.s[0] != '\0' ? ")" : "");
    for (size_t i = 0; i < c->warnings.n; i++)
        sheet_line(s, TEXT_WARNING, "Warning: %s.", c->warnings.v[i].message);
    if (!isnan(c->run_cv_frac))
        sheet_line(s, TEXT_PLAIN, "Run CV, as given: %.3g %%.", 100 * c->run_cv_frac);
    if (c->n_history > 0)
        sheet_line(s, TEXT_PLAIN, "Noise between runs: from %zu earlier runs.", c->n_history);
}

void compare_sheet_runs(struct sheet *s, const struct compare *c)
{
    put_side(s, &c->before, c->names);
    put_side(s, &c->after, c->names + c->before.n);
}

/* ---- An operation ---- */

static enum text_style style_of(const struct compare_metric *m)
{
    switch (m->verdict) {
    case STATS_WORSE:
        return TEXT_ERROR;
    case STATS_BETTER:
        return TEXT_GOOD;
    case STATS_SAME:
    case STATS_SAME_WITHIN_RUN:
    case STATS_DIFFERS:
        return TEXT_PLAIN;
    case STATS_NOT_ENOUGH_DATA:
    case STATS_INCONCLUSIVE:
    case STATS_NOT_JUDGED:
        break;
    }
    return TEXT_FAINT;
}

/* Writes the method of metric i, and the names of all metrics that use it, each once; nothing if a
 * metric before it uses it. */
static void put_method(struct sheet *s, const struct compare_op *op, size_t i)
{
    const struct phrase method = compare_words_assumption(&op->metrics[i]);
    char names[200] = "";
    bool named[RUN_N_COMPARED] = {false}, all = true;

    for (size_t k = 0; k < op->n_metrics; k++) {
        enum run_metric metric = op->metrics[k].metric;
        size_t n = strlen(names);

        if (strcmp(compare_words_assumption(&op->metrics[k]).s, method.s) != 0) {
            all = false;
        } else if (k < i) {
            return; /* was named before */
        } else if (!named[metric]) {
            named[metric] = true;
            snprintf(names + n, sizeof names - n, "%s%s", n > 0 ? ", " : " of ",
                     metrics[metric].name);
        }
    }
    sheet_line(s, TEXT_FAINT, "Method%s: %s.", all ? "" : names, method.s);
}

static void side_heading(struct sheet *s, const struct compare_side *side, size_t n)
{
    if (n > 1)
        sheet_cell(s, "%s (n=%zu)", side->name, n);
    else
        sheet_cell(s, "%s", side->name);
}

static void put_rows(struct sheet *s, const struct compare_op *op)
{
    const struct run_part *part = NULL;

    for (size_t i = 0; i < op->n_metrics; i++) {
        const struct compare_metric *m = &op->metrics[i];
        const struct compare_words_row r = compare_words_row(m);

        if (m->part != part && m->part->kind != RUN_ALL)
            sheet_span(s, TEXT_HEADING, "%s", compare_words_part(m->part).s);
        part = m->part;
        SHEET_ROW(s, style_of(m), r.metric, r.before, r.after, r.change, r.p, r.ci, r.verdict.s);
    }
}

static void put_headings(struct sheet *s, const struct compare *c, const struct compare_op *op)
{
    sheet_table(s, "lrrrlLW", "");
    SHEET_HEADINGS(s, op != NULL ? op->name : "");
    side_heading(s, &c->before, op != NULL ? op->runs[0].n : 1);
    side_heading(s, &c->after, op != NULL ? op->runs[1].n : 1);
    SHEET_CELLS(s, "Change", "p", "95 % CI", "Verdict");
}

void compare_sheet_table(struct sheet *s, const struct compare *c)
{
    const struct compare_op *only = NULL;
    size_t n = 0, n_shown = 0;

    for (size_t k = 0; k < c->n_ops; k++)
        if (c->ops[k].n_metrics > 0) {
            n++;
            n_shown += compare_is_measured(c, &c->ops[k]);
            only = n_shown == 1 && compare_is_measured(c, &c->ops[k]) ? &c->ops[k] : only;
        }
    if (n_shown > 0)
        put_headings(s, c, n_shown == 1 ? only : NULL);
    /* The operations that the runs measure come first. */
    for (int preparation = 0; n_shown > 0 && preparation < 2; preparation++)
        for (size_t k = 0; k < c->n_ops; k++) {
            const struct compare_op *op = &c->ops[k];
            if (op->n_metrics == 0 || compare_is_measured(c, op) == (preparation == 1))
                continue;
            s->when = preparation == 1 ? SHEET_DETAIL : SHEET_ALWAYS;
            if (n > 1 && !(n_shown == 1 && op == only))
                sheet_span(s, TEXT_HEADING, "%s", op->name);
            put_rows(s, op);
        }
    s->when = SHEET_ALWAYS;
}

void compare_sheet_metrics(struct sheet *s, const struct compare *c, size_t k)
{
    if (c->ops[k].n_metrics == 0)
        return;
    put_headings(s, c, &c->ops[k]);
    put_rows(s, &c->ops[k]);
}

bool compare_sheet_figure(const struct compare_op *op, size_t i, struct compare_figure *x)
{
    const struct metric *m = &metrics[i];

    *x = (struct compare_figure){.text = m->text, .before = op->before[i], .after = op->after[i]};
    if (m->key == NULL || (isnan(x->before) && isnan(x->after)) ||
        compare_metric_of(op, (enum run_metric)i) != NULL ||
        (op->few_segments && m->segment == offsetof(struct segments, median)))
        return false;
    snprintf(x->name, sizeof x->name, "%s, %s", metric_groups[m->group].title, m->label);
    return true;
}

/* "-7.7 MiB/s", or in smaller units what would be 0.0. */
static struct units_text byte_rate_change(double diff)
{
    return fabs(diff) >= .05 * MIB || diff == 0
               ? units_format("%.40s MiB/s", units_change_to(diff / MIB, 1).s)
               : units_format("%.40s KiB/s", units_change_to(diff / 1024, 1).s);
}

/* "-18.07%", as warp prints it. */
static struct units_text percent_of(double before, double after)
{
    double pct = 100 * (after - before) / before;

    return before > 0 ? units_format("%.40s" UNITS_CELL_PCT, units_change_to(pct, 2).s)
                      : units_format("-");
}

/* Writes the changes of the rates as warp prints them. */
static void put_rates(struct sheet *s, const struct compare_op *op)
{
    static const char *const names[] = {"Average", "Fastest", "50% Median", "Slowest"};
    const double *a = op->before, *b = op->after;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t k = i == 0 ? RUN_THROUGHPUT : RUN_SEGMENTS + 2 * (i - 1);
        double bytes = b[k] - a[k], objects = b[k + 1] - a[k + 1];
        char part[128] = "";

        if (isnan(objects) || (op->few_segments && i == 2))
            continue;
        if (!isnan(bytes))
            snprintf(part, sizeof part, "%s (%s) throughput, ", percent_of(a[k], b[k]).s,
                     byte_rate_change(bytes).s);
        sheet_item(s, TEXT_PLAIN, "%s: %s%s (%s) obj/s", names[i], part,
                   percent_of(a[k + 1], b[k + 1]).s, units_change_to(objects, 1).s);
    }
}

static void put_figures(struct sheet *s, const struct compare *c, const struct compare_op *op)
{
    struct compare_figure x;

    sheet_table(s, "lrrr", "Other figures of the runs' reports");
    SHEET_HEADINGS(s, "", c->before.name, c->after.name, "Change");
    for (size_t i = 0; i < n_metrics; i++)
        if (compare_sheet_figure(op, i, &x))
            SHEET_ROW(s, TEXT_PLAIN, x.name, isnan(x.before) ? "-" : x.text(x.before).s,
                      isnan(x.after) ? "-" : x.text(x.after).s,
                      compare_words_percent(x.before, x.after).s);
}

void compare_sheet_op(struct sheet *s, const struct compare *c, size_t k)
{
    const struct compare_op *op = &c->ops[k];

    s->when = compare_is_measured(c, op) && !c->has_cells ? SHEET_ALWAYS : SHEET_DETAIL;
    sheet_title(s, "Operation: %s", op->name);
    put_settings(s, op->settings, op->n_settings);
    if (op->sizes_differ)
        sheet_line(s, TEXT_PLAIN,
                   "Object sizes differ: objects/s are compared; bytes/s follow from the sizes.");
    if (op->n_metrics == 0)
        sheet_line(s, TEXT_FAINT, "Nothing to compare: no figure that both sides have.");
    enum sheet_when when = s->when;
    s->when = SHEET_DETAIL;
    for (size_t i = 0; i < op->n_metrics; i++)
        put_method(s, op, i);
    if (op->has_effect)
        sheet_line(s, TEXT_PLAIN, "%s", compare_words_effect(c, op).s);
    s->when = when;
    if (op->n_metrics == 0 || op->metrics[0].before.too_thin == NULL ||
        op->metrics[0].after.too_thin == NULL) {
        put_rates(s, op);
        put_figures(s, c, op);
    }
    s->when = SHEET_ALWAYS;
}

/* ---- The whole ---- */

bool compare_sheet_mean(const struct compare *c, size_t i, struct compare_mean *x)
{
    return c->n_ops > 1 && metrics[i].kind != METRIC_DIFFERENCE &&
           compare_geomean(c, (enum run_metric)i, &x->before, &x->after, &x->n_ops) && x->n_ops > 1;
}

void compare_sheet_means(struct sheet *s, const struct compare *c)
{
    struct compare_mean x;

    if (c->n_ops < 2 || c->single)
        return;
    s->when = SHEET_DETAIL;
    sheet_table(s, "lrrr", "Geometric mean over the operations");
    SHEET_HEADINGS(s, "", c->before.name, c->after.name, "Change");
    for (size_t i = 0; i < RUN_N_COMPARED; i++) {
        if (!compare_sheet_mean(c, i, &x))
            continue;
        sheet_row(s, TEXT_PLAIN);
        sheet_cell(s, "%s (%zu)", metrics[i].name, x.n_ops);
        SHEET_CELLS(s, metrics[i].text(x.before).s, metrics[i].text(x.after).s,
                    compare_words_percent(x.before, x.after).s);
    }
    s->when = SHEET_ALWAYS;
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
    s->when = SHEET_DETAIL;
    if (c->n_family > 0) {
        sheet_line(s, TEXT_FAINT, "%s", compare_words_ci);
        sheet_line(s, TEXT_FAINT, "%s", compare_words_p);
    }
    if (any_verdict(c, STATS_INCONCLUSIVE))
        sheet_line(s, TEXT_FAINT, "%s", compare_words_mde);
    if (any_verdict(c, STATS_DIFFERS))
        sheet_line(s, TEXT_FAINT, "%s", compare_words_break_even);
    s->when = SHEET_ALWAYS;
    if (c->single && c->noise == STATS_NOISE_UNKNOWN)
        sheet_line(s, TEXT_FAINT, "%s", compare_words_noise);
}

void compare_sheet_gate(struct sheet *s, const struct compare *c)
{
    if (!c->has_gate)
        return;
    sheet_line(s, sheet_verdict_style(c->gate), "Limits of the gate:");
    for (size_t k = 0; k < c->n_ops; k++) {
        size_t n = 0;
        for (size_t i = 0; i < c->ops[k].n_metrics; i++) {
            if (!c->ops[k].metrics[i].gated)
                continue;
            s->when =
                c->has_cells && c->ops[k].metrics[i].gate_passes ? SHEET_DETAIL : SHEET_ALWAYS;
            sheet_item(s, TEXT_PLAIN, "%s %s", c->ops[k].name,
                       compare_words_gated(&c->ops[k].metrics[i]).s);
            n++;
        }
        bool is_open = c->ops[k].lacks_errors && !c->ops[k].errors_pass;
        s->when = c->has_cells && !is_open ? SHEET_DETAIL : SHEET_ALWAYS;
        if (c->ops[k].lacks_errors)
            sheet_item(s, TEXT_PLAIN, "%s %s", c->ops[k].name,
                       compare_words_no_errors(&c->ops[k]).s);
        else if (n == 0)
            sheet_item(s, TEXT_FAINT, "%s: nothing to judge", c->ops[k].name);
    }
    s->when = SHEET_ALWAYS;
}

/* ---- Text ---- */

void compare_sheet_cells(struct sheet *s, const struct compare *c)
{
    static const enum text_style styles[] = {
        [CELL_WORSE] = TEXT_ERROR, [CELL_BETTER] = TEXT_GOOD, [CELL_NO_DATA] = TEXT_FAINT};

    sheet_table(s, "lrrrrrw", "");
    SHEET_HEADINGS(s, c->has_cells ? "cell" : "", c->before.name, c->after.name, "throughput",
                   "p50", "p99", "");
    for (size_t k = 0; k < c->n_ops; k++) {
        const struct compare_op *op = &c->ops[k];
        const struct compare_words_cell x = compare_words_cell(op);

        if (compare_is_measured(c, op) && x.before.s[0] != '\0')
            SHEET_ROW(s, styles[op->change], op->name, x.before.s, x.after.s, x.throughput.s,
                      x.p50.s, x.p99.s, x.verdict.s);
    }
}

static void put_body(struct sheet *s, const struct compare *c)
{
    if (compare_n_faulty(c) > 0)
        sheet_line(s, TEXT_WARNING, "%s:", compare_words_faulty(c).s);
    compare_sheet_faults(s, c);
    compare_sheet_limits(s, c);
    compare_sheet_findings(s, c, false);
    compare_sheet_notes(s, c);
}

/* Writes a comment for a pull request: what is folded has no paths and no preparation. */
static void put_comment(struct sheet *s, const struct compare *c)
{
    sheet_headline(s, (c->has_cells ? compare_words_headline(c) : compare_words_answer(c)).s,
                   c->has_cells ? compare_words_rest(c).s : "");
    compare_sheet_cells(s, c);
    sheet_fold(s, "Details");
    compare_sheet_gate(s, c);
    compare_sheet_table(s, c);
    put_body(s, c);
    for (size_t k = 0; k < c->n_ops; k++)
        if (compare_is_measured(c, &c->ops[k]))
            compare_sheet_op(s, c, k);
    compare_sheet_means(s, c);
    sheet_fold_end(s);
}

static void put_text(struct sheet *s, const struct compare *c, bool verbose)
{
    struct phrase why;

    sheet_line(s, sheet_verdict_style(compare_words_judge(c, &why)), "%s",
               compare_words_answer(c).s);
    compare_sheet_gate(s, c);
    sheet_gap(s);
    if (c->has_cells)
        compare_sheet_cells(s, c);
    sheet_gap(s);
    if (!c->has_cells || verbose)
        compare_sheet_table(s, c);
    sheet_gap(s);
    put_body(s, c);
    compare_sheet_runs(s, c);
    for (size_t k = 0; k < c->n_ops; k++)
        compare_sheet_op(s, c, k);
    compare_sheet_means(s, c);
}

bool compare_text(const struct compare *c, const struct sheet_form *form, FILE *f, struct err *e)
{
    struct sheet s = {.brief = form->markdown && !form->verbose};

    if (form->markdown)
        put_comment(&s, c);
    else
        put_text(&s, c, form->verbose);
    return sheet_end(&s, form, f, e);
}

/* ---- Notes ---- */

/* Passes each line and item of the sheet to `take`, and empties the sheet. False: out of memory. */
static bool each_note(struct sheet *s, const char *op, compare_sheet_take_note *take, void *ctx)
{
    bool ok = !s->failed;

    for (size_t i = 0; ok && i < s->n; i++)
        if ((s->v[i].kind == SHEET_LINE || s->v[i].kind == SHEET_ITEM) &&
            sheet_is_shown(&s->v[i], true))
            take(ctx, op, s->v[i].text);
    sheet_free(s);
    return ok;
}

bool compare_sheet_each_note(const struct compare *c, compare_sheet_take_note *take, void *ctx,
                             struct err *e)
{
    struct sheet s = {0};

    if (compare_n_faulty(c) > 0)
        take(ctx, "", compare_words_faulty(c).s);
    compare_sheet_faults(&s, c);
    compare_sheet_limits(&s, c);
    compare_sheet_findings(&s, c, false);
    compare_sheet_runs(&s, c);
    bool ok = each_note(&s, "", take, ctx);
    for (size_t k = 0; k < c->n_ops; k++) {
        compare_sheet_op(&s, c, k);
        ok &= each_note(&s, c->ops[k].name, take, ctx);
    }
    compare_sheet_notes(&s, c);
    compare_sheet_gate(&s, c);
    return (each_note(&s, "", take, ctx) && ok) || mem_none(e);
}
