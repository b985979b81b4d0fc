#include "analyze/render/report/run.h"

#include <math.h>

#define MAX_GROUPS 1000

void run_sheet_why(struct sheet *s, const struct known *known)
{
    if (known->why != NULL)
        sheet_line(s, TEXT_FAINT, "-: %s", known->why);
}

void run_sheet_headings(struct sheet *s, const struct field *const *list)
{
    SHEET_HEADINGS(s, "");
    for (; *list != NULL; list++)
        if ((*list)->heading != NULL)
            sheet_cell(s, "%s", (*list)->heading);
}

/* Writes a row of a table with these headings, unless its figures are not present. */
static void put_row(struct sheet *s, const char *name, bool present, const void *group,
                    const struct field *const *list)
{
    if (!present)
        return;
    SHEET_ROW(s, TEXT_PLAIN, name);
    for (; *list != NULL; list++) {
        const struct field *next = list[1];

        if ((*list)->heading == NULL)
            continue;
        if (next != NULL && next->heading == NULL && field_integer(next, group) > 0)
            sheet_cell(s, "%s (%s unrated)", figures_field(*list, group).s,
                       figures_field(next, group).s);
        else
            sheet_cell(s, "%s", figures_field(*list, group).s);
    }
}

static void put_times(struct sheet *s, const char *name, const struct times *t)
{
    put_row(s, name, t->present, t, times_columns);
}

/* ---- An operation ---- */

/* Alignments of columns, with letters for further figures. */
#define TIMES_ALIGN "lrrrrrrrrrrrrrrr"
#define RATES_ALIGN "lrrrrrrrrr"

static void put_durations(struct sheet *s, const struct requests *q)
{
    put_times(s, "Response time", &q->response_time.dur);
    put_times(s, q->response_time.dur.present ? "Service time" : "Duration", &q->all.dur);
    put_times(s, "TTFB", &q->all.ttfb);
    put_times(s, "First access", &q->first_access.dur);
    put_times(s, "First access TTFB", &q->first_access.ttfb);
    put_times(s, "Last access", &q->last_access.dur);
    put_times(s, "Last access TTFB", &q->last_access.ttfb);
}

static void put_size_durations(struct sheet *s, const struct requests *q)
{
    sheet_table(s, TIMES_ALIGN, "Durations by size");
    run_sheet_headings(s, times_columns);
    for (size_t i = 0; i < q->n_sizes; i++)
        put_times(s, figures_bucket(&q->sizes[i]).s, &q->sizes[i].dur);
}

/* Writes a row for each size, then those of first accesses. */
static void put_sizes(struct sheet *s, const struct requests *q, bool ttfb)
{
    for (int first = 0; first < 2; first++) {
        for (size_t i = 0; i < q->n_sizes; i++) {
            const struct sized *x = first ? &q->sizes[i].first_access : &q->sizes[i].all;
            char name[80];

            snprintf(name, sizeof name, "%.40s%s", figures_bucket(&q->sizes[i]).s,
                     first ? ", first access" : "");
            if (ttfb)
                put_times(s, name, &x->ttfb);
            else
                put_row(s, name, x->present, x, sized_fields);
        }
    }
}

/* ---- Groups ---- */

/* Leaves out percentiles of too few requests: p90 takes 10, p99 takes 100. */
static void put_group(struct sheet *s, const struct request_group *g, const char *client)
{
    SHEET_ROW(s, TEXT_PLAIN, g->start_ns == REQUEST_NO_TIME ? "-" : figures_clock(g->start_ns).s,
              intern_shown(client), units_count(g->n_requests).s, figures_ms(g->mean_ms).s,
              figures_ms(g->p50_ms).s, g->n_requests >= 10 ? figures_ms(g->p90_ms).s : "-",
              g->n_requests >= 100 ? figures_ms(g->p99_ms).s : "-");
}

void run_sheet_bounds(struct sheet *s, const struct requests *q, const char *op)
{
    const struct request_groups *x = &q->groups;
    static const char *const names[] = {"p50", "p90", "p99"};
    const unsigned all = 1u << FIGURE_P50 | 1u << FIGURE_P90 | 1u << FIGURE_P99;

    if (x->n == 0 || isnan(x->bounds[0].least_ns) || known_all(&q->all.dur.known, all))
        return;
    sheet_line(s, TEXT_PLAIN, "Percentiles of the run%s%s%s, from the figures of %s of 10 s:",
               q->with_failed ? "'s successful requests" : "", *op != '\0' ? ", " : "", op,
               units_counted((int64_t)x->n, "group").s);
    for (size_t i = 0; i < 3; i++)
        sheet_item(s, TEXT_PLAIN, "%s: %s", names[i],
                   units_bounds(x->bounds[i].least_ns, x->bounds[i].most_ns).s);
}

static void put_groups(struct sheet *s, const struct requests *q)
{
    const struct request_groups *x = &q->groups;

    if (x->n == 0)
        return;
    run_sheet_bounds(s, q, "");
    s->when = SHEET_DETAIL;
    sheet_table(s, "llrrrrr", "Groups of 10 s, each for itself");
    SHEET_HEADINGS(s, "10 s from", "Client", "Requests", "Mean", "p50 of it", "p90 of it",
                   "p99 of it");
    for (size_t i = 0; i < x->n && i < MAX_GROUPS; i++)
        put_group(s, &x->v[i], x->clients[x->v[i].client]);
    if (x->n > MAX_GROUPS)
        sheet_span(s, TEXT_FAINT, "and %s more: --json has them all",
                   units_count((int64_t)(x->n - MAX_GROUPS)).s);
}

void run_sheet_requests(struct sheet *s, const struct requests *q, int64_t known_ns)
{
    char title[300];

    if (!q->present && q->why != NULL) {
        sheet_line(s, TEXT_PLAIN, "Durations: %s.", q->why);
        return;
    }
    if (!q->present) {
        sheet_line(s, TEXT_HEADING, "No successful requests %s.",
                   q->of_whole_run ? "in the whole run" : "lie in the active range");
        return;
    }
    double bytes = q->single_size ? (double)q->object_size_bytes : q->mean_bytes;
    snprintf(title, sizeof title, "Requests, %s %s%s%s%s %s%s%s", units_count(q->n).s,
             q->with_failed ? "successful and failed ones" : "successful ones",
             bytes > 0 ? " of " : "", bytes > 0 ? units_size(bytes).s : "",
             q->single_size ? "" : " on average, all sizes,",
             q->of_whole_run ? "of the whole run" : "in the active range",
             known_ns > 0 ? "; times are known to " : "",
             known_ns > 0 ? units_duration(known_ns).s : "");
    sheet_table(s, TIMES_ALIGN, title);
    run_sheet_headings(s, times_columns);
    put_durations(s, q);
    run_sheet_why(s, &q->all.dur.known);
    put_groups(s, q);
    if (q->single_size)
        return;
    sheet_table(s, RATES_ALIGN, "Requests by size, throughput of single requests");
    run_sheet_headings(s, sized_fields);
    put_sizes(s, q, false);
    if (q->n_sizes > 0)
        run_sheet_why(s, &q->sizes[0].all.known);
    put_size_durations(s, q);
    sheet_table(s, TIMES_ALIGN, "TTFB by size");
    run_sheet_headings(s, times_columns);
    put_sizes(s, q, true);
}
