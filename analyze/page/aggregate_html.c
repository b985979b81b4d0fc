#include "analyze/report/aggregate.h"
#include "analyze/page/pages.h"

#include "analyze/plot/aggregate.h"
#include "analyze/report/aggregate_sheet.h"
#include "analyze/report/figures.h"
#include "analyze/report/headline.h"
#include "analyze/page/html_internal.h"
#include "analyze/page/page.h"
#include "analyze/write/html.h"

#include <math.h>
#include <string.h>

static const struct html_definition definitions[] = {
    {"Aggregated capture", "The recorder kept sums, throughput by second and figures of groups of "
                           "10 s, not the requests. What cannot be "
                           "known from these is left out."},
    {"By second", "Whole clock seconds without the first two and the last two. A request's bytes "
                  "and objects are spread "
                  "evenly over its time; failed requests are among them."},
    {"Throughput", "Bytes and objects of all requests from the first start to the last end; not "
                   "given where some failed, since the file counts their bytes as delivered."},
    {"Percentiles",
     "Those of a group of 10 s hold for these 10 s alone. The mean of such percentiles, which the "
     "recorder prints, is none."},
};

static void put_header(FILE *f, const struct aggregate *a, const char *title)
{
    const struct aggfile_entry *x = a->total.x;

    fputs("<header>", f);
    html_element(f, "h1", "%s", title);
    html_element(f, "p", "Aggregated capture: %s%s",
                 figures_run(x->n_requests, x->start_ns, a->total.duration_ns).s,
                 a->overlaps ? ", operations mixed" : "");
    fputs("</header>\n<main>\n", f);
}

/* ---- The first screen ---- */

struct page {
    const struct aggregate *a;
    const struct html_course *course;
    const struct html_charts *charts;
    const struct findings *found;
};

static bool put_first(FILE *f, const struct page *page, struct err *e)
{
    const struct run_sheet_page marks = {html_course_name, html_course_spark, page->course, true};
    struct sheet s = {0};
    const struct aggregate *a = page->a;
    const struct html_course *c = page->course;
    const struct aggregate_part *part = c->main < 0 ? &a->total : &a->ops.v[c->main];
    char note[256];
    bool has_latency = false;

    for (size_t i = 0; c->main >= 0 && i < c->all.n; i++)
        has_latency |= !isnan(c->all.rows[i].p50_ns);
    snprintf(note, sizeof note,
             "By whole seconds, failed requests included; the first and last "
             "two are not in the file.%s ",
             has_latency ? " Percentiles: each of 10 s alone." : "");
    aggregate_sheet_summary(&s, a, c->main, &marks);
    aggregate_sheet_common(&s, a);
    aggregate_sheet_warnings(&s, a, NULL);
    const struct headline headline = headline_aggregate(a, c->main);
    return html_first(f,
                      &(struct html_first){.headline = headline.s,
                                           .doubt = "",
                                           .n = part->x->n_requests,
                                           .n_ok = part->x->n_requests - part->x->n_errors,
                                           .findings = page->found,
                                           .course = c,
                                           .note = note,
                                           .summary = &s},
                      e);
}

/* ---- The operations ---- */

static bool put_section(const void *ctx, FILE *f, const char *section, size_t k, struct err *e)
{
    const struct page *page = ctx;
    const struct aggregate_part *part = &page->a->ops.v[k];

    if (!html_page_charts(f, page->charts, section, (int)k + 1, part->x->name, e))
        return false;
    struct sheet s = {0};
    aggregate_sheet_operation(&s, page->a, k);
    return html_page_sheet(&s, f, section, e);
}

static bool write_data(const void *ctx, FILE *f, struct err *e)
{
    const struct page *page = ctx;
    return aggregate_json(page->a, page->found, f, e);
}

bool aggregate_html(const struct aggregate *a, const struct findings *found,
                    const struct report_html_options *o, FILE *f, struct err *e)
{
    struct html_charts charts = {0};
    struct html_course course = {0};
    struct sheet s = {0};
    const struct page page = {a, &course, &charts, found};
    const char *title =
        o->label != NULL && *o->label != '\0' ? o->label : figures_file(a->file.path);
    bool ok = html_course_init_aggregate(&course, a, e) && html_charts_init(&charts, e) &&
              plot_add_aggregate(&charts.set, a, &charts.options, e);

    if (ok) {
        html_charts_draw(&charts);
        ok = html_page_begin(f, &charts, title, headline_aggregate(a, course.main).s, e);
        put_header(f, a, title);
        ok = ok && put_first(f, &page, e);
        ok = ok && html_page_warnings(f, &charts, &s, e);
        ok = ok && html_page_charts(f, &charts, "all", -1, "", e) &&
             html_course_sections(f, &course, put_section, &page, e);
        html_page_inputs(f, o->command);
        html_element(f, "p", "The file: %s", a->file.path);
        html_element(f, "p", "Recorded by: %s", a->file.command);
        html_fold_end(f);
        html_page_definitions(f, definitions, sizeof definitions / sizeof *definitions);
        ok = ok && html_data(f, title, write_data, &page, &course, e);
        html_page_end(f);
    }
    html_charts_fini(&charts);
    html_course_fini(&course);
    return ok;
}
