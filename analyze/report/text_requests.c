#include "analyze/report/text_internal.h"

#include <inttypes.h>

/* Without the number of requests, which stands above. */
static const enum figure *const times = figures_times + 1;
#define TIME_COLUMNS "lrrrrrrrrr"

static void times_heading(struct text_table *t)
{
    TEXT_ROW(t, TEXT_FAINT, "");
    for (const enum figure *c = times; *c != N_FIGURES; c++)
        text_table_cell(t, "%s", figures_names[*c]);
}

static void put_row(struct text_table *t, const char *name, struct figures x,
                    const enum figure *columns)
{
    if (!x.present)
        return;
    TEXT_ITEM(t, TEXT_PLAIN, "%s:", name);
    text_cells_figures(t, &x, columns);
}

static void put_single_size(const struct text_view *v, const struct requests *q)
{
    struct text_table t;
    text_table_init(&t, v->out, TIME_COLUMNS);
    times_heading(&t);
    put_row(&t, "Duration", figures_of_times(&q->all.dur), times);
    put_row(&t, "TTFB", figures_of_times(&q->all.ttfb), times);
    put_row(&t, "Response time", figures_of_times(&q->response_time.dur), times);
    if (v->verbose) {
        put_row(&t, "First access", figures_of_times(&q->first_access.dur), times);
        put_row(&t, "First access TTFB", figures_of_times(&q->first_access.ttfb), times);
        put_row(&t, "Last access", figures_of_times(&q->last_access.dur), times);
        put_row(&t, "Last access TTFB", figures_of_times(&q->last_access.ttfb), times);
    }
    text_table_put(&t);
}

static void sized_row(struct text_table *t, const char *name, const struct sized *s)
{
    static const enum figure rates[] = {FIGURE_N,       FIGURE_TIME,    FIGURE_MEAN,
                                        FIGURE_P50,     FIGURE_P90,     FIGURE_P99,
                                        FIGURE_FASTEST, FIGURE_SLOWEST, N_FIGURES};
    put_row(t, name, figures_of_sized(s), rates);
}

static bool has_first_access(const struct requests *q)
{
    for (size_t i = 0; i < q->n_sizes; i++)
        if (q->sizes[i].first_access.present)
            return true;
    return false;
}

static void put_sizes(const struct text_view *v, const struct requests *q)
{
    struct text_table t;
    text_table_init(&t, v->out, "lrrrrrrrr");
    TEXT_ROW(&t, TEXT_FAINT, "Size", "Requests", "Avg time", "Throughput", "50%", "90%", "99%",
             "Fastest", "Slowest");
    for (size_t i = 0; i < q->n_sizes; i++)
        sized_row(&t, figures_bucket(&q->sizes[i]).s, &q->sizes[i].all);
    if (v->verbose && has_first_access(q)) {
        text_table_span(&t, TEXT_FAINT, "First access:");
        for (size_t i = 0; i < q->n_sizes; i++)
            sized_row(&t, figures_bucket(&q->sizes[i]).s, &q->sizes[i].first_access);
    }
    text_table_put(&t);
}

static void put_size_ttfb(const struct text_view *v, const struct requests *q)
{
    struct text_table t;
    bool has_ttfb = false;

    for (size_t i = 0; i < q->n_sizes; i++)
        has_ttfb |= q->sizes[i].all.ttfb.present;
    if (!has_ttfb)
        return;
    text_blank(v->out);
    text_line(v->out, TEXT_HEADING, "TTFB by size:");
    text_table_init(&t, v->out, TIME_COLUMNS);
    times_heading(&t);
    for (size_t i = 0; i < q->n_sizes; i++)
        put_row(&t, figures_bucket(&q->sizes[i]).s, figures_of_times(&q->sizes[i].all.ttfb), times);
    if (v->verbose && has_first_access(q)) {
        text_table_span(&t, TEXT_FAINT, "First access:");
        for (size_t i = 0; i < q->n_sizes; i++)
            put_row(&t, figures_bucket(&q->sizes[i]).s,
                    figures_of_times(&q->sizes[i].first_access.ttfb), times);
    }
    text_table_put(&t);
}

void text_requests_put(const struct text_view *v, const struct requests *q)
{
    text_blank(v->out);
    if (!q->present) {
        text_line(v->out, TEXT_HEADING, "Requests considered: none.");
        return;
    }
    if (q->single_size) {
        text_line(v->out, TEXT_HEADING, "Requests considered: %s", units_count(q->n).s);
        put_single_size(v, q);
        return;
    }
    text_line(v->out, TEXT_HEADING,
              "Requests considered: %s. Multiple sizes, average %s:", units_count(q->n).s,
              units_size(q->mean_bytes).s);
    put_sizes(v, q);
    put_size_ttfb(v, q);
}
