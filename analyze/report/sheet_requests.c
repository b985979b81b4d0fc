#include "analyze/report/run_sheet.h"

void run_sheet_headings(struct sheet *s, const struct field *const *list)
{
    SHEET_HEADINGS(s, "");
    for (; *list != NULL; list++)
        if ((*list)->heading != NULL)
            sheet_cell(s, "%s", (*list)->heading);
}

/* A row of a table with these headings, unless there is no such figure. */
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

/* The title says the number of requests. There are letters for further figures. */
#define TIMES_ALIGN "lRrrrrrrrrrrrrrr"
#define RATES_ALIGN "lrRrrrrrrr"

static void put_durations(struct sheet *s, const struct requests *q)
{
    put_times(s, "Duration", &q->all.dur);
    put_times(s, "TTFB", &q->all.ttfb);
    put_times(s, "Response time", &q->response_time.dur);
    s->when = SHEET_DETAIL;
    put_times(s, "First access", &q->first_access.dur);
    put_times(s, "First access TTFB", &q->first_access.ttfb);
    put_times(s, "Last access", &q->last_access.dur);
    put_times(s, "Last access TTFB", &q->last_access.ttfb);
    s->when = SHEET_ALWAYS;
}

/* A row for each size, and as details those of first accesses. */
static void put_sizes(struct sheet *s, const struct requests *q, bool ttfb)
{
    for (int first = 0; first < 2; first++) {
        s->when = first ? SHEET_DETAIL : SHEET_ALWAYS;
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
    s->when = SHEET_ALWAYS;
}

void run_sheet_requests(struct sheet *s, const struct requests *q)
{
    char title[160];

    if (!q->present) {
        sheet_line(s, TEXT_HEADING, "No successful requests %s.",
                   q->of_whole_run ? "in the whole run" : "lie in the active range");
        return;
    }
    double bytes = q->single_size ? (double)q->object_size_bytes : q->mean_bytes;
    snprintf(title, sizeof title, "Requests, %s successful ones%s%s%s %s", units_count(q->n).s,
             bytes > 0 ? " of " : "", bytes > 0 ? units_size(bytes).s : "",
             q->single_size ? "" : " on average",
             q->of_whole_run ? "of the whole run" : "in the active range");
    sheet_table(s, TIMES_ALIGN, title);
    run_sheet_headings(s, times_columns);
    put_durations(s, q);
    if (q->single_size)
        return;
    sheet_table(s, RATES_ALIGN, "Requests by size, throughput of single requests");
    run_sheet_headings(s, sized_fields);
    put_sizes(s, q, false);
    sheet_table(s, TIMES_ALIGN, "TTFB by size");
    run_sheet_headings(s, times_columns);
    put_sizes(s, q, true);
}
