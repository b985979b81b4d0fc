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
     "lies within 5 % (p99: 10 %); inconclusive otherwise, with the smallest change that would be "
     "found in 80 % of cases (MDE)."},
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

static bool says_something(const struct compare_op *op)
{
    for (size_t i = 0; i < op->n_metrics; i++)
        if (op->metrics[i].cmp.ok)
            return true;
    return false;
}

/* Sets *order to the operations, the benchmark's and telling ones first. The caller frees it. */
static bool order_of(size_t **order, const struct compare *c, struct err *e)
{
    size_t n = 0;

    if (!mem_new(order, c->n_ops, e))
        return false;
    for (int rank = 0; rank < 4; rank++)
        for (size_t k = 0; k < c->n_ops; k++)
            if (2 * !role_is_benchmark(c->ops[k].role) + !says_something(&c->ops[k]) == rank)
                (*order)[n++] = k;
    return true;
}

/* ---- The summary ---- */

/* Writes the answer with an arrow for each "->", which no line break parts from its values. */
static void put_sentence(FILE *f, const struct compare *c)
{
    static const char plain[] = " -> ";
    const struct phrase answer = compare_words_answer(c);
    const char *sentence = answer.s;

    fputs("<p class=\"headline\">", f);
    for (const char *at; (at = strstr(sentence, plain)) != NULL; sentence = at + sizeof plain - 1)
        html_textf(f, "%.*s\u00a0\u2192\u00a0", (int)(at - sentence), sentence);
    html_within(f, "", sentence, "</p>\n");
}

/* Writes the answer, whether it can be relied on, what happened in the runs, the figures behind it,
 * what limits it, and what was compared. */
static bool put_first(FILE *f, const struct compare *c, const size_t *order,
                      const struct html_charts *charts, struct err *e)
{
    struct sheet s = {0};
    struct phrase why;
    enum exit_code verdict = compare_words_judge(c, &why);
    bool is_of_several = c->n_ops > 1 && compare_is_measured(c, &c->ops[order[1]]);

    fputs("<section id=\"first\" class=\"compared\">\n", f);
    if (!is_of_several)
        put_sentence(f, c);
    sheet_verdict(&s, verdict, "%s.", why.s);
    compare_sheet_cells(&s, c);
    bool ok = html_page_sheet(&s, f, "first", e);
    if (is_of_several) {
        html_fold(f, NULL, "In sentences");
        put_sentence(f, c);
        html_fold_end(f);
    }
    compare_sheet_faults(&s, c);
    compare_sheet_gate(&s, c);
    ok = html_page_sheet(&s, f, "facts", e) && ok;
    compare_sheet_limits(&s, c);
    ok = ok && html_page_warnings(f, charts, &s, e);
    compare_sheet_findings(&s, c, false);
    compare_sheet_runs(&s, c);
    html_fold(f, "runs", "What was compared");
    ok = ok && html_page_sheet(&s, f, "runs", e);
    html_fold_end(f);
    fputs("</section>\n", f);
    return ok;
}

/* ---- An operation ---- */

/* Writes the metrics and charts of operation k. The rest is folded away, and so are all
 * operations but the first. */
static bool put_op(FILE *f, const struct compare *c, size_t k, bool is_first,
                   const struct html_charts *charts, struct err *e)
{
    const char *beside = run_sheet_beside(c->ops[k].role);
    const char *fold = beside != NULL || is_first ? beside : "Operation";
    char section[24];
    struct sheet s = {0};

    snprintf(section, sizeof section, "op%zu", k);
    html_section(f, section, c->ops[k].name, fold);
    compare_sheet_metrics(&s, c, k);
    bool ok = html_page_sheet(&s, f, section, e) &&
              html_page_charts(f, charts, section, -1, c->ops[k].name, e);
    html_fold(f, NULL, "Methods and other figures");
    compare_sheet_op(&s, c, k);
    ok = ok && html_page_sheet(&s, f, section, e);
    html_fold_end(f);
    html_section_end(f, fold);
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

static void put_contents(FILE *f, const struct compare *c, const size_t *order)
{
    char id[24];

    html_page_contents(f);
    for (size_t k = 0; k < c->n_ops; k++) {
        snprintf(id, sizeof id, "op%zu", order[k]);
        html_page_link(f, id, c->ops[order[k]].name);
    }
    html_page_contents_end(f);
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

    charts.operands = "--before CAPTURE... --after CAPTURE...";
    if (ok && c->has_cells) {
        charts.options.charts = of_cells;
        charts.options.n_charts = 1;
    }
    ok = ok && plot_add_compare(&charts.set, c, traces, &charts.options, e) &&
         mem_format(&title, e, "%s against %s", c->after.name, c->before.name);

    if (ok) {
        html_charts_draw(&charts);
        ok = html_page_begin(f, &charts, title, compare_words_answer(c).s, e);
        html_element(f, "p", "%s against %zu; %s", units_counted((int64_t)c->after.n, "run").s,
                     c->before.n, units_counted((int64_t)c->n_ops, "operation").s);
        html_page_main(f, "Analysed with: ", words);
        put_contents(f, c, order);
        ok = ok && put_first(f, c, order, &charts, e);
        ok = ok && html_page_charts(f, &charts, "all", -1, "", e);
        for (size_t k = 0; ok && k < c->n_ops; k++)
            ok = put_op(f, c, order[k], k == 0, &charts, e);
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
