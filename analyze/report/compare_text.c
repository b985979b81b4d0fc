#include "analyze/report/compare.h"

#include "analyze/compare/words.h"
#include "analyze/report/figures.h"
#include "analyze/report/headline.h"
#include "analyze/write/text.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <inttypes.h>
#include <math.h>

#define MIB 0x1p20

static void put_side(struct text *out, const struct compare_side *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct run *r = &s->runs[i];

        text_line(out, TEXT_PLAIN, "%s: %s, %s", s->name, r->path,
                  figures_run(r->n_rows, r->start_ns, r->end_ns - r->start_ns).s);
    }
}

static void put_setting(struct text *out, const struct compare_setting *s)
{
    text_line(out, compare_is_limit(s->kind) ? TEXT_WARNING : TEXT_PLAIN, "%s: %s",
              compare_words_setting(s->kind), compare_words_setting_change(s).s);
}

/* ---- What happened in the runs ---- */

#define MAX_FAULTS 10

/* "after: Stalled for 3s ..."; with the file where a side has several. */
static void put_finding(struct text *out, const struct compare_side *s, const struct run *r,
                        const struct finding *f)
{
    text_line(out, run_is_fault(f) ? TEXT_WARNING : TEXT_PLAIN, "%s: %s%s%s: %s",
              headline_severity(f), s->name, s->n > 1 ? ", " : "", s->n > 1 ? r->path : "",
              f->sentence);
}

/* Faults, or the rest. */
static void put_findings(struct text *out, const struct compare *c, bool faults)
{
    size_t n = 0;

    for (size_t i = 0; i < compare_n_runs(c); i++) {
        const struct run *r = compare_nth_run(c, i);
        for (size_t k = 0; k < r->findings.n; k++)
            if (run_is_fault(&r->findings.v[k]) == faults && n++ < MAX_FAULTS)
                put_finding(out, compare_side_of(c, i), r, &r->findings.v[k]);
    }
    if (n > MAX_FAULTS)
        text_line(out, faults ? TEXT_WARNING : TEXT_PLAIN,
                  "%zu more %s: `s3analyze analyze` names those of each run.", n - MAX_FAULTS,
                  faults ? "problems" : "notices");
    if (n == 0 || !faults)
        return;
    for (size_t k = 0; k < c->n_ops; k++)
        if (compare_words_without_faults(&c->ops[k]).s[0] != '\0')
            text_line(out, TEXT_WARNING, "%s", compare_words_without_faults(&c->ops[k]).s);
    text_blank(out);
}

static void put_head(struct text *out, const struct compare *c)
{
    if (compare_n_faulty(c) > 0)
        text_line(out, TEXT_WARNING, "%s:", compare_words_faulty(c).s);
    put_findings(out, c, true);
    put_side(out, &c->before);
    put_side(out, &c->after);
    for (size_t i = 0; i < c->n_settings; i++)
        put_setting(out, &c->settings[i]);
    for (size_t i = 0; i < c->n_options; i++)
        text_line(out, c->options[i].is_limit ? TEXT_WARNING : TEXT_PLAIN, "Option %s: %s -> %s",
                  c->options[i].name, c->options[i].before, c->options[i].after);
    if (compare_n_limits(c) > 0)
        text_line(out, TEXT_WARNING, "Warning: %s.", compare_words_limited);
    for (size_t i = 0; i < c->n_warnings; i++)
        text_line(out, TEXT_WARNING, "Warning: %s.", c->warnings[i].message);
    put_findings(out, c, false);
}

/* ---- The figures of the report ---- */

/* "-7.7 MiB/s", or in smaller units what would be 0.0. */
static struct units_text byte_rate_change(double diff)
{
    struct units_text t;
    if (fabs(diff) >= .05 * MIB || diff == 0)
        snprintf(t.s, sizeof t.s, "%+.1f MiB/s", diff / MIB);
    else
        snprintf(t.s, sizeof t.s, "%+.1f KiB/s", diff / 1024);
    return t;
}

static struct units_text duration_change(double diff_ns)
{
    struct units_text t;
    int64_t ns = (int64_t)round(fabs(diff_ns));

    snprintf(t.s, sizeof t.s, "%c%.40s", diff_ns < 0 ? '-' : '+', units_duration(ns).s);
    return t;
}

static void put_rate(struct text *out, const char *name, const struct run_figures *a,
                     const struct run_figures *b, int i)
{
    double bytes = b->bytes_per_s[i] - a->bytes_per_s[i];
    double objects = b->objects_per_s[i] - a->objects_per_s[i];
    char part[128] = "";

    if (isnan(objects))
        return;
    if (!isnan(bytes))
        snprintf(part, sizeof part, "%s (%s) throughput, ",
                 compare_words_percent(a->bytes_per_s[i], b->bytes_per_s[i]).s,
                 byte_rate_change(bytes).s);
    text_line(out, TEXT_PLAIN, " * %s: %s%s (%+.1f) obj/s", name, part,
              compare_words_percent(a->objects_per_s[i], b->objects_per_s[i]).s, objects);
}

static void put_times(struct text *out, const char *name, const double *a, const double *b)
{
    static const char *const names[RUN_N_TIMES] = {"Average", "50%", "90%", "99%", "Best", "Worst"};
    char line[512] = "";
    size_t n = 0;

    for (int i = 0; i < RUN_N_TIMES; i++) {
        if (isnan(a[i]) || isnan(b[i]))
            continue;
        n += (size_t)snprintf(line + n, sizeof line - n, "%s%s: %s (%s)", n > 0 ? ", " : "",
                              names[i], duration_change(b[i] - a[i]).s,
                              compare_words_percent(a[i], b[i]).s);
    }
    if (n > 0)
        text_line(out, TEXT_PLAIN, " * %s: %s", name, line);
}

static void put_figures(struct text *out, const struct compare_op *op)
{
    static const char *const names[RUN_N_RATES] = {"Average", "Fastest", "50% Median", "Slowest"};
    for (int i = 0; i < RUN_N_RATES; i++)
        if (compare_shows_rate(op, i))
            put_rate(out, names[i], &op->before, &op->after, i);
    put_times(out, "Duration, of successful requests", op->before.duration_ns,
              op->after.duration_ns);
    put_times(out, "First byte, of requests that have one", op->before.ttfb_ns, op->after.ttfb_ns);
}

/* ---- The metrics ---- */

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

static void heading_cell(struct text_table *t, const struct compare_side *s)
{
    if (s->n > 1)
        text_table_cell(t, "%s (n=%zu)", s->name, s->n);
    else
        text_table_cell(t, "%s", s->name);
}

static void put_metrics(struct text *out, const struct compare *c, const struct compare_op *op)
{
    struct text_table t;
    const struct run_part *part = NULL;

    text_table_init(&t, out, "lrrrll");
    TEXT_ROW(&t, TEXT_FAINT, "");
    heading_cell(&t, &c->before);
    heading_cell(&t, &c->after);
    TEXT_CELLS(&t, compare_words_change(op), "95% CI");
    for (size_t i = 0; i < op->n_metrics; i++) {
        const struct compare_metric *m = &op->metrics[i];
        if (m->part != part && m->part->kind != RUN_ALL)
            text_table_span(&t, TEXT_HEADING, "%s", compare_words_part(m->part).s);
        part = m->part;
        struct compare_words_row r = compare_words_row(m);
        bool follows = op->sizes_differ && m->metric == RUN_THROUGHPUT;
        TEXT_ROW(&t, follows ? TEXT_FAINT : style_of(m), r.metric, r.before, r.after, r.change,
                 r.ci);
        if (m->cmp.ok)
            text_table_cell(&t, "%s %s", r.p, r.verdict.s);
        else
            text_table_cell(&t, "%s", r.verdict.s);
    }
    text_table_put(&t);
}

static void put_op(struct text *out, const struct compare *c, const struct compare_op *op)
{
    text_blank(out);
    text_line(out, TEXT_FAINT, "-------------------");
    text_line(out, TEXT_HEADING, "Operation: %s", op->op);
    for (size_t i = 0; i < op->n_settings; i++)
        put_setting(out, &op->settings[i]);
    if (op->n_metrics == 0 || op->metrics[0].before.too_thin == NULL ||
        op->metrics[0].after.too_thin == NULL)
        put_figures(out, op);
    if (op->sizes_differ)
        text_line(out, TEXT_PLAIN,
                  "Object sizes differ: objects/s are compared; bytes/s follow from the sizes.");
    text_blank(out);
    if (op->n_metrics > 0)
        put_metrics(out, c, op);
    else
        text_line(out, TEXT_FAINT, "Nothing to compare: no figure that both sides have.");
    if (op->has_effect)
        text_line(out, TEXT_PLAIN, "%s", compare_words_effect(c, op).s);
}

/* Geometric means over the operations, where there are several. */
static void put_geomeans(struct text *out, const struct compare *c)
{
    struct text_table t;
    bool any = false;

    if (c->n_ops < 2 || c->single)
        return;
    text_table_init(&t, out, "lrrr");
    for (size_t i = 0; i < n_metrics; i++) {
        double before, after;
        size_t n;

        if (metrics[i].kind == METRIC_DIFFERENCE ||
            !compare_geomean(c, (enum run_metric)i, &before, &after, &n) || n < 2)
            continue;
        if (!any) {
            text_blank(out);
            text_table_span(&t, TEXT_HEADING, "Geometric mean over the operations:");
        }
        any = true;
        TEXT_ITEM(&t, TEXT_PLAIN, "%s (%zu)", metrics[i].name, n);
        TEXT_CELLS(&t, metrics[i].text(before).s, metrics[i].text(after).s,
                   compare_words_percent(before, after).s);
    }
    text_table_put(&t);
}

static bool any_verdict(const struct compare *c, enum stats_verdict verdict)
{
    for (size_t k = 0; k < c->n_ops; k++)
        for (size_t i = 0; i < c->ops[k].n_metrics; i++)
            if (c->ops[k].metrics[i].verdict == verdict)
                return true;
    return false;
}

static void put_notes(struct text *out, const struct compare *c)
{
    text_blank(out);
    text_line(out, TEXT_FAINT, "%s", compare_words_notes(c).s);
    if (c->n_family > 0) {
        text_line(out, TEXT_FAINT, "%s", compare_words_ci);
        text_line(out, TEXT_FAINT, "%s", compare_words_p);
    }
    if (any_verdict(c, STATS_INCONCLUSIVE))
        text_line(out, TEXT_FAINT, "%s", compare_words_mde);
    if (c->single && c->noise == STATS_NOISE_UNKNOWN)
        text_line(out, TEXT_FAINT, "%s", compare_words_noise);
    if (any_verdict(c, STATS_DIFFERS))
        text_line(out, TEXT_FAINT, "%s", compare_words_break_even);
}

static void put_gate(struct text *out, const struct compare *c)
{
    if (!c->has_gate)
        return;
    text_blank(out);
    text_line(out,
              c->gate == EXIT_DONE     ? TEXT_HEADING
              : c->gate == EXIT_FAILED ? TEXT_ERROR
                                       : TEXT_WARNING,
              "%s", compare_words_gate(c).s);
    for (size_t k = 0; k < c->n_ops; k++) {
        size_t n = 0;
        for (size_t i = 0; i < c->ops[k].n_metrics; i++) {
            if (!c->ops[k].metrics[i].gated)
                continue;
            text_line(out, TEXT_PLAIN, " * %s %s", c->ops[k].op,
                      compare_words_gated(&c->ops[k].metrics[i]).s);
            n++;
        }
        if (n == 0)
            text_line(out, TEXT_FAINT, " * %s: nothing to judge", c->ops[k].op);
    }
}

bool compare_text(const struct compare *c, bool colour, FILE *f, struct err *e)
{
    struct text out = {.f = f, .colour = colour};
    put_head(&out, c);
    for (size_t k = 0; k < c->n_ops; k++)
        put_op(&out, c, &c->ops[k]);
    put_geomeans(&out, c);
    put_notes(&out, c);
    put_gate(&out, c);
    text_blank(&out);
    text_line(&out, compare_n_faulty(c) > 0 ? TEXT_WARNING : TEXT_HEADING, "%s",
              compare_words_answer(c, text_width(&out)).s);
    return out.failed ? mem_none(e) : true;
}
