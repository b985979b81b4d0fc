#include "analyze/render/page/pages.h"

#include "analyze/render/json/documents.h"
#include "analyze/render/page/html_internal.h"
#include "analyze/render/page/page.h"
#include "analyze/render/report/plan_sheet.h"
#include "analyze/write/html.h"

bool plan_html(const void *plan, const char *words, const char *command, FILE *f, struct err *e)
{
    const struct plan *p = plan;
    struct html_charts charts;
    struct sheet warnings = {0}, tables = {0};
    const struct phrase answer = plan_sentence(p);
    char title[64];

    (void)words;
    (void)command;
    bool ok = html_charts_init(&charts, e) && plot_add_plan(&charts.set, p, &charts.options, e);

    if (ok) {
        html_charts_draw(&charts);
        snprintf(title, sizeof title, "s3load repeat %s", plan_kind_names[p->asked.kind]);
        ok = html_page_begin(f, &charts, title, answer.s, e);
        html_page_main(f, "Repeated: ", p->asked.command);
        sheet_verdict(&tables, slo_code(p->answer), "%s", answer.s);
        fputs("<section id=\"first\">\n", f);
        ok = ok && html_page_sheet(&tables, f, "first", e);
        fputs("</section>\n", f);
        plan_sheet_tables(&tables, p);
        ok = ok && html_page_warnings(f, &charts, &warnings, e) &&
             html_page_charts(f, &charts, "runs", -1, "", e) &&
             html_page_sheet(&tables, f, "runs", e) && html_data(f, "plan", plan_json, p, NULL, e);
        html_page_end(f);
    }
    html_charts_fini(&charts);
    return ok;
}
