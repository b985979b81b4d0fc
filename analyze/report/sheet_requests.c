#include "analyze/report/run_sheet.h"

#include <string.h>

/* The heading of `columns`, behind that of the rows. */
static void headings(struct sheet *s, const enum figure *columns)
{
    SHEET_HEADINGS(s, "");
    for (; *columns != N_FIGURES; columns++)
        sheet_cell(s, "%s", figures_names[*columns]);
}

static void cells(struct sheet *s, const struct figures *x, const enum figure *columns)
{
    for (; *columns != N_FIGURES; columns++)
        if (*columns != FIGURE_N)
            sheet_cell(s, "%s", x->v[*columns].s);
        else if (x->n_unrated > 0)
            sheet_cell(s, "%s (%s unrated)", units_count(x->n).s, units_count(x->n_unrated).s);
        else
            sheet_cell(s, "%s", units_count(x->n).s);
}

static void put_row(struct sheet *s, const char *name, struct figures x, const enum figure *columns)
{
    if (!x.present)
        return;
    SHEET_ROW(s, TEXT_PLAIN, name);
    cells(s, &x, columns);
}

/* ---- An operation ---- */

static const enum figure *const times = figures_times;
#define TIMES_ALIGN "lRrrrrrrrrr" /* the title says the number of requests */
static const enum figure rates[] = {FIGURE_N,       FIGURE_SIZE, FIGURE_TIME, FIGURE_MEAN,
                                    FIGURE_P50,     FIGURE_P90,  FIGURE_P99,  FIGURE_FASTEST,
                                    FIGURE_SLOWEST, N_FIGURES};
#define RATES_ALIGN "lrRrrrrrrr"

static void put_times(struct sheet *s, const struct requests *q)
{
    put_row(s, "Duration", figures_of_times(&q->all.dur), times);
    put_row(s, "TTFB", figures_of_times(&q->all.ttfb), times);
    put_row(s, "Response time", figures_of_times(&q->response_time.dur), times);
    s->when = SHEET_DETAIL;
    put_row(s, "First access", figures_of_times(&q->first_access.dur), times);
    put_row(s, "First access TTFB", figures_of_times(&q->first_access.ttfb), times);
    put_row(s, "Last access", figures_of_times(&q->last_access.dur), times);
    put_row(s, "Last access TTFB", figures_of_times(&q->last_access.ttfb), times);
    s->when = SHEET_ALWAYS;
}

/* A row for each size, and as details those of first accesses. */
static void put_sizes(struct sheet *s, const struct requests *q, bool ttfb)
{
    const enum figure *columns = ttfb ? times : rates;

    for (int first = 0; first < 2; first++) {
        s->when = first ? SHEET_DETAIL : SHEET_ALWAYS;
        for (size_t i = 0; i < q->n_sizes; i++) {
            const struct sized *x = first ? &q->sizes[i].first_access : &q->sizes[i].all;
            char name[80];

            snprintf(name, sizeof name, "%.40s%s", figures_bucket(&q->sizes[i]).s,
                     first ? ", first access" : "");
            put_row(s, name, ttfb ? figures_of_times(&x->ttfb) : figures_of_sized(x), columns);
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
    headings(s, times);
    put_times(s, q);
    if (q->single_size)
        return;
    sheet_table(s, RATES_ALIGN, "Requests by size, throughput of single requests");
    headings(s, rates);
    put_sizes(s, q, false);
    sheet_table(s, TIMES_ALIGN, "TTFB by size");
    headings(s, times);
    put_sizes(s, q, true);
}
