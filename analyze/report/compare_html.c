#include "analyze/report/compare.h"

#include "analyze/compare/words.h"
#include "analyze/report/headline.h"
#include "analyze/report/html_data.h"
#include "analyze/report/html_internal.h"
#include "analyze/report/page.h"
#include "analyze/write/html.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX   240 /* characters of the answer */
#define COUNT(names) (sizeof(names) / sizeof *(names))

static const struct html_definition definitions[] = {
    {"Change and 95% CI",
     "After against before, in percent (error rates: in points). HL, of several runs a side: the "
     "Hodges-Lehmann estimate, the median over all pairs of runs; GM, of few: the ratio of the "
     "geometric means; of single runs: the ratio, with the errors within both runs. Of intervals "
     "made so, 95 in 100 hold the true value."},
    {"p", "How often a difference as large or larger comes by chance if nothing has changed: "
          "adjusted by Holm over throughput (objects/s where there are no bytes or sizes differ), "
          "p50 and p99 of all operations; n is the number of runs. ~: no difference is shown. "
          "Figures with * are exploratory: their p is raw."},
    {"Verdict",
     "Faster or slower where p < 0.05; the same where the 90% interval lies within 5% (p99: "
     "10%); inconclusive otherwise, with the smallest change that would be found in 80% of cases "
     "(MDE)."},
    {"Run noise",
     "Runs of one configuration differ from each other by more than the noise within one of them. "
     "A single run a side cannot show by how much: without a history the verdict is then never "
     "more than \"differs\", with the run CV below which the change would be real."},
    {"Quantiles",
     "Of type 1: always an observed value, over the successful requests that end in the "
     "active range."},
    {"Fastest, median, slowest segment",
     "Slices of the active range sorted by throughput: of n, number "
     "round(n p), counted from 0 and at most n - 1; p is 1, 0.5, 0."},
};

static const char *verdict_class(const struct compare_metric *m)
{
    return m->verdict == STATS_WORSE ? "bad" : m->verdict == STATS_BETTER ? "good" : "";
}

static bool says_something(const struct compare_op *op)
{
    for (size_t i = 0; i < op->n_metrics; i++)
        if (op->metrics[i].cmp.ok)
            return true;
    return false;
}

/* order[], freed by the caller: operations with something to say come first. */
static bool order_of(size_t **order, const struct compare *c, struct err *e)
{
    size_t n = 0;

    if (!mem_new(order, c->n_ops, e))
        return false;
    for (int says = 1; says >= 0; says--)
        for (size_t k = 0; k < c->n_ops; k++)
            if (says_something(&c->ops[k]) == (says == 1))
                (*order)[n++] = k;
    return true;
}

/* ---- The summary ---- */

static void put_header(FILE *f, const struct compare *c, const char *words)
{
    fputs("<header>", f);
    html_element(f, "h1", "%s against %s", c->after.name, c->before.name);
    html_element(f, "p", "%s against %zu; %s", figures_counted((int64_t)c->after.n, "run").s,
                 c->before.n, figures_counted((int64_t)c->n_ops, "operation").s);
    if (*words != '\0')
        html_element(f, "p", "Analysed with: %s", words);
    fputs("</header>\n<main>\n", f);
}

/* Whether the answer can be relied on, in a sign and words. */
static void put_badge(FILE *f, const struct compare *c)
{
    if (compare_n_faulty(c) > 0)
        html_page_badge(f, HTML_PAGE_POOR, "%s.", compare_words_faulty(c).s);
    else if (compare_n_limits(c) > 0)
        html_page_badge(f, HTML_PAGE_POOR, "Mind that %s.", compare_words_limited);
    else if (c->single && c->noise == STATS_NOISE_UNKNOWN)
        html_page_badge(f, HTML_PAGE_POOR, "%s", compare_words_noise);
    else
        html_page_badge(f, HTML_PAGE_GOOD, "No run had a problem, and the runs are of one kind.");
}

static size_t n_findings(const struct compare *c, bool faults)
{
    size_t n = 0;

    for (size_t i = 0; i < compare_n_runs(c); i++) {
        const struct findings *all = &compare_nth_run(c, i)->findings;
        for (size_t k = 0; k < all->n; k++)
            n += run_is_fault(&all->v[k]) == faults;
    }
    return n;
}

/* What happened in the runs: faults, or the rest. */
static void put_findings(FILE *f, const struct compare *c, bool faults)
{
    fputs("<ul class=\"findings\">\n", f);
    for (size_t i = 0; i < compare_n_runs(c); i++) {
        const struct compare_side *s = compare_side_of(c, i);
        const struct run *r = compare_nth_run(c, i);

        for (size_t k = 0; k < r->findings.n; k++) {
            const struct finding *x = &r->findings.v[k];
            if (run_is_fault(x) != faults)
                continue;
            fprintf(f, "<li><strong>%s</strong>: ", headline_severity(x));
            html_textf(f, "%s%s%s: %s", s->name, s->n > 1 ? ", " : "",
                       s->n > 1 ? figures_file(r->path) : "", x->sentence);
            fputs("</li>\n", f);
        }
    }
    for (size_t k = 0; faults && k < c->n_ops; k++)
        if (compare_words_without_faults(&c->ops[k]).s[0] != '\0')
            html_element(f, "li", "%s", compare_words_without_faults(&c->ops[k]).s);
    fputs("</ul>\n", f);
}

/* The answer, whether it can be relied on, and what happened in the runs. */
static void put_first(FILE *f, const struct compare *c)
{
    size_t n_others = n_findings(c, false);

    fputs("<section id=\"first\">\n<p class=\"headline\">", f);
    html_text(f, compare_words_answer(c, ANSWER_MAX).s);
    fputs("</p>\n", f);
    put_badge(f, c);
    if (compare_n_faulty(c) > 0)
        put_findings(f, c, true);
    if (n_others > 0) {
        fprintf(f, "<details class=\"more\"><summary>%s of the runs</summary>\n",
                figures_counted((int64_t)n_others, "notice").s);
        put_findings(f, c, false);
        fputs("</details>\n", f);
    }
    fputs("</section>\n", f);
}

/* A card for each figure of the family. */
static void put_cards(FILE *f, const struct compare *c, const size_t *order)
{
    for (size_t k = 0; k < c->n_ops; k++) {
        const struct compare_op *op = &c->ops[order[k]];
        if (k > 0 && !says_something(op))
            continue;
        fputs("<div class=\"cards\">\n", f);
        for (size_t i = 0; i < op->n_metrics; i++) {
            const struct compare_metric *m = &op->metrics[i];
            if (!m->in_family || m->part->kind != RUN_ALL)
                continue;
            struct compare_words_row r = compare_words_row(m);
            fprintf(f, "<div class=\"card\"><span>");
            html_textf(f, "%s %s", op->op, r.metric);
            fprintf(f, "</span><b class=\"%s\">", verdict_class(m));
            html_text(f, r.change);
            fputs("</b>", f);
            html_element(f, "span", "%s", r.verdict.s);
            html_element(f, "span", "95%% CI %s", r.ci);
            html_element(f, "span", "%s to %s", r.before, r.after);
            fputs("</div>\n", f);
        }
        fputs("</div>\n", f);
    }
}

static void put_gate(FILE *f, const struct compare *c)
{
    if (!c->has_gate)
        return;
    html_element(f, "p", "%s", compare_words_gate(c).s);
    fputs("<ul>\n", f);
    for (size_t k = 0; k < c->n_ops; k++) {
        for (size_t i = 0; i < c->ops[k].n_metrics; i++) {
            const struct compare_metric *m = &c->ops[k].metrics[i];
            if (!m->gated)
                continue;
            html_element(f, "li", "%s %s", c->ops[k].op, compare_words_gated(m).s);
        }
    }
    fputs("</ul>\n", f);
}

static void put_warnings(FILE *f, const struct compare *c, const struct html_charts *charts)
{
    bool unknown = c->single && c->noise == STATS_NOISE_UNKNOWN;
    size_t n_limits = compare_n_limits(c);

    if (!html_page_warnings(f, charts, c->n_warnings > 0 || n_limits > 0 || unknown))
        return;
    if (unknown)
        html_element(f, "li", "%s", compare_words_noise);
    if (n_limits > 0)
        html_element(f, "li", "%s", compare_words_limited);
    for (size_t i = 0; i < c->n_warnings; i++)
        html_element(f, "li", "%s", c->warnings[i].message);
    html_page_warnings_end(f);
}

/* ---- An operation ---- */

static void put_settings(FILE *f, const struct compare_setting *v, size_t n)
{
    if (n == 0)
        return;
    fputs("<ul>\n", f);
    for (size_t i = 0; i < n; i++)
        html_element(f, "li", "%s: %s%s", compare_words_setting(v[i].kind),
                     compare_words_setting_change(&v[i]).s,
                     compare_is_limit(v[i].kind) ? " (limits the comparison)" : "");
    fputs("</ul>\n", f);
}

/* Whether one method gave all of them. */
static bool have_one_method(const struct compare_op *op)
{
    for (size_t i = 1; i < op->n_metrics; i++)
        if (strcmp(compare_words_assumption(&op->metrics[i]).s,
                   compare_words_assumption(&op->metrics[0]).s) != 0)
            return false;
    return op->n_metrics > 0;
}

static void put_metrics(FILE *f, const char *section, const struct compare *c,
                        const struct compare_op *op)
{
    char before[96], after[96];
    const struct run_part *part = NULL;
    bool one_method = have_one_method(op);

    snprintf(before, sizeof before, "%.60s (n=%zu)", c->before.name, op->n_before);
    snprintf(after, sizeof after, "%.60s (n=%zu)", c->after.name, op->n_after);
    const char *const names[] = {"",       before, after,     compare_words_change(op),
                                 "95% CI", "p",    "Verdict", "Method"};
    html_table(f, section, "Figures compared", names, one_method ? "lrrrrrl" : "lrrrrrll");
    for (size_t i = 0; i < op->n_metrics; i++) {
        const struct compare_metric *m = &op->metrics[i];
        struct compare_words_row r = compare_words_row(m);

        if (m->part != part && m->part->kind != RUN_ALL) {
            fprintf(f, "<tr><th colspan=\"%d\" class=\"l\">", one_method ? 7 : 8);
            html_text(f, compare_words_part(m->part).s);
            fputs("</th></tr>\n", f);
        }
        part = m->part;
        html_row(f);
        html_name(f, r.metric);
        HTML_CELLS(f, r.before, r.after, r.change, r.ci, r.p);
        fprintf(f, "<td class=\"l %s\">", verdict_class(m));
        html_text(f, r.verdict.s);
        fputs("</td>", f);
        if (!one_method)
            html_cell_wrapped(f, compare_words_assumption(m).s);
        html_row_end(f);
    }
    html_table_end(f);
    if (one_method)
        html_element(f, "p", "Method: %s.", compare_words_assumption(&op->metrics[0]).s);
}

static void figure_row(FILE *f, const char *what, const char *which,
                       struct units_text (*text)(double), double before, double after)
{
    if (isnan(before) && isnan(after))
        return;
    html_row(f);
    fputs("<th scope=\"row\" class=\"l\">", f);
    html_textf(f, "%s, %s", what, which);
    fputs("</th>", f);
    HTML_CELLS(f, isnan(before) ? "-" : text(before).s, isnan(after) ? "-" : text(after).s,
               compare_words_percent(before, after).s);
    html_row_end(f);
}

/* The figures of the report, medians over the runs. */
static void put_figures(FILE *f, const char *section, const struct compare *c,
                        const struct compare_op *op)
{
    static const char *const rates[RUN_N_RATES] = {"average", "fastest segment", "median segment",
                                                   "slowest segment"};
    static const char *const times[RUN_N_TIMES] = {"average", "50%", "90%", "99%", "best", "worst"};
    const char *const names[] = {"", c->before.name, c->after.name, "Change"};
    const struct run_figures *a = &op->before, *b = &op->after;

    html_table(f, section, "Figures of the runs' own reports", names, "lrrr");
    for (int i = 0; i < RUN_N_RATES; i++)
        if (compare_shows_rate(op, i))
            figure_row(f, "Throughput", rates[i], units_byte_rate, a->bytes_per_s[i],
                       b->bytes_per_s[i]);
    for (int i = 0; i < RUN_N_RATES; i++)
        if (compare_shows_rate(op, i))
            figure_row(f, "Objects", rates[i], units_object_rate, a->objects_per_s[i],
                       b->objects_per_s[i]);
    for (int i = 0; i < RUN_N_TIMES; i++)
        figure_row(f, "Duration", times[i], figures_ns, a->duration_ns[i], b->duration_ns[i]);
    for (int i = 0; i < RUN_N_TIMES; i++)
        figure_row(f, "TTFB", times[i], figures_ns, a->ttfb_ns[i], b->ttfb_ns[i]);
    html_table_end(f);
    html_element(
        f, "p",
        "Medians over the runs. Durations are those of successful requests, times to first "
        "byte those of successful requests that have one.");
}

static bool put_op(FILE *f, const struct compare *c, size_t k, const struct html_charts *charts,
                   struct err *e)
{
    const struct compare_op *op = &c->ops[k];
    char section[24];

    snprintf(section, sizeof section, "op%zu", k);
    fprintf(f, "<h2 id=\"%s\">", section);
    html_text(f, op->op);
    fputs("</h2>\n", f);
    put_settings(f, op->settings, op->n_settings);
    put_metrics(f, section, c, op);
    if (!html_page_charts(f, charts, section, -1, op->op, e))
        return false;
    put_figures(f, section, c, op);
    if (op->has_effect)
        html_element(f, "p", "%s", compare_words_effect(c, op).s);
    return true;
}

/* ---- The runs ---- */

static void put_runs(FILE *f, const struct compare *c)
{
    static const char *const names[] = {"Side", "Capture", "Requests", "First start, UTC",
                                        "Ran",  "SHA-256"};
    const struct compare_side *sides[] = {&c->before, &c->after};

    put_settings(f, c->settings, c->n_settings);
    fputs(c->n_options > 0 ? "<ul>\n" : "", f);
    for (size_t i = 0; i < c->n_options; i++)
        html_element(f, "li", "Option %s: %s -> %s%s", c->options[i].name, c->options[i].before,
                     c->options[i].after, c->options[i].is_limit ? " (limits the comparison)" : "");
    fputs(c->n_options > 0 ? "</ul>\n" : "", f);
    if (!isnan(c->run_cv_frac))
        html_element(f, "p", "Run CV, as given: %.3g%%.", 100 * c->run_cv_frac);
    if (c->n_history > 0)
        html_element(f, "p", "Run noise from %zu earlier runs.", c->n_history);
    html_table(f, "inputs", "Captures", names, "llrrrl");
    for (size_t s = 0; s < 2; s++) {
        for (size_t i = 0; i < sides[s]->n; i++) {
            const struct run *r = &sides[s]->runs[i];
            bool has_rows = r->start_ns <= r->end_ns;

            html_row(f);
            html_cell_text(f, sides[s]->name);
            html_name(f, r->path);
            HTML_CELLS(f, units_count(r->n_rows).s, has_rows ? figures_moment(r->start_ns).s : "-",
                       has_rows ? units_duration(r->end_ns - r->start_ns).s : "-");
            html_cell_wrapped(f, r->sha256.s[0] != '\0' ? r->sha256.s : "- (cannot be read twice)");
            html_row_end(f);
        }
    }
    html_table_end(f);
}

/* ---- The page ---- */

static bool write_data(const void *ctx, FILE *f, struct err *e)
{
    return compare_json(ctx, f, e);
}

static void put_link(FILE *f, const char *id, const char *title)
{
    fprintf(f, "<li><a href=\"#%s\">", id);
    html_text(f, title);
    fputs("</a></li>\n", f);
}

static void put_contents(FILE *f, const struct compare *c, const size_t *order)
{
    char id[24];

    fputs("<nav aria-label=\"Contents\"><ul>\n", f);
    put_link(f, "summary", "Summary");
    for (size_t k = 0; k < c->n_ops; k++) {
        snprintf(id, sizeof id, "op%zu", order[k]);
        put_link(f, id, c->ops[order[k]].op);
    }
    put_link(f, "inputs", "Inputs and parameters");
    put_link(f, "definitions", "Definitions");
    fputs("</ul></nav>\n", f);
}

bool compare_html(const struct compare *c, const struct plot_traces *traces, const char *words,
                  const char *command, FILE *f, struct err *e)
{
    struct html_charts charts;
    char *title = NULL;
    size_t *order = NULL;
    bool ok = html_charts_init(&charts, e) && order_of(&order, c, e) &&
              plot_add_compare(&charts.set, c, traces, &charts.options, e) &&
              mem_format(&title, e, "%s against %s", c->after.name, c->before.name);

    if (ok) {
        html_charts_draw(&charts);
        ok = html_page_begin(f, &charts, title, compare_words_answer(c, ANSWER_MAX).s, e);
        put_header(f, c, words);
        put_first(f, c);
        fputs("<section id=\"summary\">", f);
        put_cards(f, c, order);
        put_gate(f, c);
        fputs("</section>\n", f);
        put_warnings(f, c, &charts);
        put_contents(f, c, order);
        ok = ok && html_page_charts(f, &charts, "all", -1, "", e);
        for (size_t k = 0; ok && k < c->n_ops; k++)
            ok = put_op(f, c, order[k], &charts, e);
        html_page_inputs(f, command);
        put_runs(f, c);
        html_page_fold_end(f);
        html_page_definitions(f, definitions, COUNT(definitions));
        ok = ok && html_data(f, title, write_data, c, NULL, e);
        html_page_end(f);
    }
    free(title);
    free(order);
    html_charts_fini(&charts);
    return ok;
}
