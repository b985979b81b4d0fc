#include "analyze/report/aggregate_html.h"

#include "analyze/plot/aggregate.h"
#include "analyze/report/aggregate_json.h"
#include "analyze/report/figures.h"
#include "analyze/report/html_internal.h"
#include "analyze/report/page.h"
#include "analyze/write/html.h"
#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct html_definition definitions[] = {
    {"Aggregated capture", "The recorder kept sums, throughput by second and figures of groups of "
                           "10 s, not the requests. What cannot be "
                           "known from these is left out."},
    {"By second", "Whole clock seconds without the first two and the last two. A request's bytes "
                  "and objects are spread "
                  "evenly over its time; failed requests are among them."},
    {"Whole run", "Bytes and objects of all requests from the first start to the last end; not "
                  "given where some failed, "
                  "since the file counts their bytes as delivered."},
    {"Percentiles",
     "Those of a group of 10 s hold for these 10 s alone. The mean of such percentiles, which the "
     "recorder prints, is none."},
};
#define N_DEFINITIONS (sizeof definitions / sizeof *definitions)

static struct units_text ms(double value)
{
    return figures_ns(isnan(value) ? NAN : value * 1e6);
}

static void put_header(FILE *f, const struct aggregate *a, const char *title)
{
    const struct aggfile_entry *x = a->total.x;
    struct rfc3339_text start = rfc3339_format(x->start_ns);
    fputs("<header>", f);
    html_element(f, "h1", "%s", title);
    html_element(f, "p", "Aggregated capture: %s requests in %s from %.10s %.8s UTC",
                 units_count(x->n_requests).s, units_duration(a->total.duration_ns).s, start.s,
                 start.s + 11);
    html_element(f, "p", "Recorded by: %s", a->file.command);
    fputs("</header>\n<main>\n", f);
}

static void put_notes(FILE *f, const struct aggregate *a, const struct findings *found,
                      const struct html_charts *charts)
{
    if (found->n > 0) {
        html_element(f, "h2", "Findings");
        fputs("<ul>\n", f);
        for (size_t i = 0; i < found->n; i++)
            html_element(f, "li", "%s", found->v[i].sentence);
        fputs("</ul>\n", f);
    }
    if (a->n_warnings == 0 && charts->missing.msg[0] == '\0')
        return;
    fputs("<div class=\"warn\"><strong>Warnings</strong><ul>\n", f);
    if (charts->missing.msg[0] != '\0')
        html_element(f, "li", "There are no charts: %s", charts->missing.msg);
    for (size_t i = 0; i < a->n_warnings; i++) {
        const struct aggregate_warning *w = &a->warnings[i];
        html_element(f, "li", "%s%s%s", w->op != NULL ? w->op : "", w->op != NULL ? ": " : "",
                     w->message);
    }
    fputs("</ul></div>\n", f);
}

static void put_run_row(FILE *f, const char *name, const struct aggregate_part *part)
{
    const struct aggfile_entry *x = part->x;
    bool rated = x->n_errors == 0 && part->duration_ns > 0 && !part->is_preparation;
    html_row(f);
    html_name(f, name);
    HTML_CELLS(f, units_count(x->n_requests).s, units_count(x->n_errors).s,
               units_size((double)x->n_bytes).s, units_count(x->n_objects).s,
               rated && x->n_bytes > 0 ? units_byte_rate(aggregate_bytes_per_s(part)).s : "-",
               rated ? units_object_rate(aggregate_objects_per_s(part)).s : "-");
    html_cell_text(f, part->is_preparation ? "preparation" : "");
    html_row_end(f);
}

static void put_runs(FILE *f, const struct aggregate *a)
{
    static const char *const columns[] = {"Operation", "Requests", "Errors", "Bytes",
                                          "Objects",   "Average",  "obj/s",  ""};
    html_table(f, "all", "Whole run", columns, "lrrrrrrl");
    for (size_t i = 0; i < a->ops.n; i++)
        put_run_row(f, a->ops.v[i].x->name, &a->ops.v[i]);
    if (a->overlaps)
        put_run_row(f, "All together", &a->total);
    html_table_end(f);
}

static void put_second(FILE *f, const char *name, const struct aggregate_part *part,
                       double bytes_per_s, double objects_per_s, int64_t ns)
{
    HTML_ROW(f, name, part->x->n_bytes > 0 ? units_byte_rate(bytes_per_s).s : "-",
             units_object_rate(objects_per_s).s, html_cells_clock(ns).s);
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
        html_name(f, g->start_ns != AGGFILE_NO_TIME ? html_cells_clock(g->start_ns).s : "");
        html_cell_text(f, html_cells_party(part->x->group_clients[g->client]));
        HTML_CELLS(f, units_count(g->n_requests).s, ms(g->mean_ms).s, ms(g->p50_ms).s,
                   g->n_requests >= 10 ? ms(g->p90_ms).s : "",
                   g->n_requests >= 100 ? ms(g->p99_ms).s : "");
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
                     ms(l->mean_ms).s, ms(l->stddev_ms).s, ms(l->min_ms).s, ms(l->max_ms).s);
    else if (!isnan(l->mean_ms))
        html_element(f, "p", "Durations: mean %s.", ms(l->mean_ms).s);
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
    html_table(f, section, caption, columns, "lrrrr");
    for (size_t i = 0; i < n && i < 1000; i++) {
        HTML_ROW(f, html_cells_party(v[i].name), units_count(v[i].n_requests).s,
                 units_count(v[i].n_errors).s, units_byte_rate((double)v[i].n_bytes / seconds).s,
                 units_rate((double)v[i].n_objects / seconds).s);
    }
    html_table_end(f);
}

static void put_errors(FILE *f, const struct aggfile_entry *x)
{
    static const char *const columns[] = {"First errors"};
    if (x->n_first_errors == 0)
        return;
    html_table(f, NULL, NULL, columns, "l");
    for (size_t i = 0; i < x->n_first_errors; i++) {
        html_row(f);
        html_cell_wrapped(f, x->first_errors[i]);
        html_row_end(f);
    }
    html_table_end(f);
}

static bool put_sections(FILE *f, const struct aggregate *a, const struct html_charts *charts,
                         struct err *e)
{
    char section[24];
    if (!html_page_charts(f, charts, "all", -1, "", e))
        return false;
    for (size_t i = 0; i < a->ops.n; i++) {
        const struct aggregate_part *part = &a->ops.v[i];
        snprintf(section, sizeof section, "op%zu", i);
        fprintf(f, "<h2 id=\"%s\">", section);
        html_text(f, part->x->name);
        fputs("</h2>\n", f);
        if (!html_page_charts(f, charts, section, -1, part->x->name, e))
            return false;
        put_window(f, section, part);
        put_latency(f, section, part);
        put_parties(f, section, "Hosts", "Host", part, part->x->hosts, part->x->n_hosts);
        put_parties(f, section, "Clients", "Client", part, part->x->clients, part->x->n_clients);
        put_errors(f, part->x);
    }
    return true;
}

bool aggregate_html(const struct aggregate *a, const struct findings *found, const char *label,
                    FILE *f, struct err *e)
{
    struct html_charts charts;
    const char *slash = strrchr(a->file.path, '/');
    const char *title = label != NULL && *label != '\0' ? label
                        : slash != NULL                 ? slash + 1
                                                        : a->file.path;
    bool ok = html_charts_init(&charts, e) &&
              plot_add_aggregate(&charts.set, a, charts.folder, NULL, &charts.options, e);
    if (ok) {
        html_charts_draw(&charts);
        ok = html_page_begin(f, &charts, title, title, e);
        put_header(f, a, title);
        fputs("<section id=\"summary\">", f);
        put_runs(f, a);
        fputs("</section>\n", f);
        put_notes(f, a, found, &charts);
        ok = ok && put_sections(f, a, &charts, e);
        html_page_definitions(f, definitions, N_DEFINITIONS);
        html_page_end(f);
    }
    html_charts_fini(&charts);
    return ok;
}
