#include "analyze/report/aggregate.h"

#include "analyze/plot/aggregate.h"
#include "analyze/report/figures.h"
#include "analyze/report/headline.h"
#include "analyze/report/html_data.h"
#include "analyze/report/html_internal.h"
#include "analyze/report/html_timeline.h"
#include "analyze/report/page.h"
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

/* Where the recorder's figures were put right, or cannot be. */
static void put_notes(FILE *f, const struct aggregate *a)
{
    if (a->n_warnings == 0)
        return;
    html_page_fold(f, "notes", "What the file gets wrong or lacks");
    fputs("<ul>\n", f);
    for (size_t i = 0; i < a->n_warnings; i++) {
        const struct aggregate_warning *w = &a->warnings[i];
        html_element(f, "li", "%s%s%s", w->op != NULL ? w->op : "", w->op != NULL ? ": " : "",
                     w->message);
    }
    fputs("</ul>\n", f);
    html_page_fold_end(f);
}

/* ---- The first screen ---- */

struct page {
    const struct aggregate *a;
    const struct html_course *course;
    const struct html_charts *charts;
    const struct findings *found;
};

/* The table of its operation that shows a finding. */
static void put_place(FILE *f, const struct finding *x, const void *ctx)
{
    const struct page *page = ctx;
    const struct aggregate_parts *ops = &page->a->ops;
    size_t k = page->course->main >= 0 ? (size_t)page->course->main : 0;

    for (size_t i = 0; x->op != NULL && i < ops->n; i++)
        k = strcmp(ops->v[i].x->name, x->op) == 0 ? i : k;
    if (ops->n == 0)
        return;
    if (strcmp(x->kind, "uneven-hosts") == 0 && ops->v[k].x->n_hosts > 1)
        fprintf(f, " <a href=\"#op%zu-hosts\">hosts</a>", k);
    else if (strcmp(x->kind, "errors") == 0 && ops->v[k].x->n_first_errors > 0)
        fprintf(f, " <a href=\"#op%zu-first-errors\">errors</a>", k);
    else
        fprintf(f, " <a href=\"#op%zu\">figures</a>", k);
}

static void put_operation(FILE *f, const char *name, const char *section,
                          const struct aggregate_part *part, const struct plot_timeline *course,
                          bool is_before, double slowest_ms)
{
    const struct aggfile_entry *x = part->x;
    bool rated = x->n_errors == 0 && part->duration_ns > 0 && !part->is_preparation;

    html_row(f);
    fputs("<th scope=\"row\" class=\"l\">", f);
    if (*section != '\0')
        fprintf(f, "<a href=\"#%s\">", section);
    html_text(f, name);
    fputs(*section != '\0' ? "</a>" : "", f);
    fputs(is_before ? " <small>before the benchmark</small>" : "", f);
    fputs("</th><td class=\"l\">", f);
    if (course != NULL)
        html_timeline_spark(f, course);
    fputs("</td>", f);
    html_cell(f, "%s", units_count(x->n_requests).s);
    fputs(x->n_errors > 0 ? "<td class=\"bad\">" : "<td>", f);
    html_textf(f, "%s", units_count(x->n_errors).s);
    fputs("</td>", f);
    HTML_CELLS(f, units_size((double)x->n_bytes).s, units_count(x->n_objects).s,
               rated && x->n_bytes > 0 ? units_byte_rate(aggregate_bytes_per_s(part)).s : "-",
               rated ? units_rate(aggregate_objects_per_s(part)).s : "-",
               isnan(part->latency.mean_ms) || course == NULL ? "-"
                                                              : figures_ms(part->latency.mean_ms).s,
               figures_ms(slowest_ms).s);
    html_row_end(f);
}

/* The i-th to be shown: the benchmark, then what prepared it by name. */
static size_t nth_operation(const struct page *page, size_t i)
{
    size_t main = page->course->main >= 0 ? (size_t)page->course->main : 0;

    return i == 0 ? main : i <= main ? i - 1 : i;
}

static void put_operations(FILE *f, const struct page *page)
{
    static const char *const columns[] = {"Operation", "Course",  "Requests",   "Failed",
                                          "Bytes",     "Objects", "Throughput", "obj/s",
                                          "Mean",      "Slowest"};
    const struct aggregate *a = page->a;
    char section[24];

    html_table(f, "first", "Operations", columns, "llrrrrrrrr");
    for (size_t i = 0; i < a->ops.n; i++) {
        size_t k = nth_operation(page, i);
        snprintf(section, sizeof section, "op%zu", k);
        put_operation(f, a->ops.v[k].x->name, section, &a->ops.v[k], &page->course->ops[k],
                      html_course_prepares(page->course, k),
                      a->ops.v[k].latency.kind == AGGREGATE_SINGLE ? a->ops.v[k].latency.max_ms
                                                                   : NAN);
    }
    if (a->overlaps)
        put_operation(f, "All together", "", &a->total, NULL, false, NAN);
    html_table_end(f);
}

static void put_first(FILE *f, const struct page *page)
{
    const struct aggregate *a = page->a;
    const struct html_course *c = page->course;
    const struct aggregate_part *part = c->main < 0 ? &a->total : &a->ops.v[c->main];
    char note[256];
    bool has_latency = false;

    for (size_t i = 0; c->main >= 0 && i < c->all.n; i++)
        has_latency |= !isnan(c->all.rows[i].p50_ms);
    snprintf(note, sizeof note,
             "By whole seconds, failed requests included; the first and last "
             "two are not in the file.%s ",
             has_latency ? " Percentiles: each of 10 s alone." : "");
    fputs("<section id=\"first\">\n<p class=\"headline\">", f);
    html_text(f, headline_aggregate(a, c->main).s);
    fputs("</p>\n", f);
    html_trust(f, part->x->n_requests, part->x->n_requests - part->x->n_errors, page->found);
    html_findings(f, &(struct html_findings){page->found, &c->all, put_place, page});
    html_timeline(f, &(struct html_timeline){&c->all, c->ops, c->n_ops, page->found, note});
    put_operations(f, page);
    fputs("</section>\n", f);
}

/* ---- The operations ---- */

static void put_second(FILE *f, const char *name, const struct aggregate_part *part,
                       double bytes_per_s, double objects_per_s, int64_t ns)
{
    HTML_ROW(f, name, part->x->n_bytes > 0 ? units_byte_rate(bytes_per_s).s : "-",
             units_object_rate(objects_per_s).s, figures_clock(ns).s);
}

static void put_window(FILE *f, const char *section, const struct aggregate_part *part)
{
    static const char *const columns[] = {"", "Throughput", "Objects", "At (UTC)"};
    static const char *const names[] = {"Fastest", "Median", "Slowest"};
    const struct aggregate_window *w = &part->window;
    const size_t picks[] = {w->fastest, w->median, w->slowest};

    if (!w->present)
        return;
    html_table(f, section, "By second", columns, "lrrr");
    put_second(f, "Average", part, w->mean_bytes_per_s, w->mean_objects_per_s,
               aggregate_second_ns(part, 0));
    for (size_t i = 0; i < 3; i++) {
        const struct aggfile_second *s = &part->x->seconds[picks[i]];
        if (i == 1 && part->x->n_seconds < ANALYSIS_MIN_MEDIAN)
            continue;
        put_second(f, names[i], part, s->bytes_per_s, s->objects_per_s,
                   aggregate_second_ns(part, picks[i]));
    }
    html_table_end(f);
}

static void put_groups(FILE *f, const char *section, const struct aggregate_part *part)
{
    static const char *const columns[] = {"10 s from (UTC)", "Client",    "Requests", "Mean",
                                          "50% of it",       "90% of it", "99% of it"};
    html_table(f, section, "Groups of 10 s, each for itself", columns, "llrrrrr");
    for (size_t i = 0; i < part->x->n_groups; i++) {
        const struct aggfile_group *g = &part->x->groups[i];
        html_row(f);
        html_name(f, g->start_ns != AGGFILE_NO_TIME ? figures_clock(g->start_ns).s : "");
        html_cell_text(f, intern_shown(part->x->group_clients[g->client]));
        HTML_CELLS(f, units_count(g->n_requests).s, figures_ms(g->mean_ms).s,
                   figures_ms(g->p50_ms).s, g->n_requests >= 10 ? figures_ms(g->p90_ms).s : "",
                   g->n_requests >= 100 ? figures_ms(g->p99_ms).s : "");
        html_row_end(f);
    }
    html_table_end(f);
}

static void put_latency(FILE *f, const char *section, const struct aggregate_part *part)
{
    const struct aggregate_latency *l = &part->latency;
    if (l->kind == AGGREGATE_NO_GROUPS)
        return;
    if (l->kind == AGGREGATE_SINGLE)
        html_element(f, "p", "Durations%s: mean %s, standard deviation %s, fastest %s, slowest %s.",
                     part->x->n_errors > 0 ? " of all requests, failed ones included" : "",
                     figures_ms(l->mean_ms).s, figures_ms(l->stddev_ms).s, figures_ms(l->min_ms).s,
                     figures_ms(l->max_ms).s);
    else if (!isnan(l->mean_ms))
        html_element(f, "p", "Durations: mean %s.", figures_ms(l->mean_ms).s);
    if (!l->is_one_group)
        html_element(f, "p", "Percentiles of the run: %s.", AGGREGATE_NO_PERCENTILES);
    if (l->kind == AGGREGATE_SINGLE && l->n_groups <= 1000)
        put_groups(f, section, part);
}

static void put_parties(FILE *f, const char *section, const char *caption, const char *name,
                        const struct aggregate_part *part, const struct aggfile_party *v, size_t n)
{
    const char *const columns[] = {name, "Requests", "Errors", "Average", "obj/s"};
    double seconds = (double)part->duration_ns / 1e9;

    if (n < 2 || seconds <= 0)
        return;
    fprintf(f, "<details><summary>%s</summary>\n",
            figures_counted((int64_t)n, *name == 'H' ? "host" : "client").s);
    html_table(f, section, caption, columns, "lrrrr");
    for (size_t i = 0; i < n && i < 1000; i++) {
        HTML_ROW(f, intern_shown(v[i].name), units_count(v[i].n_requests).s,
                 units_count(v[i].n_errors).s, units_byte_rate((double)v[i].n_bytes / seconds).s,
                 units_rate((double)v[i].n_objects / seconds).s);
    }
    html_table_end(f);
    html_page_fold_end(f);
}

static void put_errors(FILE *f, const char *section, const struct aggfile_entry *x)
{
    static const char *const columns[] = {"Message"};
    if (x->n_first_errors == 0)
        return;
    html_table(f, section, "First errors", columns, "l");
    for (size_t i = 0; i < x->n_first_errors; i++) {
        html_row(f);
        html_cell_wrapped(f, x->first_errors[i]);
        html_row_end(f);
    }
    html_table_end(f);
}

static bool put_section(const void *ctx, FILE *f, const char *section, size_t k, struct err *e)
{
    const struct page *page = ctx;
    const struct aggregate_part *part = &page->a->ops.v[k];

    if (!html_page_charts(f, page->charts, section, (int)k + 1, part->x->name, e))
        return false;
    put_window(f, section, part);
    put_latency(f, section, part);
    put_parties(f, section, "Hosts", "Host", part, part->x->hosts, part->x->n_hosts);
    put_parties(f, section, "Clients", "Client", part, part->x->clients, part->x->n_clients);
    put_errors(f, section, part->x);
    return true;
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
    const struct page page = {a, &course, &charts, found};
    const char *title =
        o->label != NULL && *o->label != '\0' ? o->label : figures_file(a->file.path);
    bool ok = html_course_init_aggregate(&course, a, e) && html_charts_init(&charts, e) &&
              plot_add_aggregate(&charts.set, a, &charts.options, e);

    if (ok) {
        html_charts_draw(&charts);
        ok = html_page_begin(f, &charts, title, headline_aggregate(a, course.main).s, e);
        put_header(f, a, title);
        put_first(f, &page);
        if (html_page_warnings(f, &charts, false))
            html_page_warnings_end(f);
        ok = ok && html_page_charts(f, &charts, "all", -1, "", e) &&
             html_course_sections(f, &course, put_section, &page, e);
        put_notes(f, a);
        html_page_inputs(f, o->command);
        html_element(f, "p", "The file: %s", a->file.path);
        html_element(f, "p", "Recorded by: %s", a->file.command);
        html_page_fold_end(f);
        html_page_definitions(f, definitions, sizeof definitions / sizeof *definitions);
        ok = ok && html_data(f, title, write_data, &page, &course, e);
        html_page_end(f);
    }
    html_charts_fini(&charts);
    html_course_fini(&course);
    return ok;
}
