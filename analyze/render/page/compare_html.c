#include "analyze/render/page/pages.h"

#include "analyze/render/json/documents.h"
#include "analyze/render/page/html_internal.h"
#include "analyze/render/page/page.h"
#include "analyze/render/report/compare.h"
#include "analyze/render/report/figures.h"
#include "analyze/render/report/run.h"
#include "analyze/tools/compare/words.h"
#include "analyze/write/html.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct html_definition definitions[] = {
    {"Change and 95 % CI",
     "After against before, in percent (error rates: in points), of the values shown: of several "
     "runs a side their medians. At least 95 of 100 such intervals hold the true value: they are "
     "adjusted like p, and widened to the change shown."},
    {"p", "How often a difference as large or larger comes by chance if nothing has changed: "
          "adjusted by Holm over throughput (objects/s where there are no bytes or sizes differ), "
          "p50 and p99 of all operations; n is the number of runs. ~: no difference is shown. "
          "Figures with * are exploratory: their p is raw."},
    {"Verdict",
     "Faster or slower where the 95 % interval leaves zero out; the same where the 90 % interval "
     "lies within 5 % (p99: "
     "10 %); inconclusive otherwise, with the smallest change that would be found in 80 % of cases "
     "(MDE)."},
    {"Run noise",
     "Runs of one configuration differ from each other by more than the noise within one of them. "
     "A single run a side cannot show by how much: without a history the verdict is then never "
     "more than \"differs\", with the run CV below which the change would be real."},
    {"Quantiles",
     "Those of the runs' own reports: of n values, number round(n p), counted from 0 and at most "
     "n - 1, over the successful requests that lie wholly in the active range."},
    {"Fastest, median, slowest segment",
     "Slices of the active range sorted by throughput: of n, number "
     "round(n p), counted from 0 and at most n - 1; p is 1, 0.5, 0."},
    {0},
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

/* Sets *order to the operations, those with something to say first. The caller frees it. */
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

/* Writes whether the answer can be relied on, in a sign and words. */
static void put_badge(FILE *f, const struct compare *c)
{
    if (compare_n_faulty(c) > 0)
        html_page_badge(f, HTML_PAGE_POOR, "%s.", compare_words_faulty(c).s);
    else if (compare_n_limits(c) > 0)
        html_page_badge(f, HTML_PAGE_POOR, "Mind that settings of the runs differ (below).");
    else if (c->single && c->noise == STATS_NOISE_UNKNOWN)
        html_page_badge(f, HTML_PAGE_POOR, "%s", compare_words_noise);
    else
        html_page_badge(f, HTML_PAGE_GOOD, "No run had a problem, and the runs are of one kind.");
}

/* Writes a sentence with an arrow for each "->", which no line break parts from its values. */
static void put_arrows(FILE *f, const char *sentence)
{
    static const char plain[] = " -> ";

    for (const char *at; (at = strstr(sentence, plain)) != NULL;) {
        html_textf(f, "%.*s\u00a0\u2192\u00a0", (int)(at - sentence), sentence);
        sentence = at + sizeof plain - 1;
    }
    html_text(f, sentence);
}

/* Writes both sides, the interval of the change if there is one, and what limits the answer. */
static void put_figures(FILE *f, const struct compare_metric *m, const struct compare_words_row *r)
{
    html_element(f, "span", "%s\u00a0\u2192 %s", r->before, r->after);
    if (compare_words_interval(m).s[0] != '\0')
        html_element(f, "span", "%s %s", compare_words_interval(m).s,
                     m->cmp.is_difference ? "points" : "%");
    html_element(f, "span", "%s",
                 compare_words_unseen(m).s[0] != '\0' ? compare_words_unseen(m).s : r->verdict.s);
}

/* Writes a card for each figure of the family. */
static void put_cards(FILE *f, const struct compare *c, const size_t *order)
{
    for (size_t k = 0; k < c->n_ops; k++) {
        const struct compare_op *op = &c->ops[order[k]];
        if ((k > 0 && !says_something(op)) || !compare_is_measured(c, op))
            continue;
        fputs("<div class=\"cards\">\n", f);
        for (size_t i = 0; i < op->n_metrics; i++) {
            const struct compare_metric *m = &op->metrics[i];
            if (!m->in_family || m->part->kind != RUN_ALL)
                continue;
            struct compare_words_row r = compare_words_row(m);
            fprintf(f, "<div class=\"card\"><span>");
            html_textf(f, "%s %s", op->name,
                       metrics[m->metric].kind == METRIC_QUANTILE ? metrics[m->metric].name
                                                                  : r.metric);
            fprintf(f, "</span><b class=\"%s\"", verdict_class(m));
            html_within(f, ">", compare_words_short(m).s, "</b>");
            put_figures(f, m, &r);
            fputs("</div>\n", f);
        }
        fputs("</div>\n", f);
    }
}

/* Writes the answer, whether it can be relied on, what happened in the runs, the figures behind it,
 * what limits it, and what was compared. */
static bool put_first(FILE *f, const struct compare *c, const size_t *order,
                      const struct html_charts *charts, struct err *e)
{
    struct sheet s = {0};

    fputs("<section id=\"first\" class=\"compared\">\n<p class=\"headline\">", f);
    put_arrows(f, compare_words_answer(c).s);
    fputs("</p>\n", f);
    put_badge(f, c);
    compare_sheet_faults(&s, c);
    compare_sheet_gate(&s, c);
    if (c->has_cells)
        compare_sheet_cells(&s, c);
    bool ok = html_page_sheet(&s, f, "first", e);
    if (!c->has_cells)
        put_cards(f, c, order);
    compare_sheet_limits(&s, c);
    ok = ok && html_page_warnings(f, charts, &s, e);
    compare_sheet_notices(&s, c);
    compare_sheet_runs(&s, c);
    html_fold(f, "runs", "What was compared");
    ok = ok && html_page_sheet(&s, f, "runs", e);
    html_fold_end(f);
    fputs("</section>\n", f);
    return ok;
}

/* ---- An operation ---- */

/* Writes the metrics and charts of operation k. The rest is folded away, and so is an operation
 * beside the benchmark. */
static bool put_op(FILE *f, const struct compare *c, size_t k, const struct html_charts *charts,
                   struct err *e)
{
    const char *beside = run_sheet_beside(c->ops[k].role);
    char section[24];
    struct sheet s = {0};

    snprintf(section, sizeof section, "op%zu", k);
    html_section(f, section, c->ops[k].name, beside);
    compare_sheet_metrics(&s, c, k);
    bool ok = html_page_sheet(&s, f, section, e) &&
              html_page_charts(f, charts, section, -1, c->ops[k].name, e);
    html_fold(f, NULL, "Methods and other figures");
    compare_sheet_op(&s, c, k);
    ok = ok && html_page_sheet(&s, f, section, e);
    html_fold_end(f);
    html_section_end(f, beside);
    return ok;
}

/* ---- The runs ---- */

static void runs_sheet(struct sheet *s, const struct compare *c)
{
    sheet_table(s, "lwrrrw", "Captures");
    SHEET_HEADINGS(s, "Side", "Capture", "Requests", "First start, UTC", "Ran", "SHA-256");
    for (size_t i = 0; i < compare_n_runs(c); i++) {
        const struct run *r = compare_nth_run(c, i);
        bool has_rows = r->start_ns <= r->end_ns;

        SHEET_ROW(s, TEXT_PLAIN, compare_side_of(c, i)->name, r->path, units_count(r->n_rows).s,
                  has_rows ? figures_moment(r->start_ns).s : "-",
                  has_rows ? units_duration(r->end_ns - r->start_ns).s : "-",
                  r->sha256.s[0] != '\0' ? r->sha256.s : "- (cannot be read twice)");
    }
}

/* ---- The page ---- */

static void put_link(FILE *f, const char *id, const char *title)
{
    fprintf(f, "<li><a href=\"#%s\"", id);
    html_within(f, ">", title, "</a></li>\n");
}

static void put_contents(FILE *f, const struct compare *c, const size_t *order)
{
    char id[24];

    fputs("<nav aria-label=\"Contents\"><ul>\n", f);
    put_link(f, "first", "Summary");
    for (size_t k = 0; k < c->n_ops; k++) {
        snprintf(id, sizeof id, "op%zu", order[k]);
        put_link(f, id, c->ops[order[k]].name);
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
    struct sheet s = {0};
    static const char *const of_cells[] = {"compare-change"};
    bool ok = html_charts_init(&charts, e) && order_of(&order, c, e);

    if (ok && c->has_cells) {
        charts.options.charts = of_cells;
        charts.options.n_charts = 1;
    }
    ok = ok && plot_add_compare(&charts.set, c, traces, &charts.options, e) &&
         mem_format(&title, e, "%s against %s", c->after.name, c->before.name);

    if (ok) {
        html_charts_draw(&charts);
        ok = html_page_begin(f, &charts, title, compare_words_answer(c).s, e);
        html_page_header(f, title);
        html_element(f, "p", "%s against %zu; %s", units_counted((int64_t)c->after.n, "run").s,
                     c->before.n, units_counted((int64_t)c->n_ops, "operation").s);
        html_page_main(f, "Analysed with: ", words);
        ok = ok && put_first(f, c, order, &charts, e);
        put_contents(f, c, order);
        ok = ok && html_page_charts(f, &charts, "all", -1, "", e);
        for (size_t k = 0; ok && k < c->n_ops; k++)
            ok = put_op(f, c, order[k], &charts, e);
        compare_sheet_means(&s, c);
        compare_sheet_notes(&s, c);
        ok = ok && html_page_sheet(&s, f, "all", e);
        html_page_inputs(f, command);
        runs_sheet(&s, c);
        ok = ok && html_page_sheet(&s, f, "inputs", e);
        html_fold_end(f);
        html_page_definitions(f, definitions);
        ok = ok && html_data(f, title, compare_json, c, NULL, e);
        html_page_end(f);
    }
    free(title);
    free(order);
    html_charts_fini(&charts);
    return ok;
}
