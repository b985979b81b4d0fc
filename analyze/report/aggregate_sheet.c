#include "analyze/report/aggregate_sheet.h"

#include "analyze/data/errnorm.h"
#include "analyze/report/aggregate.h"
#include "analyze/report/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_SHOWN 20   /* hosts and clients in brief text */
#define MAX_ROWS  1000 /* of a table; --json has all */

/* ---- The file ---- */

void aggregate_sheet_warnings(struct sheet *s, const struct aggregate *a, const char *op)
{
    for (size_t i = 0; i < a->n_warnings; i++) {
        const struct aggregate_warning *w = &a->warnings[i];
        if (op == NULL ? w->op == NULL : w->op != NULL && strcmp(w->op, op) == 0)
            sheet_line(s, TEXT_WARNING, "Warning: %s%s%s", op != NULL ? op : "",
                       op != NULL ? ": " : "", w->message);
    }
}

void aggregate_sheet_file(struct sheet *s, const struct aggregate *a)
{
    const struct aggfile_entry *x = a->total.x;

    sheet_line(s, TEXT_PLAIN, "%s: %s", a->file.path,
               figures_run(x->n_requests, x->start_ns, a->total.duration_ns).s);
    sheet_line(s, TEXT_PLAIN,
               "An aggregated capture%s: sums, throughput by second and figures of 10-second "
               "groups, without the requests",
               a->is_merged ? " of several clients" : "");
    sheet_line(s, TEXT_PLAIN, "%s, %s, %s", figures_counted(x->n_threads, "thread").s,
               figures_counted((int64_t)x->n_hosts, "host").s,
               figures_counted((int64_t)a->n_clients, "client").s);
    sheet_line(s, TEXT_FAINT, "Recorded by: %s", a->file.command);
}

/* ---- All operations at a glance ---- */

static void summary_row(struct sheet *s, const struct aggregate_part *part, const char *name,
                        size_t k, const struct run_sheet_page *page)
{
    const struct aggfile_entry *x = part->x;
    bool is_rated = part->duration_ns > 0 && x->n_errors == 0 && !part->is_preparation;

    SHEET_ROW(s, TEXT_PLAIN, name);
    if (page != NULL)
        sheet_markup(s, page->name, page->ctx, k);
    SHEET_CELLS(s, "");
    if (page != NULL)
        sheet_markup(s, page->course, page->ctx, k);
    run_sheet_counts(s, x->n_requests, x->n_errors);
    SHEET_CELLS(s, units_size((double)x->n_bytes).s, units_count(x->n_objects).s,
                is_rated && x->n_bytes > 0 ? units_byte_rate(aggregate_bytes_per_s(part)).s : "-",
                is_rated ? units_rate(aggregate_objects_per_s(part)).s : "-",
                figures_ms(part->latency.mean_ms).s,
                part->latency.kind == AGGREGATE_SINGLE ? figures_ms(part->latency.max_ms).s : "-",
                part->is_preparation && page == NULL ? "preparation" : "");
}

void aggregate_sheet_summary(struct sheet *s, const struct aggregate *a, int main,
                             const struct run_sheet_page *page)
{
    size_t first = main < 0 ? 0 : (size_t)main;

    sheet_table(s, "llrrrrrrrrl", "Operations");
    SHEET_HEADINGS(s, "", "Course", "Requests", "Errors", "Bytes", "Objects", "Average", "obj/s",
                   "Mean", "Slowest", "");
    for (size_t i = 0; i < a->ops.n; i++) {
        size_t k = i == 0 ? first : i <= first ? i - 1 : i;
        summary_row(s, &a->ops.v[k], a->ops.v[k].x->name, k, page);
    }
    if (a->overlaps)
        summary_row(s, &a->total, "All together", 0, NULL);
}

void aggregate_sheet_common(struct sheet *s, const struct aggregate *a)
{
    struct aggregate_common c;

    if (!a->is_merged || a->n_sum == 0)
        return;
    if (!aggregate_common(a, &c))
        sheet_line(s, TEXT_PLAIN, "Clients together: no second in which all of them ran.");
    else
        sheet_line(s, TEXT_PLAIN, "Clients together: %s, %s in the %s that all have.",
                   units_byte_rate(c.bytes_per_s).s, units_object_rate(c.objects_per_s).s,
                   figures_counted((int64_t)c.n_seconds, "second").s);
}

/* ---- Throughput ---- */

static void put_delivered(struct sheet *s, const struct aggregate_part *part)
{
    const struct aggfile_entry *x = part->x;
    double seconds = (double)part->duration_ns / 1e9;

    if (x->n_errors == 0)
        return;
    if (part->ok_bytes_known && part->ok_objects_known && seconds > 0)
        sheet_line(s, TEXT_PLAIN, "Delivered: %s (%s), %s objects (%s)",
                   units_size((double)part->ok_bytes).s,
                   units_byte_rate((double)part->ok_bytes / seconds).s,
                   units_count(part->ok_objects).s,
                   units_object_rate((double)part->ok_objects / seconds).s);
    else
        sheet_line(s, TEXT_PLAIN,
                   "Delivered: not in this file: its bytes and objects include %s failed requests "
                   "of unknown size",
                   units_count(x->n_errors).s);
}

static void second_row(struct sheet *s, const char *name, const struct aggregate_part *part,
                       double bytes_per_s, double objects_per_s, size_t i)
{
    SHEET_ROW(s, TEXT_PLAIN, name, part->x->n_bytes > 0 ? units_byte_rate(bytes_per_s).s : "",
              units_rate(objects_per_s).s, figures_clock(aggregate_second_ns(part, i)).s);
}

static void put_seconds(struct sheet *s, const struct aggregate_part *part)
{
    static const char *const names[] = {"Fastest second", "Median second", "Slowest second"};
    const struct aggregate_window *w = &part->window;
    const struct aggfile_entry *x = part->x;
    const size_t picks[] = {w->fastest, w->median, w->slowest};
    char title[160];

    if (!w->present)
        return;
    snprintf(title, sizeof title, "By second, %.60s without the first and last 2 s%s",
             figures_counted((int64_t)x->n_seconds, "whole second").s,
             x->n_errors > 0 ? ", failed included" : "");
    sheet_table(s, "lrrr", title);
    SHEET_HEADINGS(s, "", "Throughput", "obj/s", "From, UTC");
    second_row(s, "Average", part, w->mean_bytes_per_s, w->mean_objects_per_s, 0);
    for (size_t i = 0; i < 3; i++)
        if (i != 1 || x->n_seconds >= ANALYSIS_MIN_MEDIAN)
            second_row(s, names[i], part, x->seconds[picks[i]].bytes_per_s,
                       x->seconds[picks[i]].objects_per_s, picks[i]);
}

/* ---- Durations ---- */

static void put_range(struct sheet *s, const char *name, const struct aggregate_range *r)
{
    sheet_item(s, TEXT_PLAIN, "%s of each 10 s: %s .. %s; not of the run", name,
               figures_ms(r->min_ms).s, figures_ms(r->max_ms).s);
}

static void put_percentiles(struct sheet *s, const struct aggregate_part *part)
{
    const struct aggregate_latency *l = &part->latency;

    if (l->is_one_group) {
        const struct aggfile_group *g = &part->x->groups[0];
        sheet_line(s, TEXT_PLAIN, "One group holds all requests: 50%%: %s, 90%%: %s, 99%%: %s",
                   figures_ms(g->p50_ms).s, figures_ms(g->p90_ms).s, figures_ms(g->p99_ms).s);
        return;
    }
    if (l->kind == AGGREGATE_SINGLE) {
        sheet_line(s, TEXT_PLAIN, "In %s of 10 s, the smallest of %s:",
                   figures_counted((int64_t)l->n_groups, "group").s,
                   figures_counted(l->n_smallest_group, "request").s);
        put_range(s, "50%", &l->p50);
        put_range(s, "90%", &l->p90);
        put_range(s, "99%", &l->p99);
    }
    sheet_line(s, TEXT_FAINT, "50%%, 90%%, 99%% of the run: %s", AGGREGATE_NO_PERCENTILES);
}

static void put_classes(struct sheet *s, const struct aggregate_latency *l)
{
    sheet_table(s, "lrrrr", "Requests by size");
    SHEET_HEADINGS(s, "", "Requests", "Mean", "Fastest", "Slowest");
    for (size_t i = 0; i < l->n_classes; i++) {
        const struct aggfile_class *c = &l->classes[i];

        sheet_row(s, TEXT_PLAIN);
        sheet_cell(s, "%s - %s", units_size((double)c->min_bytes).s,
                   units_size((double)c->max_bytes).s);
        SHEET_CELLS(s, units_count(c->n_requests).s, figures_ms(c->mean_ms).s,
                    units_byte_rate(c->fastest_bytes_per_s).s,
                    units_byte_rate(c->slowest_bytes_per_s).s);
    }
}

static void put_rest(struct sheet *s, size_t n, size_t most)
{
    if (n > most)
        sheet_span(s, TEXT_FAINT, "and %s more: --json has them all",
                   units_count((int64_t)(n - most)).s);
}

/* A percentile of few requests is none: it takes 10 for 90%, 100 for 99%. */
static void put_groups(struct sheet *s, const struct aggregate_part *part)
{
    const struct aggfile_entry *x = part->x;

    s->when = SHEET_DETAIL;
    sheet_table(s, "llrrrrr", "Groups of 10 s, each for itself");
    SHEET_HEADINGS(s, "10 s from", "Client", "Requests", "Mean", "50% of it", "90% of it",
                   "99% of it");
    for (size_t i = 0; i < x->n_groups && i < MAX_ROWS; i++) {
        const struct aggfile_group *g = &x->groups[i];
        SHEET_ROW(s, TEXT_PLAIN, g->start_ns == AGGFILE_NO_TIME ? "" : figures_clock(g->start_ns).s,
                  intern_shown(x->group_clients[g->client]), units_count(g->n_requests).s);
        if (!g->is_multi)
            SHEET_CELLS(s, figures_ms(g->mean_ms).s, figures_ms(g->p50_ms).s,
                        g->n_requests >= 10 ? figures_ms(g->p90_ms).s : "",
                        g->n_requests >= 100 ? figures_ms(g->p99_ms).s : "");
    }
    put_rest(s, x->n_groups, MAX_ROWS);
    s->when = SHEET_ALWAYS;
}

static void put_durations(struct sheet *s, const struct aggregate_part *part)
{
    const struct aggregate_latency *l = &part->latency;
    bool single = l->kind == AGGREGATE_SINGLE;
    char title[120] = "Durations";

    if (l->kind == AGGREGATE_NO_GROUPS) {
        sheet_line(s, TEXT_PLAIN, "Durations: not in this file");
        return;
    }
    if (part->x->n_errors > 0)
        snprintf(title, sizeof title, "Durations of all requests, %.40s failed included",
                 units_count(part->x->n_errors).s);
    sheet_table(s, "lrrrr", title);
    SHEET_HEADINGS(s, "", "Mean", "Fastest", "Slowest", "StdDev");
    SHEET_ROW(s, TEXT_PLAIN, "Duration", figures_ms(l->mean_ms).s,
              figures_ms(single ? l->min_ms : NAN).s, figures_ms(single ? l->max_ms : NAN).s,
              figures_ms(single ? l->stddev_ms : NAN).s);
    put_percentiles(s, part);
    if (!single && l->n_classes > 0)
        put_classes(s, l);
    if (single)
        put_groups(s, part);
}

/* ---- Hosts, clients, errors ---- */

static void put_parties(struct sheet *s, const char *kind, const struct aggregate_part *part,
                        const struct aggfile_party *v, size_t n)
{
    double seconds = (double)part->duration_ns / 1e9;
    char title[64];

    if (n < 2 || seconds <= 0)
        return;
    snprintf(title, sizeof title, "Throughput by %s", kind);
    sheet_fold(s, "%s", figures_counted((int64_t)n, kind).s);
    sheet_table(s, "lrrrr", title);
    SHEET_HEADINGS(s, "", "Requests", "Errors", "Average", "obj/s");
    for (size_t i = 0; i < n && i < MAX_ROWS; i++) {
        s->when = i < MAX_SHOWN ? SHEET_ALWAYS : SHEET_DETAIL;
        SHEET_ROW(s, TEXT_PLAIN, intern_shown(v[i].name), units_count(v[i].n_requests).s,
                  units_count(v[i].n_errors).s, units_byte_rate((double)v[i].n_bytes / seconds).s,
                  units_rate((double)v[i].n_objects / seconds).s);
    }
    s->when = SHEET_BRIEF;
    put_rest(s, n, MAX_SHOWN);
    s->when = SHEET_DETAIL;
    put_rest(s, n, MAX_ROWS);
    s->when = SHEET_ALWAYS;
    sheet_fold_end(s);
}

/* Without what differs from one request to the next, of which the file has ten. */
static void put_errors(struct sheet *s, const struct aggfile_entry *x)
{
    char message[ERRNORM_MAX_BYTES], next[ERRNORM_MAX_BYTES], title[80];
    size_t n_same = 1;

    if (x->n_errors == 0)
        return;
    snprintf(title, sizeof title, "Errors, the first of %.40s", units_count(x->n_errors).s);
    sheet_table(s, "rw", title);
    SHEET_HEADINGS(s, "Count", "Message");
    for (size_t i = 0; i < x->n_first_errors; i++, n_same++) {
        size_t length = aggregate_message(x, i, message);

        if (i + 1 < x->n_first_errors && aggregate_message(x, i + 1, next) == length &&
            memcmp(message, next, length) == 0)
            continue;
        SHEET_ROW(s, TEXT_PLAIN, units_count((int64_t)n_same).s);
        sheet_cell(s, "%.*s", (int)length, message);
        n_same = 0;
    }
}

void aggregate_sheet_operation(struct sheet *s, const struct aggregate *a, size_t k)
{
    const struct aggregate_part *part = &a->ops.v[k];

    put_delivered(s, part);
    put_seconds(s, part);
    aggregate_sheet_warnings(s, a, part->x->name);
    put_durations(s, part);
    put_parties(s, "host", part, part->x->hosts, part->x->n_hosts);
    put_parties(s, "client", part, part->x->clients, part->x->n_clients);
    put_errors(s, part->x);
}
