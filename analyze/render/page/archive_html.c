#include "analyze/render/page/pages.h"

#include "analyze/render/json/documents.h"
#include "analyze/render/page/html_internal.h"
#include "analyze/render/page/page.h"
#include "analyze/write/html.h"
#include "libcommon/units.h"

static const struct html_definition table_definitions[] = {
    {"+- after a figure",
     "The farther end of its 95 % confidence interval, which is that of one run: how much its "
     "requests scatter. Runs differ from each other by more."},
    {"Throughput, percentiles",
     "Those of the runs' own reports, of the successful requests in the active range. Percentiles "
     "of runs at a fixed rate are of response times, from the intended start."},
    {0},
};

bool archive_table_html(const void *table, const char *words, const char *command, FILE *f,
                        struct err *e)
{
    const struct columns_table *t = table;
    struct html_charts none = {0};
    struct units_text title = units_counted((int64_t)t->archive->n, "run");
    struct sheet s = {0};

    if (!html_page_begin(f, &none, title.s, title.s, e))
        return false;
    html_page_main(f, "Analysed with: ", words);
    archive_sheet_table(&s, t);
    fputs("<div class=\"broad\">\n<label><input type=\"checkbox\"> All columns</label>\n", f);
    bool ok = html_page_sheet(&s, f, "runs", e);
    fputs("</div>\n", f);
    html_page_inputs(f, command);
    html_fold_end(f);
    html_page_definitions(f, table_definitions);
    ok = ok && html_data(f, "table", archive_table_json, t, NULL, e);
    html_page_end(f);
    return ok;
}

/* ---- Trends ---- */

#define MAX_DRAWN 12 /* groups with charts: folders have odd single runs, too */

static const struct html_definition trend_definitions[] = {
    {"Group", "Runs of equal settings: those that cmp compares."},
    {"Level", "Mean between two changes, of logarithms, without outliers."},
    {"p", "How often the same runs in random order show a change as strong, of whatever metric and "
          "at whatever run. Changes with p above 0.042 are not reported."},
    {0},
};

/* Writes the answer. False: out of memory. */
static bool put_answer(FILE *f, const struct trend *t, struct err *e)
{
    struct sheet s = {0};

    html_within(f, "<section id=\"first\">\n<p class=\"headline\">", trend_sums_up(&t->groups[0]).s,
                "</p>\n");
    sheet_verdict(&s, t->last, "%s", trend_answers(t).s);
    bool ok = html_page_sheet(&s, f, "first", e);
    fputs("</section>\n", f);
    return ok;
}

static bool put_groups(FILE *f, const struct trend *t, const struct html_charts *charts,
                       struct err *e)
{
    bool ok = true;

    for (size_t k = 0; ok && k < t->n; k++) {
        const struct trend_group *g = &t->groups[k];
        struct sheet s = {0};
        char id[32], name[32];

        snprintf(id, sizeof id, "group%zu", k);
        fprintf(f, "<h2 id=\"%s\"", id);
        html_within(f, ">", trend_names(g).s, "</h2>\n");
        trend_sheet_changes(&s, g);
        snprintf(name, sizeof name, "Group %zu", k + 1);
        ok = html_page_sheet(&s, f, id, e) && html_page_charts(f, charts, id, -1, name, e);
        trend_sheet_runs(&s, g);
        html_fold(f, NULL, "Runs");
        ok = ok && html_page_sheet(&s, f, id, e);
        html_fold_end(f);
    }
    return ok;
}

bool trend_html(const void *trend, const char *words, const char *command, FILE *f, struct err *e)
{
    const struct trend *t = trend;
    struct html_charts charts;
    struct sheet s = {0};
    bool ok = html_charts_init(&charts, e);

    for (size_t k = 0; ok && k < t->n && k < MAX_DRAWN; k++) {
        char id[32];

        snprintf(id, sizeof id, "Group %zu", k + 1);
        ok = t->groups[k].n < TREND_LEAST_RUNS ||
             plot_add_trend(&charts.set, &t->groups[k], id, &charts.options, e);
    }
    if (ok) {
        html_charts_draw(&charts);
        ok = html_page_begin(f, &charts, units_counted((int64_t)t->archive->n, "run").s,
                             trend_sums_up(&t->groups[0]).s, e);
        html_page_main(f, "Analysed with: ", words);
        ok = ok && put_answer(f, t, e);
        archive_sheet_unread(&s, t->archive);
        ok = ok && html_page_warnings(f, &charts, &s, e) && put_groups(f, t, &charts, e);
        html_page_inputs(f, command);
        html_fold_end(f);
        html_page_definitions(f, trend_definitions);
        ok = ok && html_data(f, "trend", trend_json, t, NULL, e);
        html_page_end(f);
    }
    html_charts_fini(&charts);
    return ok;
}
