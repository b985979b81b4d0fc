#include "analyze/report/aggregate.h"

#include "analyze/data/errnorm.h"
#include "analyze/plot/aggregate.h"
#include "analyze/report/headline.h"
#include "analyze/report/figures.h"
#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MAX_SHOWN 20 /* hosts and clients; --json has all */

/* ---- Pieces ---- */

static struct units_text clock_time(int64_t ns)
{
    struct units_text t;
    snprintf(t.s, sizeof t.s, "%.8s", rfc3339_format(ns).s + 11);
    return t;
}

/* ---- The file ---- */

static void put_head(struct text *out, const struct aggregate *a)
{
    const struct aggfile_entry *x = a->total.x;

    text_line(out, TEXT_PLAIN, "%s: %s", a->file.path,
              figures_run(x->n_requests, x->start_ns, a->total.duration_ns).s);
    text_line(
        out, TEXT_PLAIN,
        "An aggregated capture%s: sums, throughput by second and figures of 10-second groups, "
        "without the requests",
        a->is_merged ? " of several clients" : "");
    text_line(out, TEXT_PLAIN, "%s, %s, %s", figures_counted(x->n_threads, "thread").s,
              figures_counted((int64_t)x->n_hosts, "host").s,
              figures_counted((int64_t)a->n_clients, "client").s);
    text_line(out, TEXT_FAINT, "Recorded by: %s", a->file.command);
}

static void put_warnings(struct text *out, const struct aggregate *a, const char *op)
{
    for (size_t i = 0; i < a->n_warnings; i++) {
        const struct aggregate_warning *w = &a->warnings[i];
        if (op == NULL ? w->op == NULL : w->op != NULL && strcmp(w->op, op) == 0)
            text_line(out, TEXT_WARNING, "%sWarning: %s%s%s", op != NULL ? " * " : "",
                      op != NULL ? op : "", op != NULL ? ": " : "", w->message);
    }
}

/* ---- Operations ---- */

static void put_operation_row(struct text_table *t, const char *name,
                              const struct aggregate_part *part)
{
    const struct aggfile_entry *x = part->x;
    TEXT_ITEM(t, TEXT_PLAIN, "%s", name);
    TEXT_CELLS(t, units_count(x->n_requests).s, units_count(x->n_errors).s,
               units_size((double)x->n_bytes).s, units_count(x->n_objects).s);
    if (part->duration_ns <= 0 || x->n_errors > 0 || part->is_preparation) {
        TEXT_CELLS(t, "-", "-");
    } else {
        TEXT_CELLS(t, x->n_bytes > 0 ? units_byte_rate(aggregate_bytes_per_s(part)).s : "-",
                   units_rate(aggregate_objects_per_s(part)).s);
    }
    text_table_cell(t, "%s", part->is_preparation ? "preparation" : "");
}

static void put_operations(struct text *out, const struct aggregate *a)
{
    struct text_table t;
    text_blank(out);
    text_line(out, TEXT_HEADING, "Whole run:");
    text_table_init(&t, out, "lrrrrrrl");
    TEXT_ROW(&t, TEXT_FAINT, "", "Requests", "Errors", "Bytes", "Objects", "Average", "obj/s", "");
    for (size_t i = 0; i < a->ops.n; i++)
        put_operation_row(&t, a->ops.v[i].x->name, &a->ops.v[i]);
    if (a->overlaps)
        put_operation_row(&t, "All together", &a->total);
    text_table_put(&t);
}

static void put_successful(struct text *out, const struct aggregate_part *part)
{
    const struct aggfile_entry *x = part->x;
    if (x->n_errors == 0)
        return;
    double seconds = (double)part->duration_ns / 1e9;
    if (part->ok_bytes_known && part->ok_objects_known && seconds > 0)
        text_line(out, TEXT_PLAIN, " * Delivered: %s (%s), %s objects (%s)",
                  units_size((double)part->ok_bytes).s,
                  units_byte_rate((double)part->ok_bytes / seconds).s,
                  units_count(part->ok_objects).s,
                  units_object_rate((double)part->ok_objects / seconds).s);
    else
        text_line(out, TEXT_PLAIN,
                  " * Delivered: not in this file: its bytes and objects include %s failed "
                  "requests of unknown size",
                  units_count(x->n_errors).s);
}

/* Of a second, or of all from the i-th on. */
static void rate_row(struct text_table *t, const char *name, const struct aggregate_part *part,
                     const struct aggfile_second *s, size_t i)
{
    TEXT_ITEM(t, TEXT_PLAIN, "%s:", name);
    TEXT_CELLS(t, part->x->n_bytes > 0 ? units_byte_rate(s->bytes_per_s).s : "",
               units_object_rate(s->objects_per_s).s);
    text_table_cell(t, "at %s UTC", clock_time(aggregate_second_ns(part, i)).s);
}

static void put_throughput(struct text *out, const struct aggregate_part *part)
{
    const struct aggregate_window *w = &part->window;
    const struct aggfile_entry *x = part->x;
    const struct aggfile_second mean = {0, w->mean_bytes_per_s, w->mean_objects_per_s, 0};
    struct text_table t;

    text_blank(out);
    text_line(out, TEXT_HEADING, "%s:", x->name);
    put_successful(out, part);
    if (!w->present)
        return;
    text_line(out, TEXT_PLAIN, " * By second, %s without the first and last 2 s%s:",
              figures_counted((int64_t)x->n_seconds, "whole second").s,
              x->n_errors > 0 ? ", failed included" : "");
    text_table_init(&t, out, "lrrl");
    rate_row(&t, "Average", part, &mean, 0);
    rate_row(&t, "Fastest", part, &x->seconds[w->fastest], w->fastest);
    if (x->n_seconds >= ANALYSIS_MIN_MEDIAN)
        rate_row(&t, "Median", part, &x->seconds[w->median], w->median);
    rate_row(&t, "Slowest", part, &x->seconds[w->slowest], w->slowest);
    text_table_put(&t);
}

/* ---- Durations ---- */

static void put_range(struct text *out, const char *name, const struct aggregate_range *r)
{
    text_line(out, TEXT_PLAIN, " * %s of each 10 s: %s .. %s; not of the run", name,
              figures_ms(r->min_ms).s, figures_ms(r->max_ms).s);
}

static void put_single(struct text *out, const struct aggregate_part *part)
{
    const struct aggregate_latency *l = &part->latency;
    text_line(out, TEXT_PLAIN, " * Fastest: %s, slowest: %s", figures_ms(l->min_ms).s,
              figures_ms(l->max_ms).s);
    if (l->is_one_group) {
        const struct aggfile_group *g = &part->x->groups[0];
        text_line(out, TEXT_PLAIN, " * One group holds all requests: 50%%: %s, 90%%: %s, 99%%: %s",
                  figures_ms(g->p50_ms).s, figures_ms(g->p90_ms).s, figures_ms(g->p99_ms).s);
        return;
    }
    text_line(out, TEXT_PLAIN, " * In %s of 10 s, the smallest of %s:",
              figures_counted((int64_t)l->n_groups, "group").s,
              figures_counted(l->n_smallest_group, "request").s);
    put_range(out, "50%", &l->p50);
    put_range(out, "90%", &l->p90);
    put_range(out, "99%", &l->p99);
}

static void put_classes(struct text *out, const struct aggregate_latency *l)
{
    struct text_table t;
    text_table_init(&t, out, "lrrrr");
    TEXT_ROW(&t, TEXT_FAINT, "", "Requests", "Mean", "Fastest", "Slowest");
    for (size_t i = 0; i < l->n_classes; i++) {
        const struct aggfile_class *c = &l->classes[i];
        TEXT_ITEM(&t, TEXT_PLAIN, "%s - %s", units_size((double)c->min_bytes).s,
                  units_size((double)c->max_bytes).s);
        TEXT_CELLS(&t, units_count(c->n_requests).s, figures_ms(c->mean_ms).s,
                   units_byte_rate(c->fastest_bytes_per_s).s,
                   units_byte_rate(c->slowest_bytes_per_s).s);
    }
    text_table_put(&t);
}

static void group_cell(struct text_table *t, double value, bool enough)
{
    text_table_cell(t, "%s", enough ? figures_ms(value).s : "");
}

/* A percentile of few requests is none: it takes 10 for 90%, 100 for 99%. */
static void put_groups(struct text *out, const struct aggregate_part *part)
{
    struct text_table t;
    text_table_init(&t, out, "llrrrrr");
    text_table_span(&t, TEXT_PLAIN, "%s", "Groups of 10 s, each for itself:");
    TEXT_ROW(&t, TEXT_FAINT, "10 s from", "Client", "Requests", "Mean", "50%", "90%", "99%");
    for (size_t i = 0; i < part->x->n_groups; i++) {
        const struct aggfile_group *g = &part->x->groups[i];
        TEXT_ROW(&t, TEXT_PLAIN, g->start_ns == AGGFILE_NO_TIME ? "" : clock_time(g->start_ns).s,
                 part->x->group_clients[g->client], units_count(g->n_requests).s);
        group_cell(&t, g->mean_ms, !g->is_multi);
        group_cell(&t, g->p50_ms, !g->is_multi);
        group_cell(&t, g->p90_ms, !g->is_multi && g->n_requests >= 10);
        group_cell(&t, g->p99_ms, !g->is_multi && g->n_requests >= 100);
    }
    text_table_put(&t);
}

static void put_durations(struct text *out, const struct aggregate_part *part, bool verbose)
{
    const struct aggregate_latency *l = &part->latency;
    if (l->kind == AGGREGATE_NO_GROUPS) {
        text_line(out, TEXT_PLAIN, " * Durations: not in this file");
        return;
    }
    if (part->x->n_errors > 0)
        text_line(out, TEXT_PLAIN, " * Durations of all requests, %s failed included:",
                  units_count(part->x->n_errors).s);
    else
        text_line(out, TEXT_PLAIN, " * Durations:");
    if (!isnan(l->mean_ms) && !isnan(l->stddev_ms))
        text_line(out, TEXT_PLAIN, " * Mean: %s, standard deviation: %s", figures_ms(l->mean_ms).s,
                  figures_ms(l->stddev_ms).s);
    else if (!isnan(l->mean_ms))
        text_line(out, TEXT_PLAIN, " * Mean: %s", figures_ms(l->mean_ms).s);
    if (l->kind == AGGREGATE_SINGLE)
        put_single(out, part);
    else if (l->n_classes > 0)
        put_classes(out, l);
    if (!l->is_one_group)
        text_line(out, TEXT_FAINT, " * 50%%, 90%%, 99%% of the run: %s", AGGREGATE_NO_PERCENTILES);
    if (verbose && l->kind == AGGREGATE_SINGLE)
        put_groups(out, part);
}

/* ---- Hosts, clients, errors ---- */

static void put_parties(struct text *out, const char *what, const struct aggregate_part *part,
                        const struct aggfile_party *v, size_t n)
{
    double seconds = (double)part->duration_ns / 1e9;
    struct text_table t;

    if (n < 2 || seconds <= 0)
        return;
    text_table_init(&t, out, "lrrrr");
    TEXT_ROW(&t, TEXT_FAINT, what, "Requests", "Errors", "Average", "obj/s");
    for (size_t i = 0; i < n && i < MAX_SHOWN; i++) {
        TEXT_ITEM(&t, TEXT_PLAIN, "%s", v[i].name);
        TEXT_CELLS(&t, units_count(v[i].n_requests).s, units_count(v[i].n_errors).s,
                   units_byte_rate((double)v[i].n_bytes / seconds).s,
                   units_rate((double)v[i].n_objects / seconds).s);
    }
    if (n > MAX_SHOWN)
        text_table_span(&t, TEXT_FAINT, "and %s more: --json has them all",
                        units_count((int64_t)(n - MAX_SHOWN)).s);
    text_table_put(&t);
}

/* Without what differs from one request to the next, of which the file has ten. */
static void put_errors(struct text *out, const struct aggfile_entry *x)
{
    char message[ERRNORM_MAX_BYTES], next[ERRNORM_MAX_BYTES];
    size_t n_same = 1;

    if (x->n_errors == 0)
        return;
    text_line(out, TEXT_ERROR,
              " * %s; the first messages:", figures_counted(x->n_errors, "error").s);
    for (size_t i = 0; i < x->n_first_errors; i++) {
        size_t length = aggregate_message(x, i, message);
        bool is_last = i + 1 == x->n_first_errors;

        if (!is_last && aggregate_message(x, i + 1, next) == length &&
            memcmp(message, next, length) == 0) {
            n_same++;
            continue;
        }
        if (n_same > 1)
            text_line(out, TEXT_ERROR, "   - %.*s (%zu times)", (int)length, message, n_same);
        else
            text_line(out, TEXT_ERROR, "   - %.*s", (int)length, message);
        n_same = 1;
    }
}

static void put_common(struct text *out, const struct aggregate *a)
{
    struct aggregate_common c;
    if (!a->is_merged || a->n_sum == 0)
        return;
    text_blank(out);
    text_line(out, TEXT_HEADING, "Clients together:");
    if (!aggregate_common(a, &c))
        text_line(out, TEXT_PLAIN, " * no second in which all of them ran");
    else
        text_line(out, TEXT_PLAIN, " * %s, %s in the %s that all have",
                  units_byte_rate(c.bytes_per_s).s, units_object_rate(c.objects_per_s).s,
                  figures_counted((int64_t)c.n_seconds, "second").s);
}

bool aggregate_text(const struct aggregate *a, const struct findings *found,
                    const struct report_text_options *options, FILE *f, struct err *e)
{
    struct text out = {.f = f, .colour = options->colour};
    int main = plot_aggregate_main(a);

    text_line(&out, TEXT_HEADING, "%s", headline_aggregate(a, main).s);
    struct sheet s = {0};
    headline_put_findings(&s, found, (main < 0 ? &a->total : &a->ops.v[main])->x->n_requests);
    bool ok = sheet_write_text(&s, &out, false, e);
    sheet_free(&s);
    put_head(&out, a);
    put_warnings(&out, a, NULL);
    put_operations(&out, a);
    put_common(&out, a);
    for (size_t i = 0; i < a->ops.n; i++) {
        const struct aggregate_part *part = &a->ops.v[i];
        if (part->is_preparation && !options->verbose)
            continue;
        put_throughput(&out, part);
        put_warnings(&out, a, part->x->name);
        put_durations(&out, part, options->verbose);
        put_parties(&out, "Hosts", part, part->x->hosts, part->x->n_hosts);
        put_parties(&out, "Clients", part, part->x->clients, part->x->n_clients);
        put_errors(&out, part->x);
    }
    return ok && (!out.failed || mem_none(e));
}

void aggregate_text_info(const struct aggregate *a, struct text *out)
{
    put_head(out, a);
    if (a->file.version != NULL)
        text_line(out, TEXT_PLAIN, "Version of the recorder: %s", a->file.version);
    put_operations(out, a);
    for (size_t i = 0; i < a->ops.n; i++)
        text_line(out, TEXT_PLAIN, " * %s: %s of throughput, %s of durations", a->ops.v[i].x->name,
                  figures_counted((int64_t)a->ops.v[i].x->n_seconds, "second").s,
                  figures_counted((int64_t)a->ops.v[i].latency.n_groups, "group").s);
    text_blank(out);
    put_warnings(out, a, NULL);
    for (size_t i = 0; i < a->ops.n; i++)
        put_warnings(out, a, a->ops.v[i].x->name);
    text_line(out, TEXT_FAINT,
              "Not in this file: single requests, percentiles of the run, threads, objects, "
              "durations by host");
}
